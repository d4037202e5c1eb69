"""App. B.4.2: the noises of a round, (14) and (17), and the bound (18) on a local gradient."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq18 = CLAIMS["cfl.eq18"]
