"""Checks of `claims.cfl.techniques`."""
