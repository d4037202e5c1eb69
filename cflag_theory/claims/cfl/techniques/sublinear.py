"""Lemma A.2: the plain mean over the rounds in the general convex case."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
