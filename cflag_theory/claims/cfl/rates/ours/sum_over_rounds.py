"""The two meanings of f in the CFL paper: how far the sum over rounds, (2), and 𝔼 f_{t,i} of Sec. 3.3 are apart."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
