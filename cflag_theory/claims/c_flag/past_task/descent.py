"""Descent on the past task: Lemma 1, and the factor of Theorem 2."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
