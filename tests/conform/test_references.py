"""The references of `conform` against the simulation's reference loop, and against each other's slips."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.conform.case import draw
from cflag_theory.conform.conforming import ALGORITHMS
from cflag_theory.conform.numbers import EXACT
from cflag_theory.conform.report import first_difference, reproduces
from cflag_theory.conform.running import run
from cflag_theory.conform.views import ROUNDED, World
from cflag_theory.kernels import algorithm, everything, simulate
from cflag_theory.kernels.problems.quadratic import quadratic

pytestmark = pytest.mark.full

# The row of the loop that a reference must follow, and whether every client has one sample, so that no draw matters.
ROWS = {
    "fedavg": ("fedavg", {}, False),
    "fedprox": ("fedprox", {"proximal": Fraction(3, 8)}, False),
    "scaffold": ("scaffold", {}, False),
    "mimelite": ("mimelite", {"momentum": Fraction(3, 4)}, True),
    "fedtrack": ("fedtrack", {}, False),
    "c_flag": ("c_flag", {}, False),
    "c_flag_adaptive": ("c_flag", {"adaptive": "worst"}, False),
    "cfl": ("cfl_taylor", {}, True),
}

#: What the source of an algorithm may assume and its code cannot ask for.
FIXED = {"equal-steps", "all-clients"}


def case_of(name, seed, *, single=False, **more):
    kind = ALGORITHMS[name]
    options = {"parameters": kind.parameters, "assume": kind.assumes & FIXED, "evolving": kind.evolving} | more
    case = draw(seed, **options)
    if single:
        first = tuple(replace(one, rows=one.rows[:1], targets=one.targets[:1]) for one in case.current[0])
        case = replace(case, current=(first,), orders=tuple(tuple((0,) * 4 for _ in first) for _ in case.orders))
    return case


def problem_of(case, L=None):
    parts = []
    for data in (case.past, case.current[0]):
        rows = [np.array(row, dtype=object) for one in data for row in one.rows]
        targets = [target for one in data for target in one.targets]
        clients = [i for i, one in enumerate(data) for _ in one.targets]
        matrices = [2 * np.outer(row, row) for row in rows]
        parts += [matrices, [2 * target * row for row, target in zip(rows, targets, strict=True)], clients]
    return quadratic(*parts, p=case.weights, start=case.start, L=L)


@pytest.mark.parametrize("name", ROWS)
def test_a_reference_is_the_row_of_the_loop(name):
    row, fields, single = ROWS[name]
    for seed in range(4):
        # The loop has one E, everybody, and no step size of the server.
        case = case_of(name, seed, single=single, assume={"server-lr-1", "equal-steps", "all-clients"})
        if name == "scaffold":
            case = replace(case, weights=(Fraction(1, 3),) * 3)
        # Algorithm 3 divides by L: the bound that the loop certifies for this problem.
        problem = problem_of(case, L=40 if name == "c_flag_adaptive" else None)
        parameters = dict(case.parameters) | (
            {"L": Fraction(40), "alpha": Fraction(1, 80)} if "L" in case.parameters else {}
        )
        case = replace(case, parameters=parameters)
        memory = {"memory": everything(), "alpha": parameters["alpha"]} if name.startswith("c_flag") else {}
        trace = simulate(
            problem,
            algorithm(row, **fields),
            beta=case.lr,
            local_steps=case.steps[0],
            rounds=case.rounds,
            engine="reference",
            iterates=True,
            orders=None if single else np.array(case.orders),
            **memory,
        )
        met = run(ALGORITHMS[name](), World(case, EXACT))
        for t in range(case.rounds):
            assert list(met.values["x", t, None]) == list(trace.iterates[0][t + 1])


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_slip_shows_and_no_two_are_the_same(name, partial):
    kind, everybody = ALGORITHMS[name], set() if partial else {"all-clients"}
    if partial and "all-clients" in kind.assumes:
        pytest.skip("all clients take part")
    cases = [case_of(name, seed, assume=kind.assumes & FIXED | everybody) for seed in range(5)]
    numbers = EXACT if kind.exact else ROUNDED
    right = [run(kind(), World(case, numbers)) for case in cases]
    seen = {}
    for slip in kind.slips():
        mutant = [run(kind(slip), World(case, numbers)) for case in cases]
        shows = any(first_difference(a, b, "float64") for a, b in zip(right, mutant, strict=True))
        assert shows or (slip in NEEDS_ABSENCE and not partial), slip
        if shows:
            for other, found in seen.items():
                same = all(reproduces(a, b, "float64") for a, b in zip(mutant, found, strict=True))
                assert not same, (slip, other)
            seen[slip] = mutant


#: With all clients in every round these change nothing. Control variates that all start at the model cancel.
NEEDS_ABSENCE = {"not renormalised", "absent models", "c participants", "h participants", "model"}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_slips_show_in_single_precision_too(name):
    """The bound of the rounding errors leaves room between the reference and its mutants."""
    kind = ALGORITHMS[name]
    cases = [case_of(name, seed) for seed in range(5)]
    right = [run(kind(), World(case, ROUNDED)) for case in cases]
    for slip in kind.slips():
        mutant = [run(kind(slip), World(case, ROUNDED)) for case in cases]
        assert any(first_difference(a, b, "float32") for a, b in zip(right, mutant, strict=True)), slip
