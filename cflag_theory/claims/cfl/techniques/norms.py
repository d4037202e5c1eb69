"""Assumption 1's corollary and Lemmas A.3, A.4 and A.5; the sums of Appendix A are in `summation`."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
