"""Checks of the CFL claims, in paper order."""
