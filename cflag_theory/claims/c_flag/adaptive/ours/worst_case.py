"""What Table 1's worst-case rates do where clients transfer: the useful form of Lemma 7."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
