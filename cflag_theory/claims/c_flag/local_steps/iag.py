"""The delayed gradient along a round: Lemma 12 and the lines of Lemma 13's and Corollary 14's proofs."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq129 = CLAIMS["cflag.eq129"]
