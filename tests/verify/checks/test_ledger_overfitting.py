"""E[B(t)]: the verdict, the enumeration against a recursion written out, and planted errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from rows import decided

from cflag_theory.claims.c_flag.problem import overfitting
from cflag_theory.claims.engine.relation import equal
from cflag_theory.verify.checks.c_flag.problem import overfitting as checks

HALF = Fraction(1, 2)


def test_verdict():
    expected = ("needs-hypothesis", {"1": "needs-hypothesis", "2": "needs-hypothesis"})
    assert decided(overfitting.overfitting_mean()) == expected


def test_another_closed_form_is_not_accepted():
    _, parts = decided(overfitting.overfitting_mean(overfitting.FAMILY_VALUE + sp.Rational(1, 10**6)))
    assert parts == {"1": "needs-hypothesis", "2": "open"}


def test_the_repair_needs_the_new_draw():
    subject = overfitting.overfitting_mean()
    part = subject.parts[0]
    repair = replace(part.repair, statement=replace(part.repair.statement, hypotheses=()))
    verdict, parts = decided(replace(subject, parts=(replace(part, repair=repair), subject.parts[1])))
    assert verdict == "false"
    assert parts["1"] == "false"


def test_the_repair_with_another_value():
    subject = overfitting.overfitting_mean()
    part = subject.parts[0]
    wrong = replace(part.repair.statement, relation=equal(overfitting.mean_B, sp.Rational(1, 10**6)))
    repair = replace(part.repair, statement=wrong)
    assert decided(replace(subject, parts=(replace(part, repair=repair), subject.parts[1])))[0] == "false"


def recursion(start, L, alpha, rounds, *, redraw, beta=Fraction(1, 4)):
    """E[B(t)] of the one-client family in plain fractions: no simulator."""
    states = [(HALF, start, kept) for kept in (HALF, 3 * HALF)] if not redraw else [(Fraction(1), start, None)]
    found = []
    for _ in range(rounds):
        mean, after = Fraction(0), []
        for weight, x, fixed in states:
            for kept in [fixed] if fixed is not None else [HALF, 3 * HALF]:
                part = weight if fixed is not None else weight / 2
                b, S = (kept - 1) * x, x - 2
                mean += part * ((L * alpha**2 - alpha) * x * b + beta * b * S)
                after.append((part, x - alpha * kept * x - beta * S, fixed))
        states = after
        found.append(mean)
    return found


@pytest.mark.parametrize("redraw", [False, True])
@pytest.mark.parametrize(
    ("start", "L", "alpha"), [(1, Fraction(8, 5), HALF), (1, Fraction(1), Fraction(4, 5)), (3, Fraction(8, 5), HALF)]
)
def test_enumeration_agrees_with_the_recursion(start, L, alpha, redraw):
    found = checks.expected(checks.family(start, L, alpha), 5, redraw=redraw)
    assert [round_.mean_B for round_ in found] == recursion(Fraction(start), L, alpha, 5, redraw=redraw)
    assert any(round_.mean_B for round_ in found) is not redraw


def test_the_numbers_in_the_notes():
    value = Fraction(str(overfitting.FAMILY_VALUE))
    assert recursion(Fraction(1), Fraction(8, 5), HALF, 40, redraw=False)[1:] == [value] * 39
    assert recursion(Fraction(1), Fraction(1), Fraction(4, 5), 2, redraw=False)[1] == Fraction(419, 5000)
    # At E = 1 the sum that (34) starts at k = 1 is empty: the first term alone.
    for world in (checks.family(), checks.family(L=Fraction(1), alpha=Fraction(4, 5))):
        assert checks.expected(world, 2, redraw=False)[1].first_term != 0


def test_two_clients_agree_with_rounds_written_out():
    """E[B(1)] with N = 2, E = 2: 4 memories, 4 component orders in each of two rounds."""
    alpha, beta, L = Fraction(1, 4), Fraction(1, 8), 2
    past = ((HALF, 3 * HALF), (Fraction(1), Fraction(2)))
    current = (((1, 1), (0, 1)), ((1, 3), (1, 1)))

    def gradient(i, j, x):
        a, b = current[i][j]
        return a * x - b

    def round_(x, kept, order):
        full = [sum(gradient(i, j, x) for j in (0, 1)) / Fraction(2) for i in (0, 1)]
        grad_g = sum(full) / 2
        S = Fraction(0)
        for i in (0, 1):
            at = x - beta * grad_g
            refreshed = full[i] + (gradient(i, order[i], at) - gradient(i, order[i], x)) / Fraction(2)
            S += (full[i] + refreshed) / 2
        grad_f = sum(sum(a) / 2 for a in past) / 2 * x
        memory = sum(past[i][kept[i]] for i in (0, 1)) / 2 * x
        b = memory - grad_f
        return (L * alpha**2 - alpha) * grad_f * b + beta * b * S, x - alpha * memory - beta * S

    pairs = list(product((0, 1), repeat=2))
    means = [Fraction(0), Fraction(0)]
    for kept, first in product(pairs, pairs):
        B, x = round_(Fraction(1), kept, first)
        means[0] += B / 16
        means[1] += sum(round_(x, kept, second)[0] for second in pairs) / 64
    found = checks.expected(checks.two_clients(), 2, redraw=False)
    assert [entry.mean_B for entry in found] == means
    assert means[0] == 0
    assert means[1] != 0


def test_the_data_of_the_figure():
    data = checks.expected_overfitting(6)
    assert data["t"] == list(range(6))
    assert data["drawn_once"] == recursion(Fraction(3), Fraction(8, 5), HALF, 6, redraw=False)
    assert data["drawn_every_round"] == [0] * 6
    assert abs(data["drawn_once"][-1] - data["limit"]) < abs(data["drawn_once"][2] - data["limit"])
