"""Sums over local steps: Lemmas 15 and 16."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
