"""What we prove about the decomposition (3), the assumptions and the bias: exact forms and necessary conditions."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
assumption2 = CLAIMS["ours.assumption2"]
