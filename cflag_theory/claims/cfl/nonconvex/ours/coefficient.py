"""On (32) of the CFL paper: what its coefficient says, and which weights make its constant term least."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
coefficients = CLAIMS["ours.cfl_nonconvex_coefficient"]
