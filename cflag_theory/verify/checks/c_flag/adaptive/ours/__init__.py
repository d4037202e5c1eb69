"""Checks of what we prove instead."""
