"""What adapted rates do to forgetting: Lemma 6 for a client's term, Lemma 7 for the step really taken."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
