"""Checks of `claims.cfl.nonconvex`."""
