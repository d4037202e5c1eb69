"""Obligations and exact instances as Coq lemmas."""
