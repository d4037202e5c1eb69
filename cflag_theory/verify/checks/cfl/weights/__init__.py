"""Checks of `claims.cfl.weights`."""
