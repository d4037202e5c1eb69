"""The first rounds of a run: a bound on min ||grad f||^2 that assumes nothing about grad g but its value at x_0."""

import sympy as sp

from cflag_theory.claims.pages.page import load

#: delta and eta of part 1.
SIMPLE = sp.Rational(3, 5), sp.Rational(1, 3)
__getattr__, CLAIMS = load(__file__, globals())
first_rounds = CLAIMS["ours.first_rounds"]
