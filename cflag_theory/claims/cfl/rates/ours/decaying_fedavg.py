"""FedAvg with a decaying step in the drift model of the CFL paper: O(1/T) to its clients' minimiser."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
