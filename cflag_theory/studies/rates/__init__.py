"""Rates of convergence: measured, bounded and fitted."""
