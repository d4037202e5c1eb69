"""CFL, Appendix B.4.2: one round of Algorithm 2."""
