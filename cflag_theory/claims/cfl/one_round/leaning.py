"""Local steps that do not increase distances: their gradients do not lean along the noises that moved them.

Two runs of a client from the same point, one with noises of mean zero given all that came before, one without. P_k and
Q_k are the sums of their first k gradients and S_k that of the noises, so that after k steps the runs are apart by
-eta_l (P_k - Q_k + S_k).
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta_l
from cflag_theory.claims.cfl.vectors import (
    client,
    draw,
    fresh,
    j,
    local_gradient,
    noise,
    over_noises,
    over_past,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact, setting
from cflag_theory.claims.engine.notation import k, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Step
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

lipschitz = symbol("step_lipschitz", r"\mathrm{Lip}(x\mapsto x-\eta_l\nabla\bar{f}_{t,i}(x))", nonnegative=True)
#: ||x||^2 / 2 - eta_l f-bar_{t,i}(x), whose gradient is a local step without noise.
potential = function("step potential", r"\Phi_{@1}", smooth=lipschitz)

_calm = vector("noiseless iterate", r"\bar{x}_{@1,@2}")
_calm_gradient = vector("noiseless gradient", r"\bar{m}_{@1,@2}")
_m = vector("gradient of a step", "m_{@1,@2}")
_P = vector("sum of gradients", "P_{@1,@2}")
_Q = vector("sum of noiseless gradients", "Q_{@1,@2}")
_S = vector("sum of noises", "S_{@1,@2}")


def m(i: sp.Expr, k: sp.Expr) -> sp.Expr:
    """grad f-bar_{t,i} at w_{t,i,k}: the noiseless gradient of a step."""
    return _m(i, k, draw, fresh)


def P(i: sp.Expr, k: sp.Expr) -> sp.Expr:
    """The sum of a client's first k gradients."""
    return _P(i, k, draw, fresh)


def Q(i: sp.Expr, k: sp.Expr) -> sp.Expr:
    """The same of the run without noises."""
    return _Q(i, k, draw)


def S(i: sp.Expr, k: sp.Expr) -> sp.Expr:
    """The sum of its first k noises."""
    return _S(i, k, draw, fresh)


_calm_at, _calm_step = _calm(client, k, draw), _calm_gradient(client, k, draw)
changes = P(client, k) - Q(client, k)
_WORDS = "Partial sums along the run."
_START = tuple(
    setting(f"{name}_0 of a client", equal(one(client, 0), 0), "An empty sum.")
    for name, one in (("P", P), ("Q", Q), ("S", S))
)
_NEXT = (
    setting("P of a client", equal(P(client, k + 1), P(client, k) + m(client, k)), _WORDS),
    setting("Q of a client", equal(Q(client, k + 1), Q(client, k) + _calm_step), _WORDS),
    setting("S of a client", equal(S(client, k + 1), S(client, k) + noise(client, k)), _WORDS),
)
PATH = setting(
    "local path", equal(x(client, k), w_t - eta_l * (P(client, k) + S(client, k))), "The local steps, summed."
)
_CALM_PATH = setting("noiseless path", equal(_calm_at, w_t - eta_l * Q(client, k)), "The same without noises.")
_STEPS = (
    setting(
        "noiseless step at the iterate",
        equal(potential[client, draw].grad(x(client, k)), x(client, k) - eta_l * m(client, k)),
        "A local step without noise.",
    ),
    setting(
        "noiseless step of the noiseless run",
        equal(potential[client, draw].grad(_calm_at), _calm_at - eta_l * _calm_step),
        "A local step without noise.",
    ),
)
GRADIENT = setting(
    "gradient of a step",
    equal(m(client, j), local_gradient(client, j)),
    "The gradient of a step is sum_tau p_{tau,i} grad f_{tau,i} less the information loss.",
)
CENTRED = setting("noises of a client", equal(over_noises(S(client, k)), 0), "Every noise has mean zero given w_t.")

NONEXPANSIVE = Fact(
    "nonexpansive",
    at_most(lipschitz, 1),
    "A noiseless local step does not increase distances; so it is if the approximated objectives are convex and "
    "L-smooth like f_{t,i} and eta_l <= 2/L.",
)


def expected(expr: sp.Expr) -> sp.Expr:
    """Over the noises of the round, and then over the past."""
    return over_past(over_noises(expr))


later = changes.xreplace({k: k + 1})
#: What the noises are.
RUNS = (
    Fact(
        "later noise",
        equal(expected(dot(later, noise(client, k))), 0),
        "The noise of step k + 1 has mean zero given P_{k+1} and Q_{k+1}, which the draws before it decide.",
        (client, k),
    ),
)


def no_leaning(name: str) -> tuple[Step, ...]:
    """𝔼<P_k - Q_k, S_k> <= 0 for every k and client, as `name`, from `NONEXPANSIVE` and `RUNS`."""
    apart = x(client, k) - _calm_at
    stepped = potential[client, draw].grad(x(client, k)) - potential[client, draw].grad(_calm_at)
    relation = at_most(2 * expected(dot(changes, S(client, k))) + expected(norm2(changes)), 0)
    total = changes + S(client, k)
    moved = total + m(client, k) - _calm_step
    at_start = 2 * dot(changes, S(client, k)) + norm2(changes)
    grown = at_start.xreplace({k: k + 1})
    return (
        Induction(
            "comparison",
            k,
            relation,
            (
                rules.rewrite("sums at the start", expected(at_start).subs({k: 0}), given=_START),
                Obligation("at the start", relation.subs({k: 0}), ("sums at the start",)),
            ),
            (
                rules.lipschitz("noiseless step", potential[client, draw], x(client, k), _calm_at),
                rules.rewrite("before the step", norm(apart), given=(PATH, _CALM_PATH)),
                rules.rewrite("after the step", norm(stepped), given=(*_STEPS, PATH, _CALM_PATH)),
                rules.norm_squared("distance before", total),
                rules.norm_squared("distance after", moved),
                Obligation(
                    "shorter",
                    at_most(norm(moved), norm(total)),
                    ("noiseless step", "before the step", "after the step", "nonexpansive"),
                ),
                Obligation(
                    "no farther",
                    at_most(norm2(moved), norm2(total)),
                    ("shorter", "distance before", "distance after"),
                ),
                rules.mean("no farther given the past", over_noises, given="no farther"),
                rules.mean("no farther in the mean", over_past, given="no farther given the past"),
                rules.rewrite("sums after the step", expected(grown), given=_NEXT),
                rules.rewrite("noise after the step", expected(dot(later, noise(client, k))), given=_NEXT),
                Obligation(
                    "after one more step",
                    relation.subs({k: k + 1}),
                    (
                        "comparison (hypothesis)",
                        "no farther in the mean",
                        "sums after the step",
                        "noise after the step",
                        "later noise",
                    ),
                ),
            ),
        ),
        rules.square("square", changes, over_noises, over_past),
        Obligation(name, at_most(expected(dot(changes, S(client, k))), 0), ("comparison", "square")),
    )
