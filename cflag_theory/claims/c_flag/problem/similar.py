"""Assumption 2 beside the bounded bias of Ajalloeian and Stich (2020), their Assumption 4."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
