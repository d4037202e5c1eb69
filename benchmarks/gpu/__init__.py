"""The CUDA kernels against the CPU and JAX."""
