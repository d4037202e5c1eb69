"""App. B.5: the non-convex rate, and Theorems 4.1, 4.4, B.5 and B.6 where they state it."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
nc_rate = CLAIMS["cfl.nc_rate"]
