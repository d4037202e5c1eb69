"""The error of the delayed gradient along a round: Corollary 14."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
