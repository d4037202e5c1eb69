"""App. B.4.2, (23): one round with c_1, c_2 and c_3, and the drift of the optimum phi_t."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
phi = CLAIMS["cfl.phi"]
