"""Checks of `claims.c_flag.local_steps`."""
