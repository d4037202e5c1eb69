"""Checks of the C-FLAG claims, in paper order."""
