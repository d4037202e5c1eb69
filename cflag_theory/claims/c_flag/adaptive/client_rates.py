"""What Supplement 3.1 and 3.2 say of one client's term and its rates, besides Table 1."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
