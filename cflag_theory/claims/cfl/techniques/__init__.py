"""CFL, Appendix A: lemmas that the proofs share."""
