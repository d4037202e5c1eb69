"""(60)-(63): Lemma 1 in the mean over the memories, and over the rounds."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
