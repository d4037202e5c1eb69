"""The exact worst case of FedAvg, FedTrack, CFL and (67)-(68) by performance estimation."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.verify.instances.recursions import check_size
from cflag_theory.verify.performance.pose import Pose, positive, step_size
from cflag_theory.verify.performance.results import WorstCase
from cflag_theory.verify.performance.rounds import as_orders, check_rounds
from cflag_theory.verify.performance.runs import CFL, NAMES, Case, ask_drift, ask_gradient

GRADIENT, DRIFT = QUANTITIES = ("gradient", "drift")


def solve_algorithm(
    name: str,
    *,
    N: int,
    n: int,
    E: int,
    T: int,
    step: Fraction | float,
    order: Any,
    quantity: str = GRADIENT,
    dissimilarity: Fraction | float | None = None,
    time_drift: Fraction | float = 0,
    loss: Fraction | float = 0,
    weights: Any = None,
    settings: Mapping[str, Any] | None = None,
) -> WorstCase:
    """The worst case of T rounds of an algorithm on F, the mean over N clients of the mean of their n components.

    Clients have equal weight and server_rate is 1; all is in units of L = 1.

    Hypotheses: every component has an L-Lipschitz gradient, in any dimension, and is otherwise arbitrary, convex or
    not; what `dissimilarity`, `time_drift` and `loss` say; and for "gradient" F(x_0) - F(x_T) <= 1, for "drift"
    ||grad F(x_{T-1})|| <= 1. Nothing is assumed of a minimum of F.

    Parameters
    ----------
    name : {"fedavg", "fedtrack", "cfl", "union"}
        "fedavg": a local step moves against the gradient of one component. "fedtrack": against the delayed gradient,
        with tracking, as C-FLAG without memory. "union": (67)-(68), where the server also moves by -beta grad h~(x_t)
        and F is h~. "cfl": as "fedavg" on the objective sum_{tau<=t} p_tau f_{tau,i} of client i in round t, with
        grad f_{tau,i} = grad f_i + xi_{tau,i}, the vectors xi constant. A local step takes the same component of all
        rounds. Every remembered gradient, tau < t, is off by a vector Delta_{tau,i}, the same at all x (Sec. 5.1.1);
        loss = 0 is exact memory, and approximations whose loss depends on x, as Taylor expansions, are not covered.
    N, n, E, T : int
        Clients, components of each, local steps, at least 1; rounds, 1 to 4.
    step : Fraction or float
        beta L E, at least 1/1000.
    order : sequence of E int, or (T, N, E) array of int
        The components that are used, from 0 to n - 1; for delayed gradients the entry at k = 0 is not read.
    quantity : {"gradient", "drift"}
        "gradient": min_{t<T} ||grad F(x_t)||^2 in units of L (F(x_0) - F(x_T)). "drift": the drift ||x_{t,E}^1 - x_t||
        of the first client in the last round in units of beta ||grad F(x_t)||.
    dissimilarity : number, optional
        ||grad f_{ij}(x_t) - grad F(x_t)|| is at most this positive number, for all components at the rounds' starts;
        nothing by default, with which "fedavg" and "cfl" are as a rule unbounded for N n > 1. In the unit of
        gradients: the root of L (F(x_0) - F(x_T)), or ||grad F(x_{T-1})|| for "drift".
    time_drift, loss : number
        For "cfl": bounds on ||xi_{tau,i}|| and ||Delta_{tau,i}||, not negative, in the same unit.
    weights : sequence of sequences of numbers, optional
        For "cfl": row t holds the weights of rounds 0, ..., t, not negative with sum 1; equal weights by default.
    settings : mapping, optional
        Handed to Clarabel.

    Returns
    -------
    WorstCase
        With a closed form where one is known.
    """
    if name not in NAMES:
        raise UnknownName(f"algorithm {name!r} is unknown: use one of {', '.join(NAMES)}")
    if quantity not in QUANTITIES:
        raise UnknownName(f"quantity {quantity!r} is unknown: use one of {', '.join(QUANTITIES)}")
    N, n, E, T = check_size("N", N, 1), check_size("n", n, 1), check_size("E", E, 1), check_rounds("T", T)
    size = step_size(step)
    apart = None if dissimilarity is None else positive("dissimilarity", dissimilarity)
    drift, lost = positive("time_drift", time_drift, zero=True), positive("loss", loss, zero=True)
    if name != CFL and (drift != 0 or lost != 0 or weights is not None):
        raise InvalidInput(f"{name!r} reads no time_drift, loss or weights: leave them out or use 'cfl'")
    orders = as_orders(order, n=n, E=E, clients=N, rounds=T)
    case = Case(name, N, n, E, T, size / E, apart, drift, lost, _shares(weights, T), orders)
    question = (ask_gradient if quantity == GRADIENT else ask_drift)(case)
    posed = Pose((n,) * N, (float(size),) * N, question.pose, question.scale, root=quantity == DRIFT)
    assumed = ["every component has an L-Lipschitz gradient, convex or not", question.hypothesis]
    numbers: dict[str, Any] = {"algorithm": name, "N": N, "n": n, "E": E, "T": T, "beta L E": size}
    for key, found, words in (
        ("dissimilarity", apart, "||grad f_ij(x_t) - grad F(x_t)||"),
        ("time_drift", drift, "||xi||"),
        ("loss", lost, "||Delta||"),
    ):
        if found:
            numbers[key] = found
            assumed.append(f"{words} <= {found}")
    return WorstCase(
        quantity=quantity,
        unit=question.unit,
        hypotheses=tuple(assumed),
        setting=numbers,
        orders=orders,
        posed=posed,
        solution=posed.solve(settings),
        above=question.above,
        closed=question.closed,
        simulate=question.simulate,
        simulated=question.simulated,
    )


def _shares(weights: Any, T: int) -> tuple[tuple[Fraction, ...], ...]:
    if weights is None:
        return tuple((Fraction(1, t + 1),) * (t + 1) for t in range(T))
    try:
        rows = tuple(tuple(positive("a weight", value, zero=True) for value in row) for row in weights)
    except TypeError:
        raise InvalidInput(f"weights are {weights!r}: give a row of numbers for each of the {T} rounds") from None
    for t, row in enumerate(rows):
        if len(row) != t + 1 or abs(sum(row, Fraction(0)) - 1) > Fraction(1, 10**12):
            raise InvalidInput(f"weights of round {t} are {weights[t]}: give {t + 1} numbers with sum 1")
    if len(rows) != T:
        raise InvalidInput(f"weights have {len(rows)} rows: give one for each of the {T} rounds")
    return rows
