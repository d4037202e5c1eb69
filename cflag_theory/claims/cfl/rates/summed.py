"""Floors where f is the sum over the rounds, formulation (2), with equal weights: what CFL minimises with R = 0."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
