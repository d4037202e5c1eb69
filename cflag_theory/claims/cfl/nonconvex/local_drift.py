"""App. B.5: the local drift in the non-convex proof, (29) to (31)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
nc_eq31 = CLAIMS["cfl.nc_eq31"]
