"""What the drift model of the CFL paper allows at best."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
