"""Second moments under correlated time drifts: Lemmas B.7 and B.10."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lemB7 = CLAIMS["cfl.lemB7"]
