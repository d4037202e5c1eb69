"""The papers' notation, each symbol once."""

from __future__ import annotations

import sympy as sp

L = sp.Symbol("L", positive=True)
alpha = sp.Symbol("alpha", positive=True)
beta = sp.Symbol("beta", positive=True)
E = sp.Symbol("E", positive=True, integer=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
m = sp.Symbol("m", nonnegative=True)
r = sp.Symbol("r", nonnegative=True)

#: ||grad g(x_t)||
grad_g = sp.Symbol("grad_g", nonnegative=True)

# Gram entries of grad f, the bias b and a sum S of delayed gradients, and the values of f at both ends of a round.
grad_f2 = sp.Symbol("grad_f2", nonnegative=True)
bias2 = sp.Symbol("bias2", nonnegative=True)
sum2 = sp.Symbol("sum2", nonnegative=True)
grad_dot_bias = sp.Symbol("grad_dot_bias", real=True)
grad_dot_sum = sp.Symbol("grad_dot_sum", real=True)
bias_dot_sum = sp.Symbol("bias_dot_sum", real=True)
f_before = sp.Symbol("f_before", real=True)
f_after = sp.Symbol("f_after", real=True)
