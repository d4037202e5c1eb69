"""The vectors of a round of CFL: what its claims' symbols are made of.

Draws. Everything random depends on `draw`: drifts, selections, and all noises before the round. What the noises of the
round itself decide depends on `fresh` too: local iterates past the first, noises, the next iterate. `E(expr)` is the
expectation over both, and just the outer one for what the round's noises do not touch.

Indices. `i` runs over the N clients of the round (mean `clients`), `j` over its local steps 0, ..., K - 1 (`steps`),
`tau` over rounds (sum `rounds` of weighted terms, with weights p(tau) of either sign). A fixed but arbitrary client is
`client`.

A squared distance whose vectors are differences is written E(norm(v)**2), which no one can mistake for negative.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.symbols import K, N, eta, mu, t
from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.notation import L, sequence
from cflag_theory.claims.engine.operators import index, mean_over, sum_over
from cflag_theory.claims.engine.relation import equal
from cflag_theory.claims.engine.terms import function, vector

draw, fresh = index("draw"), index("fresh")
i, j, tau = index("i"), index("j"), index("tau")
#: Any client.
client = sp.Symbol("client", integer=True, nonnegative=True)

over_past, over_noises = (mean_over("E", over, r"\mathbb{E}") for over in (draw, fresh))
all_clients, all_steps, rounds = sum_over(i, N), sum_over(j, K), sum_over(tau, t)


def E(expr: sp.Expr) -> sp.Expr:
    """The expectation over all draws."""
    return over_past(over_noises(expr))


def clients(expr: sp.Expr) -> sp.Expr:
    """The mean over the clients."""
    return all_clients(expr) / N


def steps(expr: sp.Expr) -> sp.Expr:
    """The mean over the local steps."""
    return all_steps(expr) / K


#: p_{tau,i} of one client, of any sign.
p = sequence("weight_of_round", r"p_{@,i}", real=True)
#: The global objective: convex; w* minimises it.
f = function("f of CFL", "f", smooth=L, mu=mu)
#: F_i = sum_tau p_{tau,i} f_{tau,i} for weights that are not negative: smooth and convex like its members.
F = function("weighted objective", r"F_{@1}", smooth=L, mu=mu)

w_star = vector("w_star", r"\omega^*")()
#: Where the run starts.
w_0 = vector("w_0", r"\omega_0")()
#: w_t of any round.
_w = vector("w_round", r"\omega_{@1}")


def w(round_: sp.Expr) -> sp.Expr:
    """w_t at a round; random."""
    return _w(round_, draw)


w_t = w(t)
_x = vector("local_iterate", r"\omega_{t,@1,@2}")
_loss = vector("local_loss", r"\Delta_{@1,@2}")
_noise = vector("local_noise", r"\nu_{@1,@2}")


def x(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """w_{t,i,j}: the client's model after j local steps."""
    return _x(i, j, draw, fresh)


def loss(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """sum_{tau<t} p_{tau,i} Delta_{tau,i} at w_{t,i,j}: the information loss in the gradient of that step."""
    return _loss(i, j, draw, fresh)


def noise(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """nu_{i,j}: the noise of step j."""
    return _noise(i, j, draw, fresh)


def true_gradient(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """sum_tau p_{tau,i} grad f_{tau,i} at w_{t,i,j}."""
    return F[i, draw].grad(x(i, j))


def local_gradient(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """grad f-bar_{t,i} at w_{t,i,j}: the noiseless gradient of step j."""
    return true_gradient(i, j) - loss(i, j)


#: Means over clients and steps.
mean_loss = clients(steps(loss(i, j)))
mean_noise = vector("mean_noise", r"\bar{\nu}")(draw, fresh)
mean_gradient = clients(steps(local_gradient(i, j)))
#: (8): Delta w_t.
move = -eta * (mean_gradient + mean_noise)
w_next = w_t + move

# Drifts at a point w that noises of the round may move: grad f_{tau,i}(w) = grad f(w) - delta_i - xi_{tau,i}, (5).
point = vector("point", r"\omega")(draw, fresh)
_delta = vector("client_drift", r"\delta_{@1}")
_xi = vector("time_drift", r"\xi_{@1,@2}")


def delta(i: sp.Expr) -> sp.Expr:
    """delta_i at the point."""
    return _delta(i, draw, fresh)


def xi(tau: sp.Expr, i: sp.Expr) -> sp.Expr:
    """xi_{tau,i} at the point."""
    return _xi(tau, i, draw, fresh)


#: sum_tau p_{tau,i} xi_{tau,i} of one client.
mean_xi = rounds(p(tau) * xi(tau, client))
#: sum_tau p_{tau,i} grad f_{tau,i}(w) by (5), for weights that sum to one.
mixed_gradient = f.grad(point) - delta(client) - mean_xi

MINIMISER = setting("w* minimises f", equal(f.grad(w_star), 0), "w* minimises f.")
LATER_NOISE = setting(
    "noise of a round", equal(over_noises(mean_noise), 0), "The noises of a round have mean zero given w_t."
)
