"""The worst order for the error at any step size: turns up to some step, then one component again and again."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
