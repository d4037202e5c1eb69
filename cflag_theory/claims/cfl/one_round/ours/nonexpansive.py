"""(14) and (17) with their printed constants, for local steps that do not increase distances."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
