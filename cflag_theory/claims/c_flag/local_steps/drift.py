"""Client drift: Lemma 13."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
