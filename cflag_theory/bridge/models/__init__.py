"""Networks as flat vectors, what a client holds of them, and its steps."""
