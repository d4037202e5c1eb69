"""Thirty settings once more by PEPit, with every client written out: the number of clients does not matter."""

from __future__ import annotations

import warnings
from fractions import Fraction

import pytest

from cflag_theory.worstcase.worst import worst_case

PEPit = pytest.importorskip("PEPit")
pytest.importorskip("clarabel")

pytestmark = pytest.mark.full

SETTINGS = [
    (name, N, E, T, eta, measure)
    for name in ("fedavg", "scaffold", "fedtrack")
    for N in (1, 2, 3)
    for E, T, eta, measure in (
        (2, 1, Fraction(1, 2), "f"),
        (2, 2, Fraction(1, 10), "grad"),
        (3, 1, Fraction(1, 4), "distance"),
    )
] + [
    ("fedavg", 2, 3, 2, Fraction(1, 3), "f"),
    ("fedavg", 3, 1, 2, Fraction(1), "f"),
    ("scaffold", 3, 2, 2, Fraction(1, 2), "f"),
]


def by_pepit(name, N, E, T, eta, measure):
    """The worst case as the papers write the methods, with a function for every client."""
    from PEPit.functions import SmoothConvexFunction

    pep, eta = PEPit.PEP(), float(eta)
    clients = [pep.declare_function(SmoothConvexFunction, L=1.0) for _ in range(N)]
    F = sum((one / N for one in clients[1:]), clients[0] / N)
    best = F.stationary_point()
    x = pep.set_initial_point()
    pep.set_initial_condition((x - best) ** 2 <= 1)
    if N > 1:
        pep.add_constraint(
            sum((one.gradient(best) ** 2 / N for one in clients[1:]), clients[0].gradient(best) ** 2 / N) <= 1
        )
    control = [x * 0 for _ in clients]
    for _ in range(T):
        at_start = [one.gradient(x) for one in clients]
        mean, c = (sum(some[1:], some[0]) / N for some in (at_start, control))
        ends = []
        for i, one in enumerate(clients):
            u = {"fedavg": x * 0, "fedtrack": mean - at_start[i], "scaffold": c - control[i]}[name]
            y = x
            for _ in range(E):
                y = y - eta * (one.gradient(y) + u)
            ends.append(y)
        control = [own - c + (x - y) / (eta * E) for own, y in zip(control, ends, strict=True)]
        x = sum(ends[1:], ends[0]) / N
    pep.set_performance_metric(
        {"f": lambda: F(x) - F(best), "grad": lambda: F.gradient(x) ** 2, "distance": lambda: (x - best) ** 2}[
            measure
        ]()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pep.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")


@pytest.mark.parametrize(("name", "N", "E", "T", "eta", "measure"), SETTINGS)
def test_pepit_finds_the_same(name, N, E, T, eta, measure):
    found = worst_case(name, E=E, T=T, eta=eta, measure=measure, N=N)
    value = by_pepit(name, N, E, T, eta, measure)
    assert found.lower - 1e-6 <= value <= float(found.upper) + 1e-6


def test_there_are_thirty():
    assert len(SETTINGS) == 30
