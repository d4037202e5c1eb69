"""The PyTorch runs compared with the numbers in the C-FLAG paper."""
