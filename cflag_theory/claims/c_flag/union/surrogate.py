"""The proof of Lemma 3 along its own iterates (67)-(68): the descent (69)-(74), and (66) for them."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq74 = CLAIMS["cflag.eq74"]
lemma3_surrogate = CLAIMS["cflag.lemma3_surrogate"]
