"""Whether Algorithm 3 divides by zero."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
