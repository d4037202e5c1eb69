"""The iterates (67)-(68) of the proof of Lemma 3 as vectors, and what its statements speak of."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.tracking import L_memory, Tracked
from cflag_theory.claims.c_flag.vectors import client, ell
from cflag_theory.claims.engine.claim import Fact, setting
from cflag_theory.claims.engine.notation import E, L, beta, clients, i, j, k, sequence, symbol, t, unfold
from cflag_theory.claims.engine.operators import Least, index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.terms import function, norm, vector

T = symbol("T", "T", positive=True, integer=True)
#: For sums over the rounds.
s = index("s")
# The iterates of (67)-(68), and the components of the memory and the current data of a client.
both = mean_over("both", j, r"\mathrm{mean}_{@}")
component = function("union_component", r"\tilde h_{@1,@2}", smooth=L_memory)
x = vector("x_union", "x_{@1}")
_local = vector("x_union_local", "x_{@3,@2}^{@1}")
_tau = sp.Function("tau_union", integer=True, nonnegative=True)


def x_local(client: sp.Expr, step: sp.Expr) -> sp.Expr:
    return _local(client, step, t)


def tau(client: sp.Expr, step: sp.Expr, entry: sp.Expr) -> sp.Expr:
    return _tau(client, step, entry, t)


def delayed(step: sp.Expr, of: sp.Expr = client) -> sp.Expr:
    """grad h~_i'(x_{t,k}): the mean of the client's table."""
    return both(component[of, j].grad(x_local(of, tau(of, step, j))))


slope = clients(both(component[i, j].grad(x(t))))
x_next = x(t) - beta * slope - beta * sum_over(ell, E)(clients(delayed(ell, i)))
LOCAL_START = setting("start of (67)", equal(x_local(client, 0), x(t)), "x_{t,0}^i = x_t.")
LOCAL_STEP = setting(
    "(67)",
    equal(
        x_local(client, k + 1), x_local(client, k) - beta * (slope + delayed(k) - both(component[client, j].grad(x(t))))
    ),
    "x_{t,k+1}^i = x_{t,k}^i - beta (grad h~(x_t) + grad h~_i'(x_{t,k}^i) - grad h~_i(x_t)).",
)
TABLE = setting("tau of (67)", at_most(tau(client, k, j), k), "A table holds no gradient of a later step.")
ROUND = setting("(68)", equal(x(t + 1), x_next), "x_{t+1} = x_t - beta grad h~(x_t) - beta S~.")

union = Tracked(component, both, x(t), x_local, tau, (LOCAL_START, LOCAL_STEP, TABLE), ("kept",))
#: e_t: how far the sum S~ is from E times the gradient at x_t.
error = union.deviation
h = sequence("union_loss", r"\tilde h(x_{@})", lambda t: clients(both(component[i, j](x(t)))))
grad_h = sequence(
    "grad_union", r"{\|\nabla\tilde h(x_{@})\|}", lambda t: norm(clients(both(component[i, j].grad(x(t)))))
)
least = symbol("min_grad_union2", r"\min_{t<T}\|\nabla\tilde h(x_t)\|^2", Least(s, T, unfold(grad_h(s)) ** 2))
printed_sum = symbol(
    "printed_sum", r"{\left[\sum_{t=0}^{T-1}(\tilde h(x_0)-\tilde h(x_T))\right]}", sum_over(s, T)(unfold(h(0) - h(T)))
)
round_sum = sequence(
    "round_sum",
    r"{\left[\sum_{t<@}(\tilde h(x_t)-\tilde h(x_{t+1}))\right]}",
    lambda count: sum_over(s, count)(unfold(h(s) - h(s + 1))),
)
# h~ by total sizes, (|M| f_memory + |C| g) / (|M| + |C|), which is (3) on memory and current data: it has s in place of
# s_i = s + off_i, and so off_i (f_memory,i - g_i) less of each client.
off = sequence("share_off", "(s_{@}-s)", real=True)
apart = function("union_apart", r"(f_{@}^\dagger-g_{@})")
h_sizes = sequence(
    "union_loss_by_sizes",
    r"\tilde h^{(3)}(x_{@})",
    lambda t: clients(both(component[i, j](x(t))) - off(i) * apart[i](x(t))),
)
grad_h_sizes = sequence(
    "grad_union_by_sizes",
    r"{\|\nabla\tilde h^{(3)}(x_{@})\|}",
    lambda t: norm(clients(both(component[i, j].grad(x(t))) - off(i) * apart[i].grad(x(t)))),
)
least_sizes = symbol(
    "min_grad_by_sizes2", r"\min_{t<T}\|\nabla\tilde h^{(3)}(x_t)\|^2", Least(s, T, unfold(grad_h_sizes(s)) ** 2)
)
share_spread = symbol("share_spread", r"{\left[\sum_i p_i(s_i-s)^2\right]}", clients(off(i) ** 2))

STEP = Fact("beta", equal(beta, 1 / (30 * L * E)), "beta = 1/(30 L E).")
QUARTER = Fact("range", at_most(beta * L * E, sp.Rational(1, 4)), "beta <= 1/(4 L E), as (71) says.")
LOCAL_STEPS = Fact("E", at_most(1, E), "E is at least 1.")
ROUNDS = Fact("T", at_most(1, T), "T is at least 1.")
_ALIKE = "Every client's share s_i = |M^i| / (|M^i| + |C^i|) is the total share s = |M| / (|M| + |C|)."
EQUAL_SHARES = Fact("equal shares", equal(share_spread, 0), _ALIKE)
