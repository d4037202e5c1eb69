"""App. B.4.2: one round of Algorithm 2 on convex objectives, (10)-(13) and (15)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
