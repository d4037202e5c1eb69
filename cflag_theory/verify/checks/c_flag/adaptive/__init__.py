"""Checks of `claims.c_flag.adaptive`."""
