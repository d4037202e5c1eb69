"""Checks of `claims.cfl.one_round`."""
