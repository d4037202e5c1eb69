"""The local steps of one client in one round, as vectors; draw of the memory, round and client are any."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.notation import (
    E,
    beta,
    clients,
    components,
    delayed_sum,
    draw,
    g,
    grad_current,
    i,
    j,
    k,
    t,
    x,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.terms import vector

#: For maxima over the local steps b <= k, and for sums over them.
b, ell = index("b"), index("l")
#: Any client; `i` in its place is the index of the mean over clients.
client = sp.Symbol("client", integer=True, nonnegative=True)
_x_local = vector("x_local", "x_{@4,@2}^{@1}")
_tau = sp.Function("tau", integer=True, nonnegative=True)


def x_local(client: sp.Expr, step: sp.Expr) -> sp.Expr:
    """x_{t,k}^i, in the round and for the draw that are understood."""
    return _x_local(client, step, draw, t)


def tau(client: sp.Expr, step: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """tau_{k,j} of a client: the local step at which entry j of its table was last refreshed."""
    return _tau(client, step, entry, draw, t)


def grad_client(x: sp.Expr, of: sp.Expr = client) -> sp.Expr:
    """grad g_i(x) of the client."""
    return components(g[of, j].grad(x))


def table_point(step: sp.Expr, of: sp.Expr = client) -> sp.Expr:
    """The point at which entry j of the client's table was filled, as it stands at a local step."""
    return x_local(of, tau(of, step, j))


def delayed(step: sp.Expr, of: sp.Expr = client) -> sp.Expr:
    """grad g_i'(x_{t,k}): the mean of the client's table."""
    return components(g[of, j].grad(table_point(step, of)))


#: sum_k rho_k and sum_k e_k of the round.
rho = sum_over(ell, E)(clients(grad_client(x_local(i, ell), i)))
errors = sum_over(ell, E)(clients(delayed(ell, i) - grad_client(x_local(i, ell), i)))

ROUND_START = setting("x_{t,0}", equal(x_local(client, 0), x_t), "x_{t,0}^i = x_t.")
LOCAL_STEP = setting(
    "(4)",
    equal(
        x_local(client, k + 1),
        x_local(client, k) - beta * (grad_current + delayed(k) - grad_client(x_t)),
    ),
    "x_{t,k+1}^i = x_{t,k}^i - beta (grad g(x_t) + grad g_i'(x_{t,k}^i) - grad g_i(x_t)).",
)
TABLE = setting("tau", at_most(tau(client, k, j), k), "tau_{k,j} <= k: a table holds no gradient of a later step.")
MEAN_DRIFT = setting(
    "(22)",
    equal(clients(x_local(i, E)), x_t - beta * delayed_sum),
    "sum_i p_i x_{t,E}^i = x_t - beta S, which is cflag.eq22.",
)
ROUND_SUM = setting("S", equal(delayed_sum, rho + errors), "(31): S = sum_k rho_k + sum_k e_k.")
ROUND = setting("round (24)", equal(x(draw, t + 1), x_next), "x_{t+1} = x_t - alpha (grad f(x_t) + b) - beta S.")
REFRESHED = setting(
    "refresh", at_most(tau(client, k, j), tau(client, k + 1, j)), "No entry is replaced by an older gradient."
)
