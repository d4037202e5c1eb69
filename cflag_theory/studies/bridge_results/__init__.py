"""The PyTorch runs beside what the C-FLAG paper prints of its own."""
