"""The convex rates of CFL: Theorems 4.1 and B.5 with the lines of App. B.4.4 that they come from."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
