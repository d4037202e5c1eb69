"""Checks of `claims.c_flag.union`."""
