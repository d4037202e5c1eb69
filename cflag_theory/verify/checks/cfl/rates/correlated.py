"""Theorem 4.7: the variance term and c_O on exact instances, and the drifts of one by all their draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from cflag_theory.claims.cfl.rates.correlated import M2_R2, larger_AC, larger_BC, products, squares
from cflag_theory.claims.cfl.symbols import A2, B2, C2, D2, F2, G2
from cflag_theory.claims.cfl.weights.independent import M2, shared
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.weights.independent import described, optimal
from cflag_theory.verify.evidence import Point

_SQUARES = (Fraction(0), Fraction(1, 4), Fraction(4))


def variance_points() -> Iterator[Point]:
    """The least value of (33), F = 0 and F > D included."""
    zero, quarter, four = _SQUARES
    for t, d2, f2, r2 in product((2, 1, 40), (four, quarter), (quarter, zero, four), (quarter, zero, four)):
        common = min(f2, d2)
        left_over = d2 - common
        if t * left_over + (t - 1) * r2 and left_over + r2:
            fixed = {D2: d2, F2: f2, shared: common, M2: left_over, M2_R2: left_over + r2, G2: Fraction(1, 2)}
            yield Point(described(optimal(t, left_over, r2), left_over, r2) | fixed, ("The weights of the theorem.",))


def slope(w: Fraction, client: int, time: int) -> Fraction:
    """grad f_{tau,i}(w) = w - delta - xi of the family in `constant_points`, for two signs."""
    half = Fraction(1, 2)
    return w - client * w / 2 - time * max(-half, min(half, w / 2))


def second_moment(w: Fraction) -> Fraction:
    """E (sum p_tau grad f_{tau,i}(w))^2 over the signs; xi_1 = xi_2, so that the weights do not matter.

    Raises
    ------
    ArithmeticError
        If an objective of the family is not convex, or not 2-smooth.
    """
    signs = list(product((1, -1), repeat=2))
    for client, time in signs:
        # Piecewise linear, with corners at 1 and -1.
        for left, right in pairwise(map(Fraction, (-2, -1, 0, 1, 2))):
            rise = slope(right, client, time) - slope(left, client, time)
            if not 0 <= rise <= 2 * (right - left):
                raise ArithmeticError(f"the gradient for signs {client}, {time} rises by {rise} from {left} to {right}")
    return sum((slope(w, client, time) ** 2 for client, time in signs), Fraction(0)) / len(signs)


def constant_points() -> Iterator[Point]:
    """c_{p_B,i} for the weights 1/t and for p_t = 1."""
    quarter = Fraction(1, 4)
    for a2, b2, c2, t in product(_SQUARES, _SQUARES, _SQUARES, (1, 2, 50)):
        values = {
            A2: a2,
            B2: b2,
            C2: c2,
            squares: Fraction(1, t),
            products: 1 - Fraction(1, t),
            larger_BC: max(b2, c2),
            larger_AC: max(a2, c2),
        }
        story = [f"t = {t}, p_tau = 1/t, the weights of the theorem for R = 0 < M."]
        if a2 == 0 and b2 == c2 == quarter and t == 2:
            moment = second_moment(Fraction(1))
            # c_O ||grad f||^2 + G^2 + D^2 sum p^2 + F^2 sum p p with the printed c_O.
            bound = (1 + a2 + max(b2, c2)) + quarter / t
            if moment <= bound:
                raise ArithmeticError(f"the second moment {moment} is within the bound {bound}")
            story.append(
                "On the line f(w) = w^2/2, delta = s w/2, xi_1 = xi_2 = s' h(w) with fair signs s and s', and h(w) "
                "= w/2, but not beyond 1/2 or -1/2: B = C = D = 1/2, A = F = G = 0, and every f_{t,i} is convex and "
                f"2-smooth. At w = 1, E (sum p_tau grad f_tau)^2 = {moment} over the four draws, and Lemma B.7 with "
                f"the printed c_O as the factor of ||grad f||^2 would have {bound}."
            )
        yield Point(values, tuple(story))


CHECKS = {
    "cfl.thm4_7": Check(variance_points),
    "cfl.thm4_7_cO": Check(constant_points),
}
