"""The kernels against other tools on a CPU: contests, growth, roofline, costs and studies."""
