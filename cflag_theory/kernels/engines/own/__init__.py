"""Machine code for functions of the user."""
