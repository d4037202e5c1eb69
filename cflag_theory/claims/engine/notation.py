"""The papers' notation: each symbol once, with the LaTeX that the papers print."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.operators import index, mean_over
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

L = symbol("L", "L", positive=True)
alpha = symbol("alpha", r"\alpha", positive=True)
beta = symbol("beta", r"\beta", positive=True)
E = symbol("E", "E", positive=True, integer=True)
k = symbol("k", "k", nonnegative=True, integer=True)
m = symbol("m", "m", nonnegative=True)
r = symbol("r", "r", nonnegative=True)

# The vectors of C-FLAG: `i` runs over clients, `j` over the components of a client, `omega` over draws of the memory.
i, j, omega = index("i"), index("j"), index("omega")
clients = mean_over("clients", i, r"\textstyle\sum_{@}p_{@}")
components = mean_over("components", j, r"\mathrm{mean}_{@}")
draws = mean_over("draws", omega, r"\mathbb{E}")
#: Any draw of the memory and any round of the run.
draw = sp.Symbol("draw", integer=True, nonnegative=True)
t = symbol("t", "t", nonnegative=True, integer=True)
x = vector("x", "x_{@2}")
x_t = x(draw, t)
f = function("f", "f", smooth=L)
#: A component of a client's current loss.
g = function("g", "g_{@1,@2}", smooth=L)
grad_f = f.grad(x_t)
grad_current = clients(components(g[i, j].grad(x_t)))
#: b = grad f_memory(x_t) - grad f(x_t), and the sum S of the delayed gradients.
bias = vector("b", "b_{@2}")(draw, t)
delayed_sum = vector("S", "S_{@2}")(draw, t)
#: The round update (24).
x_next = x_t - alpha * (grad_f + bias) - beta * delayed_sum

grad_g = symbol("grad_g", r"{\|\nabla g(x_t)\|}", norm(grad_current), nonnegative=True)

# Gram entries of grad f, the bias b and the sum S of delayed gradients, and the values of f at both ends of a round.
grad_f2 = symbol("grad_f2", r"{\|\nabla f(x_t)\|^2}", norm2(grad_f), nonnegative=True)
bias2 = symbol("bias2", r"{\|b\|^2}", norm2(bias), nonnegative=True)
sum2 = symbol("sum2", r"{\|S\|^2}", norm2(delayed_sum), nonnegative=True)
grad_dot_bias = symbol("grad_dot_bias", r"\langle\nabla f,b\rangle", dot(grad_f, bias), real=True)
grad_dot_sum = symbol("grad_dot_sum", r"\langle\nabla f,S\rangle", dot(grad_f, delayed_sum), real=True)
bias_dot_sum = symbol("bias_dot_sum", r"\langle b,S\rangle", dot(bias, delayed_sum), real=True)
f_before = symbol("f_before", "f(x_t)", f(x_t), real=True)
f_after = symbol("f_after", "f(x_{t+1})", f(x_next), real=True)
