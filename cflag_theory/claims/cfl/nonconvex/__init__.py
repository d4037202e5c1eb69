"""CFL, Appendix B.5: the non-convex proof and its rate."""
