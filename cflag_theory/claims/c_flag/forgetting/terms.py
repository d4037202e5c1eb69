"""From the forgetting term to a multiple of ||grad h~||^2 + omega^2: (90) and (149)-(160)."""

from sympy import expand as expand

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
eq156 = CLAIMS["cflag.eq156"]
eq158 = CLAIMS["cflag.eq158"]
