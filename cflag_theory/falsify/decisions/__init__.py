"""Both sides of a claim: prove, decide, the best constants, repair."""
