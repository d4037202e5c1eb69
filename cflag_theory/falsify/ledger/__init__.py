"""Statements of the ledger as conjectures over small exact instances."""
