"""The memory: Lemmas 8, 9 and 10."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lemma8 = CLAIMS["cflag.lemma8"]
