"""Engines: one checked plan in, one set of outputs back."""
