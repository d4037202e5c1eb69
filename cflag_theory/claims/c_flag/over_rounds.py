"""Sums over the rounds t < T of expectations over the draws of the memory.

A relation that is shown for any draw and any round is put under both. For a given memory the expectation does nothing.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.notation import draw, draws, omega, t
from cflag_theory.claims.engine.operators import index, sum_over

T = symbol("T", "T", positive=True, integer=True)
#: For sums over the rounds.
s = index("s")


def in_the_mean(expr: sp.Expr, at: sp.Expr) -> sp.Expr:
    """The expectation over the draws of what is given for any draw and round, in round `at`."""
    return draws(expr.xreplace({draw: omega, t: at}))


def summed(expr: sp.Expr, count: sp.Expr = T) -> sp.Expr:
    """Its sum over the first rounds."""
    return sum_over(s, count)(in_the_mean(expr, s))
