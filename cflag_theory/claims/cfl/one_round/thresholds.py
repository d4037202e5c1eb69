"""App. B.4.2 after (22): the step sizes, and the constants c_1 and c_2."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
step12 = CLAIMS["cfl.step12"]
step6 = CLAIMS["cfl.step6"]
