"""A user's own functions: finite sums, potentials, local steps and server steps, and the files that hold them."""
