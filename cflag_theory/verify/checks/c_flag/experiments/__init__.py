"""Checks of the published tables and of the sentences about them."""
