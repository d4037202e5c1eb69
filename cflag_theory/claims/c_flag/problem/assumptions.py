"""Assumptions 2 and 3: when they can be met, and what breaks them."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
