"""Thirty settings once more by PEPit, with every client written out: the number of clients does not matter."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import combinations

import pytest

from cflag_theory.worstcase.worst import worst_case

with warnings.catch_warnings():
    # Some of its docstrings have backslashes that Python warns of when it compiles them, here if pip did not.
    warnings.simplefilter("ignore")
    PEPit = pytest.importorskip("PEPit")
    SmoothConvexFunction = pytest.importorskip("PEPit.functions").SmoothConvexFunction
    proximal_step = pytest.importorskip("PEPit.primitive_steps").proximal_step
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
OTHERS = [
    ("scaffold_1", 2, 2, 2, Fraction(1, 2), "f"),
    ("scaffold_1", 3, 2, 2, Fraction(1, 4), "distance"),
    ("momentum_kept", 2, 2, 2, Fraction(1, 10), "f"),
    ("momentum_dropped", 3, 2, 2, Fraction(1, 10), "grad"),
    ("fedprox_exact", 2, 1, 2, Fraction(1), "f"),
    ("fedprox_exact", 3, 2, 1, Fraction(1, 2), "grad"),
    ("cfl", 2, 1, 2, Fraction(1, 2), "f"),
    ("cfl", 2, 2, 2, Fraction(1, 4), "distance"),
]


def by_pepit(name, N, E, T, eta, measure):
    """The worst case as the papers write the methods, with a function for every client."""
    pep, eta = PEPit.PEP(), float(eta)
    rounds = [
        [pep.declare_function(SmoothConvexFunction, L=1.0) for _ in range(N)] for _ in range(T if name == "cfl" else 1)
    ]
    clients = rounds[0]
    everyone = [one for some in rounds for one in some]
    F = sum((one / len(everyone) for one in everyone[1:]), everyone[0] / len(everyone))
    best = F.stationary_point()
    x = pep.set_initial_point()
    pep.set_initial_condition((x - best) ** 2 <= 1)
    if N > 1:
        pep.add_constraint(
            sum((one.gradient(best) ** 2 for one in everyone[1:]), everyone[0].gradient(best) ** 2) / len(everyone) <= 1
        )
    control = [x * 0 for _ in clients]
    buffer = list(control)
    for t in range(T):
        if name == "cfl":
            # Uniform weights of the rounds until now.
            mixed = [sum(some[1 : t + 1], some[0]) / (t + 1) for some in zip(*rounds, strict=True)]
        else:
            mixed = clients
        at_start = [] if name == "fedprox_exact" else [one.gradient(x) for one in mixed]
        ends = []
        for i, one in enumerate(mixed):
            u = x * 0
            if name == "fedtrack":
                u = sum(at_start[1:], at_start[0]) / N - at_start[i]
            if name.startswith("scaffold"):
                u = sum(control[1:], control[0]) / N - control[i]
            y = x
            v = buffer[i] if name == "momentum_kept" else x * 0
            for _ in range(E):
                if name == "fedprox_exact":
                    y, _, _ = proximal_step(y, one, eta)
                    continue
                v = one.gradient(y) + u + (v / 2 if name.startswith("momentum") else x * 0)
                y = y - eta * v
            buffer[i] = v
            ends.append(y)
        c = sum(control[1:], control[0]) / N
        moved = [own - c + (x - y) / (eta * E) for own, y in zip(control, ends, strict=True)]
        control = at_start if name == "scaffold_1" else moved
        x = sum(ends[1:], ends[0]) / N
    pep.set_performance_metric(
        {"f": lambda: F(x) - F(best), "grad": lambda: F.gradient(x) ** 2, "distance": lambda: (x - best) ** 2}[
            measure
        ]()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pep.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")


@pytest.mark.parametrize(("name", "N", "E", "T", "eta", "measure"), [*SETTINGS, *OTHERS])
def test_pepit_finds_the_same(name, N, E, T, eta, measure):
    found = worst_case(name, E=E, T=T, eta=eta, measure=measure, N=N)
    value = by_pepit(name, N, E, T, eta, measure)
    assert found.lower - 1e-6 <= value <= float(found.upper) + 1e-6


@pytest.mark.parametrize(("N", "S", "E", "eta"), [(4, 2, 2, 0.25), (3, 1, 2, 0.25), (5, 2, 1, 0.5)])
def test_one_round_of_a_draw_is_the_mean_over_all_draws(N, S, E, eta):
    pep = PEPit.PEP()
    clients = [pep.declare_function(SmoothConvexFunction, L=1.0) for _ in range(N)]
    best = (sum(clients[1:], clients[0]) / N).stationary_point()
    x = pep.set_initial_point()
    pep.set_initial_condition((x - best) ** 2 <= 1)
    pep.add_constraint(sum((one.gradient(best) ** 2 for one in clients[1:]), clients[0].gradient(best) ** 2) / N <= 1)
    ends = []
    for one in clients:
        y = x
        for _ in range(E):
            y = y - eta * one.gradient(y)
        ends.append(y)
    draws = list(combinations(ends, S))
    means = [sum(some[1:], some[0]) / S for some in draws]
    pep.set_performance_metric(sum(((y - best) ** 2 for y in means[1:]), (means[0] - best) ** 2) / len(draws))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = pep.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")
    found = worst_case("fedavg", E=E, T=1, eta=Fraction(eta), measure="distance", N=N, S=S)
    assert found.lower - 1e-6 <= value <= float(found.upper) + 1e-6


def test_there_are_thirty():
    assert len(SETTINGS) == 30
