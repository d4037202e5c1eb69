"""Adaptive rates that provably help: what we prove instead of Table 1, Lemma 7 and the guarantee of Sec. 5."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
clients = CLAIMS["ours.adaptive_clients"]
descent = CLAIMS["ours.adaptive_descent"]
