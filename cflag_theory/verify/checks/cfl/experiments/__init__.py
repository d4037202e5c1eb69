"""Checks of `claims.cfl.experiments`."""
