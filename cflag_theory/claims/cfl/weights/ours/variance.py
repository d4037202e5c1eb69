"""What we prove about the weights of all of (23), and about correlated time drifts: values, constants and a floor."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
