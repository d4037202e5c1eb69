"""When grad g stays bounded in the mean: what Lemmas 4 and 18 need besides their printed hypotheses."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
bounded_gradients = CLAIMS["ours.bounded_gradients"]
