"""The drift lemma and the one-round lemma of FedProx, decided. Try: cflag decide docs/examples/fedprox_lemmas.py

From the proof of Theorem 4 of Li et al., "Federated Optimization in Heterogeneous Networks" (MLSys 2020), in our words,
for all devices in every round. Device k stops at a point w_k where h_k = F_k + (mu/2) ||w - w_t||^2, which is
mu_bar-strongly convex, has ||grad h_k(w_k)|| <= gamma ||grad F_k(w_t)||. Gradients are B-dissimilar:
mean ||grad F_k(w_t)||^2 <= B^2 ||grad f(w_t)||^2.
"""

import sympy as sp

from cflag_theory.falsify import Conjecture, function, index, mean, norm, norm2, vector, vectors

L, mu, mu_bar, B = sp.symbols("L mu mu_bar B", positive=True)
gamma = sp.Symbol("gamma", nonnegative=True)
w_t, w_k = vectors("w_t w_k")

# grad h(w_t) = grad F(w_t), because the proximal term is at rest there.
h = function("h", mu=mu_bar)
inexact = norm(h.grad(w_k)) <= gamma * norm(h.grad(w_t))
drift = Conjecture(
    name="drift of a device",
    left=norm(w_k - w_t),
    right=(1 + gamma) / mu_bar * norm(h.grad(w_t)),
    given=(inexact,),
)
too_small = Conjecture(
    name="drift without the error of the solver",
    left=norm(w_k - w_t),
    right=norm(h.grad(w_t)) / mu_bar,
    given=(inexact,),
)

# The mean of what devices do: any vectors v_k with ||v_k|| <= c ||grad F_k(w_t)||, such as drifts and solvers' errors.
k = index("k")
devices = mean("devices", k)
F = function("F")
c = sp.Symbol("c", positive=True)
v = vector("v", k)
gradient = devices(F[k].grad(w_t))
averaged = Conjecture(
    name="mean over devices",
    left=norm2(devices(v)),
    right=(c * B) ** 2 * norm2(gradient),
    given=(norm2(v) <= c**2 * norm2(F[k].grad(w_t)), devices(norm2(F[k].grad(w_t))) <= B**2 * norm2(gradient)),
)

# One round: mu (w_next - w_t) = error - grad f(w_t) - change, where the change of the devices' gradients along their
# drifts, the error of the solvers and w_next - w_t are means over devices, bounded as above.
f = function("f", smooth=L)
change, error = vectors("change error")
g = f.grad(w_t)
w_next = w_t - (g + change - error) / mu
bounds = (
    norm(change) <= L * B * (1 + gamma) / mu_bar * norm(g),
    norm(error) <= gamma * B * norm(g),
    norm(w_next - w_t) <= B * (1 + gamma) / mu_bar * norm(g),
)
rate = (1 - gamma * B) / mu - L * B * (1 + gamma) / (mu * mu_bar) - L * (1 + gamma) ** 2 * B**2 / (2 * mu_bar**2)
one_round = Conjecture(name="one round", left=f(w_next), right=f(w_t) - rate * norm2(g), given=bounds)
without_curvature = Conjecture(
    name="one round without its last term",
    left=f(w_next),
    right=f(w_t) - (rate + L * (1 + gamma) ** 2 * B**2 / (2 * mu_bar**2)) * norm2(g),
    given=bounds,
)
