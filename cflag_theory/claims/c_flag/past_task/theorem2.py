"""Theorem 2: the bound on 𝔼 ||grad f||^2 in terms of the forgetting term."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
