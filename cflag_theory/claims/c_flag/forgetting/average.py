"""The average forgetting: Lemma 4 with diminishing and Lemma 18 with constant steps on the current data."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
