"""In place of the non-convex statements of the CFL paper: explicit constants, and the floor that stays."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
nonconvex = CLAIMS["ours.cfl_nonconvex"]
