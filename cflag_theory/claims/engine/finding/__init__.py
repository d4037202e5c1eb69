"""What the finder is made of: polynomials, linear programs and squares."""
