"""CFL, Appendix B.1 to B.3: second moments of drifts, noises and information loss."""
