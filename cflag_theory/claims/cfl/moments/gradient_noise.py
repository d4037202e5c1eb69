"""The server update, and second moments of sums of drifting gradients: Lemmas B.1 and B.2, and their use."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
lemB2_use = CLAIMS["cfl.lemB2_use"]
