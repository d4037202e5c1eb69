"""The engine for NVIDIA GPUs."""
