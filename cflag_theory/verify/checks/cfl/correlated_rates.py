"""Theorem 4.7: the variance term and c_O on exact instances, and the drifts of one by all their draws."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from cflag_theory.claims.cfl.correlated_rates import M2_R2, larger_AC, larger_BC, products, squares
from cflag_theory.claims.cfl.symbols import A2, B2, C2, D2, F2, G2
from cflag_theory.claims.cfl.weights import M2, shared
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.weights import described, optimal
from cflag_theory.verify.search import Point

_SQUARES = (Fraction(0), Fraction(1, 4), Fraction(4))


def variance_points() -> Iterator[Point]:
    """The least value of (33), F = 0 and F > D included."""
    for t, d2, f2, r2 in product((1, 2, 40), _SQUARES[1:], _SQUARES, _SQUARES):
        common = min(f2, d2)
        left_over = d2 - common
        if t * left_over + (t - 1) * r2 and left_over + r2:
            fixed = {D2: d2, F2: f2, shared: common, M2: left_over, M2_R2: left_over + r2, G2: Fraction(1, 2)}
            story = (f"t = {t}, D^2 = {d2}, F^2 = {f2}, R^2 = {r2}, G^2 = 1/2; the weights of the theorem.",)
            yield Point(described(optimal(t, left_over, r2), left_over, r2) | fixed, story)


def second_moment() -> Fraction:
    """E (grad f + delta + (xi_1 + xi_2)/2)^2 for grad f = 1 and the signs of `constant_points`."""
    draws = [(1 + delta + xi) ** 2 for delta, xi in product((1, -1), repeat=2)]
    return Fraction(sum(draws), len(draws))


def constant_points() -> Iterator[Point]:
    """c_{p_B,i} for the weights 1/t and for p_t = 1."""
    for a2, b2, c2, t in product((0, 1, 4), (0, 1, 4), (0, 1, 4), (1, 2, 50)):
        values = {
            A2: a2,
            B2: b2,
            C2: c2,
            squares: Fraction(1, t),
            products: 1 - Fraction(1, t),
            larger_BC: max(b2, c2),
            larger_AC: max(a2, c2),
        }
        story = [f"A^2 = {a2}, B^2 = {b2}, C^2 = {c2}; t = {t}, p_tau = 1/t, the weights of the theorem for R = 0 < M."]
        if (a2, b2, c2, t) == (0, 1, 1, 2):
            moment = second_moment()
            # c_O ||grad f||^2 + G^2 + D^2 sum p^2 + F^2 sum p p with the printed c_O = 2.
            bound = 2 + Fraction(1, 2)
            if moment <= bound:
                raise ArithmeticError(f"the second moment {moment} is within the bound {bound}")
            story.append(
                "On the line with grad f = 1, delta = 1 or -1 and xi_1 = xi_2 = 1 or -1, independent and fair: B = C = "
                "D = "
                f"1, A = F = G = 0. Then E (sum p_tau grad f_tau)^2 = {moment} over the four draws, and Lemma B.7 with "
                f"the printed c_O as the factor of ||grad f||^2 would have {bound}."
            )
        yield Point(values, tuple(story))


CHECKS: dict[str, Check] = {"cfl.thm4_7": Check(variance_points), "cfl.thm4_7_cO": Check(constant_points)}
