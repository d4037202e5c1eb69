"""The rate on the past task: Theorem 5 and Corollary 17."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
thm5 = CLAIMS["cflag.thm5"]
