"""App. B.4.4: phi_t averaged over the rounds, with the weights q_t: what O(.) says, and what its second term says."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
phi_rate = CLAIMS["cfl.phi_rate"]
