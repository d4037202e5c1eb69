"""Theorem 4.7: the variance term, the rate and c_O under Assumption 6."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
