"""What we prove in place of the CFL paper's techniques and of its moments at iterates that depend on the drifts."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
