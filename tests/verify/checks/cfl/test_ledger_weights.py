"""Round weights of the CFL paper: solved without the closed forms, and as the simulator uses them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from cflag_theory.claims.cfl.symbols import p_t
from rows import parts_of, points_of

from cflag_theory.claims.cfl import published
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.verify.checks.cfl import weights as correlated

TINY = sp.Rational(1, 10**6)


def test_independent_drifts_exceed_the_bound_of_theorem_4_9():
    first, second = (
        correlated.bounded(Fraction(4, 5), Fraction(1), Fraction(1), correlated.independent(t), "") for t in (3, 4)
    )
    found = [(point.values[correlated.page.drift2], point.values[correlated.page.kms]) for point in (first, second)]
    assert found[0] == (Fraction(116331, 121801), Fraction(107019, 121801))
    assert found[1] == (Fraction(136587, 146689), Fraction(120123, 146689))
    # Signs that do not change are not what Assumption 7 allows, nor are signs with a mean.
    for draws in ([(Fraction(1, 2), (1,) * 3), (Fraction(1, 2), (-1,) * 3)], [(Fraction(1), (1, -1, 1))]):
        with pytest.raises(ArithmeticError):
            correlated.bounded(Fraction(4, 5), Fraction(1), Fraction(1), draws, "")


def test_the_last_past_weight_need_not_fall_further_with_alpha():
    p, q = (correlated.weights(Fraction(a), Fraction(1, 10), Fraction(1), 6)[0] for a in ("24/25", "99/100"))
    assert p[4] < q[4] < 0
    assert p[0] < q[0]


def test_table_2_readings_by_row():
    found = {
        (d, r): [correlated.reproduced(row, squared_D=d, squared_R=r) for row in published.TABLE_2]
        for d, r in product((False, True), repeat=2)
    }
    assert found[False, False] == [False, False, True, False, False]
    assert found[False, True] == [False, True, True, True, False]
    assert found[True, False] == [True, False, True, False, False]
    assert found[True, True] == [True] * 5


def test_table_2_with_one_digit_changed(monkeypatch):
    rows = list(published.TABLE_2)
    rows[3] = replace(rows[3], p=("0.3870", "0.0774", "-0.2077", "0.7435"))
    monkeypatch.setattr(correlated, "TABLE_2", tuple(rows))
    assert parts_of("cfl.table2") == {"1": "false"}
    monkeypatch.setattr(correlated, "TABLE_2", (published.TABLE_2[2],))
    assert parts_of("cfl.table2") == {"1": "holds"}


@pytest.mark.parametrize(("number", "text"), [("1/3", "0.3333"), ("-1/16", "-0.0625"), ("-1/99999", "0.0000")])
def test_four_digits(number, text):
    assert correlated.rounded(Fraction(number)) == text


def test_only_the_last_past_weight_can_be_negative_and_exactly_when():
    for a, d2, r2, t in product(map(Fraction, ("0", "1/5", "1/2", "4/5")), (1, 3), (0, Fraction(1, 2), 2), (3, 4, 7)):
        p, _ = correlated.weights(a, Fraction(d2), Fraction(r2), t)
        assert all(weight > 0 for place, weight in enumerate(p) if place != t - 2)
        left, right = a * r2 * (a + (t - 2) * (1 - a)), (1 - a) ** 2 * (1 + a) * d2
        assert (p[-2] < 0, p[-2] == 0) == (left > right, left == right)
    half = Fraction(1, 2)
    assert correlated.weights(half, Fraction(1), half, 4)[0][2] == 0


def test_lemma_B9_constant_has_no_room_as_t_grows():
    a = Fraction(1, 2)
    vector = [Fraction((-1) ** i) for i in range(60)]
    form = correlated.quadratic(correlated.matrix_Q(a, Fraction(1), Fraction(0), 60), vector)
    quotient = form / 60 * (1 + a) / (1 - a)
    assert 1 < quotient < 1 + Fraction(3, 60)


@pytest.mark.parametrize("t", [2, 3, 6])
def test_the_simulator_uses_the_same_weights(t):
    for a, d2, r2 in product(correlated.ALPHAS, (Fraction(1), Fraction(2)), (Fraction(0), Fraction(1, 2), Fraction(3))):
        signed = RoundWeights("correlated", D2=d2, R2=r2, alpha=a).at(t)
        assert list(signed) == correlated.closed(a, d2, r2, t)
        kept = RoundWeights("nonnegative", D2=d2, R2=r2, alpha=a).at(t)
        assert list(kept) == correlated.closed_nonnegative(a, d2, r2, t)
        shared = RoundWeights("lemma B.4", D2=d2, R2=r2, F2=d2 / 2).at(t)
        past = d2 / 2 / (t * d2 / 2 + (t - 1) * r2)
        assert list(shared) == [past] * (t - 1) + [1 - (t - 1) * past]


def test_a_singular_system_is_refused_by_the_solver():
    with pytest.raises(StopIteration):
        correlated.weights(Fraction(1, 2), Fraction(0), Fraction(1), 3)


def test_the_first_answer_on_best_convergence_is_legal_and_prefers_fedavg():
    """t = 2, D = R = 1, eta = 1/100, distance 1: without c_2 17/25 for Lemma B.4, 1/50 for FedAvg."""
    step = Fraction(1, 100)

    def whole(*p):
        noise = sum(one**2 for one in p) + (1 - p[-1]) ** 2
        return 2 * step * noise + 2 * (1 - p[-1]), step**2 * noise

    (lemma, second), (fedavg, other) = whole(Fraction(1, 3), Fraction(2, 3)), whole(Fraction(0), Fraction(1))
    assert (lemma, fedavg) == (Fraction(17, 25), Fraction(1, 50))
    point = next(one for one in points_of("cfl.lemB4") if one.part == "4")
    relation = LEDGER["cfl.lemB4"]().parts[3].printed.relation
    assert relation.left.subs(point.values) == lemma + second
    assert relation.right.subs(point.values) == fedavg + other
    assert all(0 <= one.values[p_t] <= 1 for one in points_of("cfl.lemB4") if one.part == "4")
