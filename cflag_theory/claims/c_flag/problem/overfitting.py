"""The expectation of the overfitting term B(t) over draws of the memory."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
