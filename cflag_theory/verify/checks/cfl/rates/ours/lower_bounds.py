"""Second moments over every draw against the closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates.floors import apart2
from cflag_theory.claims.cfl.rates.ours import lower_bounds as claim
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.theorems import gaps
from cflag_theory.verify.checks.cfl.rates.weighted_means import loss
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Rows, current, even

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def _world(weights: Rows, *, start: Fraction = _ONE, eta_l: Fraction = _HALF, clients: int = 1) -> DriftRounds:
    return DriftRounds(weights, start=start, eta_l=eta_l, clients=clients, D=_ONE, G=_ONE)


WORLDS = (
    _world(even(3)),
    _world(even(4), eta_l=Fraction(3, 4), start=_HALF),
    _world(current(3), eta_l=Fraction(1, 3), start=Fraction(2)),
    _world(current(1)),
    _world(even(2), clients=2),
)


def _shares(world: DriftRounds) -> list[Fraction]:
    """What w_T holds of each round's drifts."""
    shares = [_ZERO] * world.rounds
    for row in world.weights:
        taken = [*row, *([_ZERO] * (world.rounds - len(row)))]
        shares = [(1 - world.eta) * held + world.eta * p for held, p in zip(shares, taken, strict=True)]
    return shares


def floor_points() -> Iterator[Point]:
    """Worlds with both drifts, and the start at which each floor is nearest."""
    for world in WORLDS:
        last, at = gaps(world)[-1], WorldRound(world)
        keep = (1 - world.eta) ** world.rounds
        shares = _shares(world)
        assert sum(shares) == 1 - keep
        squares = sum((share**2 for share in shares), _ZERO)
        for part, reach, own in (
            ("clients", world.G**2 / world.clients, (1 - keep) ** 2 * world.G**2 / world.clients),
            ("time", world.D**2 / (world.clients * world.rounds), squares * world.D**2 / world.clients),
        ):
            values: dict[Any, Any] = {
                floors.curvature: 1,
                claim.reach2: reach,
                **at.values(floors.start2, G2, D2, N, T),
                floors.gap(T): last,
                floors.keep(T): keep,
                floors.taken(T): 1 - keep,
                floors.squares(T): squares,
                floors.others(T): 2 * last - keep**2 * world.start**2 - own,
            }
            yield Point(values, part=part)
    yield from _attained()
    yield from _loss_points()
    yield from (_on_the_floor(*sizes) for sizes in ((1, 1), (1, 4), (2, 3)))


def _on_the_floor(clients: int, rounds: int) -> Point:
    """All signs of the time drifts D = 1 on w^2/2 from w_0 = 1/2: FedAvg with the steps 1/(t + 1 + s), s = 4/N."""
    start, delay = _HALF, Fraction(4, clients)
    ends = []
    for xi in product((_ONE, -_ONE), repeat=clients * rounds):
        w = start
        for t in range(rounds):
            step = 1 / (t + 1 + delay)
            w = (1 - step) * w + step * sum(xi[t * clients : (t + 1) * clients], _ZERO) / clients
        ends.append(w * w)
    last = sum(ends, _ZERO) / len(ends)
    values: dict[Any, Any] = {
        floors.curvature: 1,
        floors.start2: start**2,
        claim.reach2: Fraction(1, clients * rounds),
        claim.s: delay,
        D2: 1,
        N: clients,
        T: rounds,
        apart2(0): start**2,
        apart2(T): last,
        floors.gap(T): last / 2,
    }
    return Point(values, part="attained")


def _attained() -> Iterator[Point]:
    """One round with the step (h + g - g)/(h + g) attains both floors: with h = g = 1 it is 1/2."""
    for part, sizes in (("clients", {"G": _ONE}), ("time", {"D": _ONE})):
        world = DriftRounds(weights=current(1), start=_ONE, eta_l=_HALF, **sizes)  # type: ignore[arg-type]
        last, at = gaps(world)[-1], WorldRound(world)
        values: dict[Any, Any] = {
            floors.curvature: 1,
            claim.reach2: 1,
            **at.values(floors.start2, G2, D2, N, T),
            floors.gap(T): last,
            floors.keep(T): _HALF,
            floors.taken(T): _HALF,
            floors.squares(T): Fraction(1, 4),
            floors.others(T): 0,
        }
        yield Point(values, part=part)


def _loss_points() -> Iterator[Point]:
    """The weights of Lemma B.4 for D = R = 1 from the second round on, mean of the runs; and the fixed point."""
    least = loss(2, _ONE, _ONE)
    for start, rounds, pulls in (
        (Fraction(2), 5, [loss(t, _ONE, _ONE) for t in range(2, 7)]),
        (least, 3, [least] * 3),
    ):
        w = start
        for pulled in pulls:
            w = (1 - _HALF) * w + _HALF * pulled
        values: dict[Any, Any] = {
            floors.curvature: 1,
            T: rounds,
            claim.shift: least,
            claim.mean_at(0): start,
            claim.mean_at(T): w,
            claim.spread2(T): 0,
            claim.later_gap(T): w**2 / 2,
        }
        yield Point(values, part="loss")


CHECKS = {
    "ours.cfl_lower_bounds": Check(
        floor_points,
    )
}
