"""One client of N in every round: values by all draws, limits, runs, and planted errors in the proof."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import algorithm
from cflag_theory.worstcase import worst_case
from cflag_theory.worstcase.certificate import faults
from cflag_theory.worstcase.drawing import pose_drawn
from cflag_theory.worstcase.methods import Setting
from cflag_theory.worstcase.saving import recheck, record
from cflag_theory.worstcase.vectors import NotLinear

QUARTER = Fraction(1, 4)

# By another solver; those of N <= 5 with one local step also by PEPit over all draws.
VALUES = [
    (2, 1, 2, "distance", 1.13299180),
    (3, 1, 2, "distance", 1.13686377),
    (4, 1, 2, "distance", 1.13891545),
    (4, 2, 2, "distance", 1.55946531),
    (5, 2, 2, "distance", 1.56284553),
    (1000, 2, 2, "distance", 1.57171248),
    (2, 2, 1, "f", 0.36760366),
    (4, 1, 1, "f", 0.36674759),
    (5, 2, 1, "f", 0.39287276),
    (1000, 2, 1, "f", 0.42143051),
]


@pytest.mark.parametrize(("N", "E", "T", "measure", "value"), VALUES)
def test_reference_values_and_runs_of_all_draws(N, E, T, measure, value):
    found = worst_case("fedavg", E=E, T=T, eta=QUARTER, N=N, S=1, measure=measure)
    assert value - 1e-8 <= float(found.upper) <= value + 1e-6
    assert f"1 of N = {N} clients" in found.exact_for
    if N <= 5:
        assert 0 <= float(found.upper) - found.lower < 1e-6
    else:
        assert found.attained is None
        assert found.to_json()["lower"] is None
        assert any("solver's value" in note for note in found.sheet().notes)
    with pytest.raises(InvalidInput, match="are not kept"):
        recheck(record(found))


def test_server_rates_and_proximal_terms_count():
    plain = worst_case("fedavg", E=2, T=2, eta=QUARTER, N=3, S=1, measure="distance")
    for row in (algorithm("fedavg", server_rate=Fraction(1, 2)), algorithm("fedprox", proximal=1)):
        found = worst_case(row, E=2, T=2, eta=QUARTER, N=3, S=1, measure="distance")
        assert 1 < found.lower <= float(found.upper) < found.lower + 1e-6
        assert found.upper < plain.upper


def test_a_proof_for_other_numbers_of_clients_is_rejected():
    setting = Setting(algorithm("fedavg"), 1, 2, QUARTER, measure="distance", clients=4, participants=1)
    certificate = worst_case("fedavg", E=1, T=2, eta=QUARTER, N=4, S=1, measure="distance").certificate
    assert faults(pose_drawn(setting).families.problem, certificate) == []
    for change in ({"clients": 5}, {"eta": Fraction(251, 1000)}, {"radius": Fraction(11, 10)}):
        assert faults(pose_drawn(replace(setting, **change)).families.problem, certificate)
    rows = list(certificate.rows)
    rows[rows.index(max(rows))] += Fraction(1, 10**15)
    assert faults(pose_drawn(setting).families.problem, replace(certificate, rows=rows))


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("fedavg", {"S": 2}),
        ("fedavg", {"S": 1, "T": 3}),
        ("fedavg", {"S": 1, "measure": "f"}),
        ("scaffold", {"S": 1}),
        ("fedavg", {"S": 1, "heterogeneity": 0}),
    ],
)
def test_other_draws_are_refused_in_a_sentence(name, more):
    with pytest.raises(NotLinear, match="where only some clients take part, covered are"):
        worst_case(name, **({"E": 1, "T": 2, "eta": QUARTER, "N": 4, "measure": "distance"} | more))
