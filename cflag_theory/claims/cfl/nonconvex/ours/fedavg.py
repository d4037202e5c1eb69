"""Non-convex FedAvg whose clients are new in every round: the rate of the CFL paper, with constants."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
