"""(166) and (181): the set D* that is chosen to handle the randomness of the memory."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
