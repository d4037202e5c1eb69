"""Small exact problems and runs, from which the checks take their instances."""
