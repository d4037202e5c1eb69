"""CFL, Lemma B.4 and Theorem 4.9: the weights of the rounds."""
