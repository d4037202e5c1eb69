"""(99)-(100): the lengths of the local steps, with the error of the delayed gradient split off."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
