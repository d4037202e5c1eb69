"""Server updates: (7) in the main text, (17)-(25) in the supplement."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq25 = CLAIMS["cflag.eq25"]
eq7 = CLAIMS["cflag.eq7"]
