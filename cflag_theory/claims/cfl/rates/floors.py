"""What no step size and no round weights can beat: closed forms of Algorithm 2 on f(w) = lambda ||w - w*||^2 / 2."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
