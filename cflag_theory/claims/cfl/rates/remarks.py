"""Proposition 4.3, Remarks 4.2, 4.5 and 4.8, and Theorem 4.7: what is read off the rates."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
