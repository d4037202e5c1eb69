"""Proposition 4.3 and Remarks 4.2, 4.5 and 4.8: grids of exact instances, with zeros where a formula has a value."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates.remarks import D2_R2, G2_D2_R2, W_less, added, apart, clients, variance, variance_R2
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2
from cflag_theory.claims.cfl.weights.independent import M2, W, past, shared
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.weights.independent import described, optimal
from cflag_theory.verify.evidence import Point

SQUARES = (Fraction(0), Fraction(1, 4), Fraction(4))
_ROUNDS = (1, 2, 50)


def stateless_points() -> Iterator[Point]:
    """Both variance terms, and the value on round t of the stateless one."""
    for g2, d2, r2 in product(SQUARES, repeat=3):
        if d2 + r2:
            values: dict[Any, Any] = {G2: g2, D2: d2, R2: r2, D2_R2: d2 + r2, G2_D2_R2: g2 + d2 + r2}
            yield Point(values, part="1")
    for t, x2, r2 in product(_ROUNDS, SQUARES, SQUARES):
        if t * x2 + (t - 1) * r2 and x2 + r2:
            fixed = {variance: x2, variance_R2: x2 + r2, G2: 0}
            yield Point(described(optimal(t, x2, r2), x2, r2) | fixed, part="2")


def alone_points() -> Iterator[Point]:
    """N = 1 selected client, of many (G, B > 0) and alone (G = B = 0)."""
    for g2, d2, r2 in product((Fraction(1), Fraction(0)), SQUARES, SQUARES):
        if d2 + r2:
            values: dict[Any, Any] = {G2: g2, B2: g2, A2: d2, D2: d2, R2: r2, D2_R2: d2 + r2}
            values |= {clients: 2 if g2 else 1, apart: g2}
            drift = "two clients, delta = 1 and -1, one selected a round" if g2 else "one client"
            yield Point(values, (f"{drift}, with G and D in part 1, B and A in part 2.",))


def limit_points() -> Iterator[Point]:
    """Growing R."""
    for t, d2, r2 in product(_ROUNDS, SQUARES[1:], (*SQUARES, Fraction(10**6))):
        values = described(optimal(t, d2, r2), d2, r2) | {D2: d2, G2: Fraction(1, 2), D2_R2: d2 + r2}
        yield Point(values)


def more_correlation() -> Iterator[Point]:
    """(33) at two values of F."""
    for t, r2, m2, more, common in product(_ROUNDS, SQUARES, SQUARES, SQUARES[1:], SQUARES[:2]):
        less, full = t * m2 + (t - 1) * r2, t * (m2 + more) + (t - 1) * r2
        if less:
            values: dict[Any, Any] = {past: t - 1, R2: r2, M2: m2, added: more, shared: common, W: full, W_less: less}
            yield Point(values | {G2: 0}, (f"t = {t}, F^2 = {common} and {common + more}, with the optimal weights.",))


CHECKS = {
    "cfl.prop4_3": Check(stateless_points),
    "cfl.rem4_2": Check(alone_points),
    "cfl.rem4_5": Check(limit_points),
    "cfl.rem4_8": Check(more_correlation),
}
