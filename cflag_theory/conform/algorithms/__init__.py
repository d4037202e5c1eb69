"""The references and their slips."""
