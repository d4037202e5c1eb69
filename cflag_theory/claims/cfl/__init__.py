"""The claims of the CFL paper, in paper order."""
