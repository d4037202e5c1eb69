"""App. C.1.1 and C.2: how the data sets are split."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
