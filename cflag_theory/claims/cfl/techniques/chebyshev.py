"""Lemma A.6: increasing weights and the harmonic sum."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
