"""Checks of `claims.c_flag.past_task`."""
