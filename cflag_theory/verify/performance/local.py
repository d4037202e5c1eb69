"""The exact worst case of C-FLAG's local steps by performance estimation: Lemmas 13, 15, 16 and Corollary 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.on_the_line import Component, exact_run, on_the_line
from cflag_theory.verify.instances.paths import Round as SimulatedRound
from cflag_theory.verify.instances.paths import walk
from cflag_theory.verify.instances.recursions import LocalWorst, check_size, local_worst
from cflag_theory.verify.performance.pose import Pose, Posed, positive, step_size
from cflag_theory.verify.performance.results import Bound, WorstCase
from cflag_theory.verify.performance.rounds import Round, Rule, World, as_orders, check_rounds, mean, play, weighted

DRIFT, ERROR, GRADIENTS, ERRORS = QUANTITIES = ("drift", "iag_error", "sum_gradients", "sum_errors")


def solve_local_steps(
    *,
    n: int,
    E: int,
    step: Fraction | float,
    order: Any,
    quantity: str = DRIFT,
    k: int | None = None,
    rounds: int = 1,
    unit: str = "first",
    drift_limit: Fraction | float | None = None,
    settings: Mapping[str, Any] | None = None,
) -> WorstCase:
    """The worst case of a client's local steps (67) in the last of one to four rounds of (67)-(68).

    One client with n components, whose delayed gradients are full at k = 0 and refresh component order[k] at every
    k >= 1. The server moves by -beta (grad h~(x_t) + S), as (68) prints it.

    Hypotheses: every component has an L-Lipschitz gradient, in any dimension, and is otherwise arbitrary, convex or
    not; nothing is assumed of the step size.

    Parameters
    ----------
    n, E : int
        Components and local steps, at least 1.
    step : Fraction or float
        beta L E, at least 1/1000.
    order : sequence of E int, or (rounds, 1, E) array of int
        The refreshed components, from 0 to n - 1; the entry at k = 0 is not read. E indices hold for every round.
    quantity : {"drift", "iag_error", "sum_gradients", "sum_errors"}
        ||x_{t,k} - x_t|| in units of beta times the gradient (Lemma 13); ||e_{t,k}|| (Lemma 12, Corollary 14),
        ||sum_k grad h~(x_{t,k})|| (Lemma 15) and ||sum_k e_{t,k}|| (Lemma 16) in units of the gradient.
    k : int, optional
        Local step, 1 to E for "drift" and 1 to E - 1 for "iag_error"; E - 1 by default, and 1 where E = 1.
    rounds : int
        T, from 1 to 4.
    unit : {"first", "own"}
        Whether the gradient of the units is grad h~(x_0) or that of the last round, grad h~(x_{T-1}). The rounds
        before then restrict nothing, and "own" equals T = 1.
    drift_limit : Fraction or float, optional
        For "iag_error" with T = 1: assume moreover that L ||x_{t,b} - x_t|| is at most this for all b < k, in units of
        the gradient, as Lemma 12 reckons. No closed form is known then.
    settings : mapping, optional
        Handed to Clarabel.

    Returns
    -------
    WorstCase
        With the closed form, and the paper's bound where its range of step sizes covers `step` and its gradient is
        that of the unit.
    """
    n, E, rounds = check_size("n", n, 1), check_size("E", E, 1), check_rounds("rounds", rounds)
    if quantity not in QUANTITIES:
        raise UnknownName(f"quantity {quantity!r} is unknown: use one of {', '.join(QUANTITIES)}")
    if unit not in ("first", "own"):
        raise UnknownName(f"unit {unit!r} is unknown: use 'first' or 'own'")
    size = step_size(step)
    at = _local_step(quantity, k, E)
    limit = None if drift_limit is None else positive("drift_limit", drift_limit)
    if limit is not None and (quantity != ERROR or rounds != 1):
        raise InvalidInput(f"drift_limit is {drift_limit}: it goes with quantity 'iag_error' and one round")
    orders = as_orders(order, n=n, E=E, rounds=rounds)
    b = size / E
    rule = Rule(delayed=True, tracking=True, server_gradient=True, beta=float(b), E=E, p=(1.0,))
    # The quantity is divided by what it is for small steps, so that the solver sees numbers near 1.
    natural = {DRIFT: b * at, ERROR: b * at, GRADIENTS: Fraction(E), ERRORS: b * E * max(E - 1, 1)}[quantity]
    unit_of = {DRIFT: b}.get(quantity, Fraction(1))

    def pose(world: World) -> Posed:
        played = play(world, rule, orders, (n,))
        grad = played[-1 if unit == "own" else 0].gradient
        vector = (1 / float(natural)) * _vector(world, played[-1], quantity, at, n)
        bounded = [world.dot(grad, grad) - 1]
        if limit is not None:
            earlier = [float(1 / limit) * point for point in played[0].points[0][1:at]]
            bounded += [world.dot(point, point) - 1 for point in earlier]
        return [world.dot(vector, vector)], bounded

    posed = Pose((n,), (float(b),), pose, float(natural / unit_of), root=True)
    closed = closed_local_steps(orders, n=n, b=b, quantity=quantity, k=at, unit=unit) / unit_of

    def simulate() -> Fraction:
        found = concave_rounds(orders, n=n, b=b)
        (path,) = found.paths
        value = {
            DRIFT: path.drift[at],
            ERROR: path.error[min(at, E - 1)],
            GRADIENTS: abs(found.rho_sum[0]),
            ERRORS: abs(found.error_sum[0]),
        }[quantity]
        # ||grad h~(x_0)|| is 1.
        return Fraction(value) / unit_of / (abs(found.grad_g[0]) if unit == "own" else 1)

    numbers: dict[str, Any] = {"n": n, "E": E, "T": rounds, "beta L E": size}
    if quantity in (DRIFT, ERROR):
        numbers["k"] = at
    above = _paper(quantity, size, E, at) if unit == "own" or rounds == 1 else None
    if limit is not None:
        numbers["drift_limit"] = limit
        above = Bound(size * (1 + 3 * limit), "Lemma 12, (91)")
    gradient = "||grad h~(x_0)||" if unit == "first" or rounds == 1 else f"||grad h~(x_{rounds - 1})||"
    return WorstCase(
        quantity=quantity,
        unit=f"beta {gradient}" if quantity == DRIFT else gradient,
        hypotheses=(
            "every component has an L-Lipschitz gradient, convex or not",
            "one client; the order of refreshes is given",
        ),
        setting=numbers,
        orders=orders,
        posed=posed,
        solution=posed.solve(settings),
        above=above,
        closed=Bound(closed, "d_{k+1} = d_k + beta (1 + L mean_j d_{tau_j})") if limit is None else None,
        simulate=simulate if limit is None else None,
        simulated="concave components, simulated in fractions",
    )


def closed_local_steps(orders: Ints, *, n: int, b: Fraction, quantity: str, k: int, unit: str = "first") -> Fraction:
    """The worst case of `solve_local_steps` by the recursion of its drift, exactly; L = 1 and beta = b.

    In units of the gradient, also for "drift". A round of (67)-(68) changes the gradient by at most L times the
    length of its step, beta (||grad h~|| + ||S||), and the concave quadratic attains that too.
    """
    last = _recursion(orders[-1, 0], n, b)
    grown = Fraction(1)
    if unit == "first":
        for row in orders[:-1, 0]:
            grown *= 1 + b + _recursion(row, n, b).drift[-1]
    value = {
        DRIFT: last.drift[k],
        ERROR: last.error[min(k, last.local_steps - 1)],
        GRADIENTS: last.gradient_sum,
        ERRORS: last.error_sum,
    }[quantity]
    return value * grown


def concave_rounds(orders: Ints, *, n: int, b: Fraction) -> SimulatedRound:
    """The last round of (67)-(68) on components -x^2/2 - x, from x_0 = 0, exactly; L = 1 and beta = b.

    Memory holds the same components as the current data, so that with alpha = beta the server update is (68).

    Parameters
    ----------
    orders : (T, 1, E) array of int
        The component that is refreshed at each local step.
    """
    concave: list[list[Component]] = [[(-1, 1)] * n]
    problem = on_the_line(concave, concave, start=0, L=1)
    T, _, E = orders.shape
    if T > 1:
        trace = exact_run(problem, alpha=b, beta=b, local_steps=E, rounds=T - 1, orders=orders[:-1])
        assert trace.iterates is not None
        problem = replace(problem, start=trace.iterates[0, -1])
    return walk(problem, beta=b, orders=orders[-1])


def _recursion(row: Sequence[int] | Ints, n: int, b: Fraction) -> LocalWorst:
    return local_worst([int(j) for j in row[1:]], n=n, step=b)


def _local_step(quantity: str, k: int | None, E: int) -> int:
    most = E if quantity == DRIFT else E - 1
    if quantity == ERROR and E == 1:
        raise InvalidInput("E is 1: at k = 0 the delayed gradient is the full one, so that its error needs E >= 2")
    if k is None:
        return max(1, E - 1)
    if quantity not in (DRIFT, ERROR):
        raise InvalidInput(f"k is {k} and {quantity!r} is a sum over k: leave k out")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= most:
        raise InvalidInput(f"k is {k!r}: use 1 to {most} for {quantity!r} with E = {E}")
    return k


def _vector(world: World, last: Round, quantity: str, k: int, n: int) -> Any:
    (points,), (estimates,) = last.points, last.estimates
    if quantity == DRIFT:
        return points[k] - last.start

    def full(step: int) -> Any:
        return mean([world.gradient(0, j, points[step]) for j in range(n)])

    if quantity == ERROR:
        return estimates[k] - full(k)
    ones = [1.0] * len(estimates)
    total = weighted(ones, [full(step) for step in range(len(estimates))])
    return total if quantity == GRADIENTS else weighted(ones, estimates) - total


def _paper(quantity: str, step: Fraction, E: int, k: int) -> Bound | None:
    """The paper's bound in the unit of the quantity, within its range of step sizes."""
    quarter, twelfth = step <= Fraction(1, 4), step <= Fraction(1, 12)
    if quantity == DRIFT and quarter and k < E:
        return Bound(Fraction(4 * k), "Lemma 13, (110)")
    if quantity == ERROR and twelfth:
        return Bound(2 * step, "Corollary 14, (127)")
    if quantity == GRADIENTS and quarter:
        return Bound((4 * step + 1) * E, "Lemma 15 (I), (131)")
    if quantity == ERRORS and twelfth:
        return Bound(2 * step * E, "Lemma 16, (146)")
    return None
