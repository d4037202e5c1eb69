"""App. B.5: the observations after the non-convex rate, on c_pB and on the coefficient c_0 of (32)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
