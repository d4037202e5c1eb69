"""Instead of the CFL paper's convex rates: what Algorithm 2 with additive drifts does, with explicit constants."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
strongly_convex = CLAIMS["ours.cfl_strongly_convex"]
