"""Small exact problems, and rounds in slow motion, that checks take their instances from."""
