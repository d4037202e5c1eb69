"""The falsifier: a user's claim is put to exact algebra, then searched for a small rational counterexample."""
