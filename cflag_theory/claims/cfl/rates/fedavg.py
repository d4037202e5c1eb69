"""Theorems 4.4 and B.6: the convex rates of FedAvg. T = O(.) is read as in `theorems`."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
fedavg_rates = CLAIMS["cfl.fedavg_rates"]
