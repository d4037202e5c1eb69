"""Prove, decide, find the best constants, repair."""
