"""Transference and interference, and the rescaling of the clients' updates: the text around (16)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
