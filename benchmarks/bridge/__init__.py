"""The PyTorch bridge against a plain loop."""
