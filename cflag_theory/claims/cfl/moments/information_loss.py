"""Taylor models of past objectives: Lemma B.3, and the Fisher matrix in place of the Hessian."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
