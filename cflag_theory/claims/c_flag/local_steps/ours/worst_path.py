"""The exact worst case of C-FLAG's local steps for a given order of refreshes: drift and error."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
