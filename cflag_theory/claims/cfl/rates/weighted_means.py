"""App. B.4.4: the minimum of Lemma B.4 averaged over the rounds, with the weights q_t."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lnT = CLAIMS["cfl.lnT"]
