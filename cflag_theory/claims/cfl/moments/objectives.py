"""What f is: formulation (2) against Sec. 3.3, and the f of Assumption 3."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
