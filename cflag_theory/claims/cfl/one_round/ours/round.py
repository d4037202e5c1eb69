"""One round of CFL with explicit constants: what stands in place of (13), (15), (20), (21) and (23)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
cfl_round = CLAIMS["ours.cfl_round"]
