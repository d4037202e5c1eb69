"""Checks of `claims.cfl.rates`."""
