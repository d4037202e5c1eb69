"""Lemma 3 for (67)-(68) at fifteen times the printed step size, which the worst case of the local steps allows."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
