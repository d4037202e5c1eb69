"""What our theorems for the CFL paper predict at given numbers; its own rates are O(.) and have no number.

All are about additive drifts (A = B = 0) and N clients that all take part in every round. The sums of round weights
are put in at their largest over the rounds: sum p_tau^2 = 1 in the first round, the part of past rounds in the second,
1 - p_t in the last.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.nonconvex import descent as printed_nonconvex
from cflag_theory.claims.cfl.nonconvex.ours import rate as nonconvex
from cflag_theory.claims.cfl.one_round.ours import round as one_round
from cflag_theory.claims.cfl.one_round.ours.local_drift import rms_loss
from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates.ours import strongly_convex as convex
from cflag_theory.claims.cfl.step_sizes import CONDITIONS, OUR_CONDITIONS
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, T, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels import RoundWeights
from cflag_theory.studies.stepsize.best_rates import allowed, lowest, rounds_to
from cflag_theory.studies.stepsize.evaluate import Values, met, needed, number
from cflag_theory.studies.stepsize.predicted import Bound, Theorem, defined, right_of, statement

HELD = "eta held"
RELATIONS = {condition.name: condition.relation for condition in CONDITIONS + OUR_CONDITIONS}
distance, gap = sp.symbols("distance gap", nonnegative=True)
#: Symbols of the numbers that only bounds use, and their squares.
INPUTS = {"N": N, "distance": distance, "gap": gap}
SQUARES = {"G": G2, "D": D2, "R": R2, "sigma": sigma2}
#: What theorems need besides conditions on the step sizes.
BESIDE = ("mu > 0", "K = 1", "A = B = 0", "FedAvg")
_LOCAL = ("eta <= 1/(2L)", "20 K^2 eta_l^2 L^2 <= 1")


@cache
def cfl_theorems() -> tuple[Theorem, ...]:
    """All proved rates with additive drifts, in L, mu, K, N, T, the step sizes, `INPUTS` and `SQUARES`."""
    bias_parts = statement("ours.cfl_strongly_convex", "bias").definitions
    root = sp.sqrt(next(fact.relation.right for fact in bias_parts if fact.name == "drift"))
    bias = defined(bias_parts, "sum").subs(convex.drift_root, root).subs(convex.R, sp.sqrt(R2))
    # What is new in a round: the gradient noise, and a time drift whose weight is at most 1.
    new = (sigma2 + D2) / N
    V = G2 + D2 * printed_nonconvex.squares
    lost2 = printed_nonconvex.past**2 * R2
    errors = sp.expand(right_of("ours.cfl_round", "1"))
    put_in = {
        one_round.rms_error**2: V / N,
        one_round.spread: V,
        rms_loss**2: lost2,
    }
    second, third = errors.coeff(eta, 2).subs(put_in), (errors.coeff(eta, 3) * eta_g**2 / L).subs(put_in)
    local = right_of("ours.cfl_strongly_convex", "local").subs(
        {convex.q: 1 - mu * eta / 2, convex.bias2: V / N + lost2, convex.second: second, convex.third: third}
    )
    strongly = right_of("ours.cfl_strongly_convex", "rounds").subs({convex.r: 1 - mu * eta, convex.start: distance})
    error2 = right_of("ours.cfl_nonconvex", "3")
    along = {nonconvex.error2_mean: error2, nonconvex.error2: error2.subs(N, 1), nonconvex.fall: gap}
    apart, least, squares = "𝔼||w_T - w*||^2", "min 𝔼 f(w_t) - f*", "mean 𝔼||grad f||^2"
    strong, plain, one = "mu > 0", "A = B = 0", "K = 1"
    rows = (
        ("ours.cfl_strongly_convex", apart, strongly.subs(convex.v, new), (strong, one, "eta <= 2/(mu + L)"), "K = 1"),
        ("ours.cfl_strongly_convex", apart, local, (strong, "eta <= 1/(10L)", "eta_g >= 1"), "any K"),
        (
            "ours.cfl_general_convex",
            least,
            right_of("ours.cfl_general_convex", "rounds").subs(convex.v, new),
            (one, "eta <= 1/L"),
            "convex",
        ),
        ("ours.cfl_nonconvex", squares, right_of("ours.cfl_nonconvex", "1").subs(along), (one, "eta <= 1/L"), "K = 1"),
        ("ours.cfl_nonconvex", squares, right_of("ours.cfl_nonconvex", "2").subs(along), _LOCAL, "any K"),
        (
            "ours.cfl_fedavg_nonconvex",
            squares,
            right_of("ours.cfl_fedavg_nonconvex", "1").subs(along),
            ("FedAvg", *_LOCAL),
            "clients new in every round",
        ),
    )
    plugged = {convex.beta: bias, floors.start2: distance**2}
    return tuple(
        Theorem(
            id,
            "proved",
            quantity,
            partial(_same_symbols(right.subs(plugged)).subs, eta, K * eta_l * eta_g),
            (*conditions, plain),
            (HELD,),
            note,
        )
        for id, quantity, right, conditions, note in rows
    )


def _same_symbols(expression: sp.Expr) -> sp.Expr:
    """Claims that need mu > 0 or D > 0 have symbols of their own for them, which print alike."""
    known = {symbol.name: symbol for symbol in (mu, D2, R2, G2, sigma2, N, K, T)}
    return expression.subs({one: known[one.name] for one in expression.free_symbols if one.name in known})


def predictions(
    met_now: Mapping[str, bool],
    values: Values,
    given: Mapping[str, float],
    weights: RoundWeights,
    *,
    plain: bool,
    epsilon: float | None,
) -> tuple[Bound, ...]:
    """Every theorem at `values`, which conditions hold there being `met_now`.

    `given` are the numbers of `INPUTS` that are known, and of all of `SQUARES` before they are squared; sums over the
    rounds follow from the round `weights`; `plain` is whether A = B = 0.
    """
    known = known_values(values, given)
    beside = besides(values, weights, plain)
    holds = {**met_now, **beside}
    found = []
    for one in cfl_theorems():

        def value(rounds: int, one: Theorem = one) -> float:
            return number(one.right, known | {T: rounds} | sums(weights, rounds))

        def applies(rounds: int, one: Theorem = one) -> bool:
            names = [name for name in one.conditions if name in RELATIONS]
            return all(bool(met(RELATIONS[name], {**known, T: rounds})) for name in names)

        missing = needed(one.right) - set(known) - set(sums(weights, 1))
        needs = tuple(name for name, symbol in INPUTS.items() if symbol in missing)
        fails = tuple(name for name in one.conditions if not holds[name])
        now = None if needs or fails else value(int(values[T]))
        rounds = {}
        if epsilon is not None and not needs and all(holds[name] for name in one.conditions if name in beside):
            least = rounds_to(epsilon, applies, value)
            rounds = {} if fails and math.isinf(least) else {HELD: least}
        found.append(Bound(one.claim, one.kind, one.quantity, one.note, now, needs, fails, rounds))
    return tuple(found)


def besides(values: Values, weights: RoundWeights, plain: bool) -> dict[str, bool]:
    """Which of `BESIDE` hold."""
    facts = (values[mu] > 0, values[K] == 1, plain, weights.scheme == "current")
    return dict(zip(BESIDE, map(bool, facts), strict=True))


def known_values(values: Values, given: Mapping[str, float]) -> dict[Any, Any]:
    """All symbols of the theorems that have a value, but the sums of round weights."""
    known: dict[Any, Any] = {**values, **{INPUTS[name]: given[name] for name in INPUTS if name in given}}
    return known | {SQUARES[name]: given[name] * given[name] for name in SQUARES}


def round_weights(D: float, R: float) -> RoundWeights:
    """The weights of Lemma B.4, which only the ratio of D and R decides; FedAvg's where both are 0."""
    largest = max(D, R)
    if largest == 0:
        return RoundWeights("current")
    return RoundWeights("lemma B.4", D2=(D / largest) ** 2, R2=(R / largest) ** 2)


