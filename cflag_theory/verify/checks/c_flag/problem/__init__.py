"""Checks of `claims.c_flag.problem`."""
