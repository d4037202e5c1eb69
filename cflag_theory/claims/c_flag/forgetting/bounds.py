"""Bounds on the forgetting term by h~: (161)-(165), and the constants of Lemma 18."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq164 = CLAIMS["cflag.eq164"]
