"""What we prove instead of Theorems 2 and 5: bounds on grad f along a run, with explicit constants."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
drawn_once = CLAIMS["ours.drawn_once"]
rate = CLAIMS["ours.drawn_once_rate"]
redrawn = CLAIMS["ours.redrawn"]
