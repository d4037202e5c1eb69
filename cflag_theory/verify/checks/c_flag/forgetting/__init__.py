"""Checks of `claims.c_flag.forgetting`."""
