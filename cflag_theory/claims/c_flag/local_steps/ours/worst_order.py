"""The worst order of refreshes for C-FLAG's local steps, and the error beyond beta L k = 1."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