def sums(weights: RoundWeights, rounds: int) -> dict[sp.Symbol, float]:
    """Sums of round weights at their largest over `rounds` rounds."""
    past = 1.0 - float(weights.current(rounds))
    second = 1.0 - float(weights.current(2)) if rounds > 1 else 0.0
    return {
        printed_nonconvex.squares: 1.0,
        printed_nonconvex.past: past,
        convex.past: past,
        convex.shares2: second**2,
    }


# Range of eta L that is searched, and the eta_g that stands for the limit.
_ETA, _FREE = (1e-15, 4.0), 1e9


@dataclass(frozen=True)
class CFLBest:
    """The best step sizes for a target by one theorem."""

    #: The theorem.
    claim: str
    note: str
    #: "smallest bound" within the given rounds, "fewest rounds" at the given eta_g, or "limit", the fewest rounds: for
    #: any eta_g, where that is better.
    goal: str
    #: The choice, with eta = K eta_l eta_g; None where there is none.
    eta_l: float | None
    eta_g: float | None
    eta: float | None
    rounds: float | None
    #: The bound there; None where the target is not met.
    value: float | None


def cfl_best(theorem: Theorem, values: Values, weights: RoundWeights, epsilon: float) -> tuple[CFLBest, ...]:
    """Smallest bound within T rounds, fewest rounds at the given eta_g, and fewest rounds at any eta_g, by a theorem
    that applies but for conditions on the step sizes. `values` has every symbol of it but eta_l and the sums of round
    weights, which follow from `weights`.

    With K given, a bound has terms that fall as eta grows (the start is forgotten) and terms that rise (noise, drift),
    so there is one best eta_l for an eta_g. At the same eta = K eta_l eta_g a larger eta_g only shortens the local
    paths: so the best pair is a limit, eta_l -> 0 with eta held, in which the K local steps are one step on K draws.
    """

    @cache
    def range_of(g: float) -> tuple[float, float | None]:
        low, high = (one / (values[L] * values[K] * g) for one in _ETA)
        relations = [RELATIONS[name] for name in theorem.conditions if name in RELATIONS]
        return low, allowed(relations, {**values, eta_g: g}, eta_l, low, high)

    @cache
    def at(g: float, rounds: int) -> tuple[float | None, float]:
        low, high = range_of(g)
        if high is None:
            return None, math.inf
        here: dict[Any, Any] = {**values, eta_g: g, T: rounds, **sums(weights, rounds)}
        return lowest(theorem.right, here, eta_l, low, high)

    def row(goal: str, g: float, rounds: float) -> CFLBest:
        step, value = (None, math.inf) if math.isinf(rounds) else at(g, int(rounds))
        if step is None:
            return CFLBest(theorem.claim, theorem.note, goal, None, g, None, rounds, None)
        return CFLBest(theorem.claim, theorem.note, goal, step, g, values[K] * step * g, rounds, value)

    def fewest(g: float) -> float:
        return rounds_to(epsilon, lambda rounds: True, lambda rounds: at(g, rounds)[1])

    given = float(values[eta_g])
    found = (row("smallest bound", given, int(values[T])), row("fewest rounds", given, fewest(given)))
    if "K = 1" in theorem.conditions:
        # Nothing depends on eta_g there but by eta.
        return found
    free = row("limit", _FREE, fewest(_FREE))
    if free.rounds is None or found[1].rounds is None or not free.rounds < found[1].rounds:
        return found
    return (*found, CFLBest(free.claim, free.note, free.goal, 0.0, math.inf, free.eta, free.rounds, free.value))
