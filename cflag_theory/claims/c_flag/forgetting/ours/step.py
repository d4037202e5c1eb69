"""What we prove about a round's sums and its forgetting term: exact worst cases, for every step size."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
forgetting_step = CLAIMS["ours.forgetting_step"]
