"""What we prove about the weights of Theorem 4.9: a closed form, the optimum without negative weights, and Q's size."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
