"""What we prove instead of Lemma 3 and the text around it: rounds, descent and convergence on the union."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
algorithm1_descent = CLAIMS["ours.algorithm1_descent"]
