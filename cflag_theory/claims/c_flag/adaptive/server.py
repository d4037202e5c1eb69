"""Adaptive rates of the server: the step-size problem (14), its guarantee, the sign after (15), and (16)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
sec5_guarantee = CLAIMS["cflag.sec5_guarantee"]
