"""App. B.5: one round of the non-convex proof, (26) to (28)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
