"""A few sequences of weights, exactly."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from cflag_theory.claims.cfl.symbols import T
from cflag_theory.claims.cfl.techniques import chebyshev as claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_R = sp.Rational


def lemA6_points() -> Iterator[Point]:
    """Non-decreasing weights with sum one, one of them negative at the start."""
    weights = (
        (1,),
        (_R(1, 2),) * 2,
        (_R(1, 4), _R(3, 4)),
        (_R(1, 3),) * 3,
        (-_R(1, 2), _R(1, 2), 1),
        (0, 0, 0, 1),
        (_R(1, 10), _R(2, 10), _R(3, 10), _R(4, 10)),
    )
    for p in weights:
        S = sp.Add(*(value / sp.Integer(s + 1) for s, value in enumerate(p)))
        H = sp.Add(*(_R(1, s + 1) for s in range(len(p))))
        one = {T: len(p), claim.S(T): S, claim.H(T): H, claim.weight(T): sum(p)}
        yield Point(one, part="1")
        if len(p) >= 2:
            end = claim.n + 2
            yield Point({claim.n: len(p) - 2, claim.S(end): S, claim.weight(end): sum(p)}, part="2")


CHECKS = {}
