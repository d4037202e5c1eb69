"""What the text says of the printed rates: which terms are dominant, and that CFL is faster than FedAvg."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
