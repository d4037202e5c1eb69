"""Lemma B.4 and (33): the weights of the rounds, for time drifts that are independent or bounded by Assumption 6."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lemB4 = CLAIMS["cfl.lemB4"]
