"""The surrogate on memory and current data: (67)-(68) against Algorithm 1, Lemma 3 for it, and Lemma 11."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lemma3 = CLAIMS["cflag.lemma3"]
