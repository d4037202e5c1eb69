"""Adaptive rates client by client: (184)-(191) and Table 1."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
