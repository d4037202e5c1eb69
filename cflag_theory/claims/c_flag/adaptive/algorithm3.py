"""Algorithm 3 line by line, against Sec. 5, Table 1 and the round update (24)."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
