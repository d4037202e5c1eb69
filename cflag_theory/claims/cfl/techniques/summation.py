"""Lemma A.1: the weighted sum over the rounds in the strongly convex case."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
