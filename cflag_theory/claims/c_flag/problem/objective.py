"""The objective and the delayed gradient: (3), (5) and the cost of (5)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
