"""What clients remember of past data, and the bias that this leaves."""
