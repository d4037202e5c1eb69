"""Instead of the CFL paper's general convex rates, in the model of `strongly_convex`, with mu = 0."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
