"""C-FLAG, Section 5: adaptive rates and Algorithm 3."""
