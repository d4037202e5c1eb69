"""FedAvg on general convex functions where f is the sum over the rounds, (2): the regret of online gradient descent."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
