"""CFL, Section 4 and Appendix B.4.4: convex rates."""
