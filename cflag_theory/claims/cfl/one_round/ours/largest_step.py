"""The steps that (22) allows, exactly."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
cfl_step = CLAIMS["ours.cfl_step"]
