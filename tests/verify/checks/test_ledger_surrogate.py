"""(69)-(74) and (66) along (67)-(68): verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import rows
import sympy as sp
from rows import in_order, points_of

from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Part
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.kernels import simulate
from cflag_theory.verify.checks.c_flag.union.data import random_unions, run_union
from cflag_theory.verify.evidence import replay

decide = partial(rows.decide, samples=12)


def refuted(verdict, on="printed", key="1"):
    return any((e.kind, e.on, e.part, e.finding) == ("counterexample", on, key, "refutes") for e in verdict.evidence)


@pytest.mark.parametrize(
    ("id", "row", "parts"),
    [
        ("cflag.eq69", "typo", ["typo"]),
        ("cflag.eq71", "holds", ["holds"]),
        ("cflag.eq73", "holds", ["holds"]),
        ("cflag.eq74", "typo", ["holds", "typo"]),
        ("cflag.lemma3_surrogate", "needs-hypothesis", ["needs-hypothesis", "needs-hypothesis"]),
    ],
)
def test_verdicts(id, row, parts):
    verdict = decide(surrogate.CLAIMS[id]())
    assert verdict.verdict == row
    assert in_order(verdict) == parts
    for evidence in verdict.evidence:
        assert not (evidence.kind == "property" and evidence.finding == "refutes")
        if evidence.kind == "proof":
            assert evidence.data["engines"] == ["sympy", "z3"]
            assert evidence.data["undecided"] == []


def test_sharp_constants():
    (descent,) = decide(surrogate.eq69()).sharp
    assert (descent["printed"], descent["value"]) == ("10", "2")
    (rate,) = decide(surrogate.lemma3_surrogate()).sharp
    assert (rate["printed"], rate["value"]) == ("60", "3103/100")
    assert rate["reached"] > 0.99


def test_the_descent_needs_the_constant_two():
    """At E = 1 the quadratic decreases by exactly 2 beta - 2 beta^2 L, in units of ||grad||^2."""
    verdict = decide(surrogate.eq69(square=sp.Rational(199, 100), fourth=0))
    assert verdict.verdict == "false"
    assert refuted(verdict, "repair")


def test_the_number_fifteen_and_its_range_cannot_be_moved():
    assert decide(surrogate.eq71(lead=sp.Rational(1499, 100))).verdict == "false"
    assert decide(surrogate.eq71(inverse_limit=3)).verdict == "false"


def test_the_factor_is_sixty():
    assert decide(surrogate.eq73(constant=59)).verdict == "false"
    assert decide(surrogate.eq73(constant=61)).verdict == "false"


def test_the_telescoped_sum():
    subject = surrogate.eq74()
    smaller = at_most(surrogate.least, 15 * L / surrogate.T * surrogate.printed_sum)
    assert decide(subject.with_printed(smaller, "1")).parts[0].verdict == "false"
    repaired = subject.parts[1].repair.statement.relation
    assert decide(subject.with_printed(repaired, "2")).parts[1].verdict == "open"
    # Without the terms of one round the repaired sum is not proved.
    short = replace(subject.parts[1].repair.statement, definitions=subject.parts[1].repair.statement.definitions[:1])
    assert not examine(short).accepted


def test_the_rate_needs_nearly_its_constant():
    """31.0256 is where the certificate ends; E = 150 alone needs more than 30.79."""
    assert decide(surrogate.lemma3_surrogate(constant=sp.Rational(3079, 100))).verdict == "false"
    beyond = surrogate.lemma3_surrogate(constant=sp.Rational(3102, 100)).parts[0].repair.statement
    assert not examine(beyond).accepted
    assert examine(surrogate.lemma3_surrogate(constant=sp.Rational(31026, 1000)).parts[0].repair.statement).accepted


def test_the_replay_of_67_and_68_is_the_delayed_method_and_one_full_step():
    """A second witness of how (67)-(68) are run: FedTrack on the union, less beta grad h~."""
    step, steps = Fraction(1, 90), 3
    (union, _) = next(random_unions(1))
    x = run_union(union, step, steps, 1).trace.iterates[0, :, 0]
    alone = simulate(
        union.problem(),
        "fedtrack",
        beta=step,
        local_steps=steps,
        rounds=1,
        seed=68,
        engine="reference",
        iterates=True,
    )
    both = [[*kept, *new] for kept, new in zip(union.memory, union.current, strict=True)]
    at = [sum(a * union.start - b for a, b in client) / Fraction(len(client)) for client in both]
    assert x[1] == alone.iterates[0, 1, 0] - step * sum(p * g for p, g in zip(union.p, at, strict=True))


def without(statement, name):
    """The statement with one hypothesis fewer; its name must exist."""
    kept = tuple(fact for fact in statement.hypotheses if fact.name != name)
    assert len(kept) == len(statement.hypotheses) - 1
    return replace(statement, hypotheses=kept)


@pytest.mark.parametrize(
    ("id", "key", "name"),
    [
        ("cflag.eq69", "1", "kept"),
        ("cflag.lemma3_surrogate", "1", "kept"),
        ("cflag.lemma3_surrogate", "2", "kept"),
        ("cflag.lemma3_surrogate", "2", "equal shares"),
    ],
)
def test_repairs_need_their_hypotheses(id, key, name):
    """Without smooth components in memory, or equal shares, an instance breaks the repair and its proof ends."""
    (part,) = [part for part in surrogate.CLAIMS[id]().parts if part.key == key]
    weaker = without(part.repair.statement, name)
    assert not examine(weaker).accepted
    (evidence,) = replay(Part(key, weaker), points_of(id))
    assert (evidence.kind, evidence.finding) == ("counterexample", "refutes")


def test_the_two_unions_are_one_function_for_equal_shares():
    """h~ by total sizes is that of the replayed runs exactly where the shares are equal."""
    runs = [point for point in points_of("cflag.lemma3_surrogate") if point.part == "2"]
    even = [point.values for point in runs if point.values[surrogate.share_spread] == 0]
    assert len(even) == len(runs) - 1
    for values in even:
        assert values[surrogate.h_sizes(0)] == values[surrogate.h(0)]
        assert values[surrogate.h_sizes(surrogate.T)] == values[surrogate.h(surrogate.T)]
        assert values[surrogate.least_sizes] == values[surrogate.least]


def test_instances_against_the_hypotheses():
    """By hand: x goes from 1 to -2 on 45 x^2/2, and from 0 to -1/50 on x^2/2."""
    first, second = (next(p for p in points_of("cflag.lemma3_surrogate") if p.part == part).values for part in "12")
    assert (first[surrogate.h(0)], first[surrogate.h(surrogate.T)], first[surrogate.least]) == (
        Fraction(45, 2),
        90,
        2025,
    )
    assert (second[surrogate.h_sizes(0)], second[surrogate.h_sizes(surrogate.T)]) == (0, Fraction(1, 5000))


def test_the_best_constant_is_within_a_thousandth():
    lower = 2 / (1 - sp.exp(-sp.Rational(1, 15)))
    assert sp.Rational(31011, 1000) < lower < sp.Rational(31012, 1000)
    assert surrogate.lemma3_surrogate().parts[0].sharp.value / lower < sp.Rational(1001, 1000)


v = surrogate.h
T, t = surrogate.T, surrogate.t
G2 = surrogate.grad_h(t) ** 2


@pytest.mark.parametrize(
    ("premise", "drop", "rest", "sound"),
    [
        (at_most(G2, 3 * v(t) - 3 * v(t + 1)), 3 * (v(0) - v(T)), 0, True),
        (at_most(G2, L * (v(t) - v(t + 1)) + surrogate.step2), L * (v(0) - v(T)), T, True),
        (at_most(G2, 3 * v(t) - 3 * v(t + 1)), 2 * (v(0) - v(T)), 0, False),
        (at_most(G2, 3 * v(t) - 3 * v(t + 1)), 3 * (v(T) - v(0)), 0, False),
        (at_most(G2, 3 * v(t) - 2 * v(t + 1)), 3 * (v(0) - v(T)), 0, False),
        (at_most(G2, t * (v(t) - v(t + 1))), t * (v(0) - v(T)), 0, False),
        (at_most(G2, 3 * v(t) - 3 * v(t + 1) + 1), 3 * (v(0) - v(T)), 0, False),
        (at_most(G2, 3 * v(t) - 3 * v(t + 1)), 3 * (v(0) - v(T)), -T, False),
        (at_most(G2, surrogate.step2), v(0) - v(T), 0, False),
        (equal(G2, v(t) - v(t + 1)), v(0) - v(T), 0, False),
    ],
)
def test_telescoping_is_checked_against_its_premise(premise, drop, rest, sound):
    use = rules.telescoping("sum", T, surrogate.least, drop, sp.sympify(rest), "here.", "round")
    assert (rules.fault(use, [premise]) is None) == sound
