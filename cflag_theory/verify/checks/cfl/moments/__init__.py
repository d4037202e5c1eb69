"""Checks of `claims.cfl.moments`."""
