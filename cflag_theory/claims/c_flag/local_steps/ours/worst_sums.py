"""The exact worst case of the sums over local steps, for a given order: those of Lemmas 15 and 16, and S."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
