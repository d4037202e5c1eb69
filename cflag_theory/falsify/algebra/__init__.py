"""Exact algebra on a conjecture: sympy, z3, Bernstein coefficients."""
