"""App. B.5: the progress of a round (32), and the weights that are derived from it."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
