"""App. B.4.2: one round put together, (21)-(22)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq21 = CLAIMS["cfl.eq21"]
