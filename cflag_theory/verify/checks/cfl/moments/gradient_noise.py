"""Drifts given by all their equally likely draws, on the line and exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.moments import gradient_noise as claim
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, eta_g
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)
Signs = tuple[int, ...]


@dataclass(frozen=True)
class Draw:
    """grad f at the iterate, delta_{tau,i} and xi_{tau,i} by round, of one draw."""

    slope: Fraction
    client: tuple[Fraction, ...]
    time: tuple[Fraction, ...]

    def local(self, tau: int) -> Fraction:
        """grad f_{tau,i} by (5)."""
        return self.slope - self.client[tau] - self.time[tau]


def mean(numbers: Sequence[Fraction]) -> Fraction:
    """The mean of equally likely numbers."""
    return sum(numbers, Fraction(0)) / len(numbers)


def moments(draws: Sequence[Draw], p: Sequence[Fraction]) -> dict[Any, Fraction]:
    """Every second moment of the rows, as the mean over the draws."""
    assert sum(p) == 1
    rounds = range(len(p))
    client = [sum((p[r] * d.client[r] for r in rounds), Fraction(0)) for d in draws]
    time = [sum((p[r] * d.time[r] for r in rounds), Fraction(0)) for d in draws]
    squares = sum((p[r] ** 2 * mean([d.time[r] ** 2 for d in draws]) for r in rounds), Fraction(0))
    time_sum2 = mean([x**2 for x in time])
    client_squares = sum((p[r] ** 2 * mean([d.client[r] ** 2 for d in draws]) for r in rounds), Fraction(0))
    most_client2 = max(mean([d.client[r] ** 2 for d in draws]) for r in rounds)
    mixed2 = mean([sum((p[r] * d.local(r) for r in rounds), Fraction(0)) ** 2 for d in draws])
    cross = mean([d.slope * (x + y) for d, x, y in zip(draws, client, time, strict=True)])
    between = mean([x * y for x, y in zip(client, time, strict=True)])
    return {
        claim.grad2: mean([d.slope**2 for d in draws]),
        claim.local2: mean([d.local(len(p) - 1) ** 2 for d in draws]),
        claim.noise_cross: mean([d.slope * (d.client[-1] + d.time[-1]) for d in draws]),
        claim.local_between: mean([d.client[-1] * d.time[-1] for d in draws]),
        claim.mixed2: mixed2,
        claim.expanded2: mean([d.slope**2 for d in draws]),
        claim.meant2: mean([(d.slope + x + y) ** 2 for d, x, y in zip(draws, client, time, strict=True)]),
        claim.once2: mixed2,
        claim.client2: most_client2,
        claim.each_client2: most_client2,
        claim.time2: max(mean([d.time[r] ** 2 for d in draws]) for r in rounds),
        claim.clients_correlated: mean([x**2 for x in client]) - client_squares,
        claim.time_sum2: time_sum2,
        claim.squares: squares,
        claim.correlated: time_sum2 - squares,
        claim.drift_cross: cross,
        claim.once_cross: cross,
        claim.between: between,
        claim.once_between: between,
        claim.weights2: sum((x**2 for x in p), Fraction(0)),
        claim.pairs: 1 - sum((x**2 for x in p), Fraction(0)),
    }


def shown(p: Sequence[Fraction]) -> str:
    """Weights in a story."""
    return ", ".join(map(str, p))


def aggregation_points() -> Iterator[Point]:
    """One step of gradient descent on w^2/2 at two clients."""
    for w, means, step in ((1, _HALF, 1), (1, _HALF, _HALF), (2, 3, Fraction(2, 3))):
        words = (
            f"w_t = {w}, the clients' models have the mean {means}, so that the mean update is {means - w}, and eta_g "
            f"= {step}: the left "
            "side is w_{t+1} as printed, the right side (1 - eta_g) w_t + eta_g times that mean."
        )
        yield Point({claim.w: w, claim.w_mean: means, claim.update: means - w, eta_g: step}, (words,))


def lemB1_points() -> Iterator[Point]:
    """varsigma_i = s_1 A grad f + s_2 B with independent fair signs."""
    for A, B, slope in ((2, 0, 1), (2, _HALF, 1), (_HALF, 2, 3), (0, 3, 1), (1, 1, 2), (_HALF, _HALF, 1)):
        draws = [s * Fraction(A) * slope + r * Fraction(B) for s, r in product((1, -1), repeat=2)]
        second = mean([(slope - x) ** 2 for x in draws])
        values = {
            claim.A: A,
            claim.B: B,
            claim.grad2: slope**2,
            claim.noise2: mean([x**2 for x in draws]),
            claim.noise_cross: mean([slope * x for x in draws]),
            claim.local2: second,
        }
        yield Point(values, (f"grad f = {slope}, varsigma = +-{A} grad f +- {B} with independent fair signs.",))


def drifting(G: Any, B: Any, D: Any, A: Any, slope: Any, *, once: bool = False) -> list[Draw]:
    """Two rounds at a fixed w: delta = +-G +- B grad f, xi = +-D +- A grad f, independent signs; delta anew or not."""
    clients = 2 if once else 1
    found = []
    for signs in product((1, -1), repeat=2 * (clients + 2)):
        pairs = list(zip(signs[::2], signs[1::2], strict=True))
        client = tuple(Fraction(s * G + r * B * slope) for s, r in pairs[:clients])
        time = tuple(Fraction(s * D + r * A * slope) for s, r in pairs[clients:])
        found.append(Draw(Fraction(slope), client if once else client * 2, time))
    return found


def squared(G: Any, B: Any, D: Any, A: Any) -> dict[Any, Any]:
    """Assumption 3's constants."""
    return {G2: G**2, B2: B**2, D2: D**2, A2: A**2}


_DIALS = ((1, 0, 1, 0, 1), (1, 2, 3, 1, 1), (0, 1, 0, 1, 2), (2, _HALF, 1, 3, 1), (1, 1, 0, 0, 1))
_WEIGHTS = ((_HALF, _HALF), (Fraction(1, 3), Fraction(2, 3)), (-_HALF, 3 * _HALF), (Fraction(0), Fraction(1)))


def lemB2_points() -> Iterator[Point]:
    """Two rounds at a fixed w, with weights of either sign; FedAvg is the last of them."""
    for dials in _DIALS:
        for once in (False, True):
            draws, _anew = drifting(*dials, once=once), " anew every round" if once else ""
            for p in _WEIGHTS:
                found = moments(draws, p)
                values = {**found, **squared(*dials[:4])}
                yield Point(values, part="3" if once else "2")
                if not once:
                    yield Point(values, part="1")
                    yield Point(values, (f"G, B, D, A, grad f = {', '.join(map(str, dials))}; p = {shown(p)}.",), "4")


#: 1 above 150, -1 below 146, of slope 1/2 between: f_i' = w - s turning(w) has slopes in [1/2, 3/2].
def turning(w: Fraction) -> Fraction:
    """The drift of the instance of cfl.lemB2_use, up to its sign s."""
    return max(Fraction(-1), min(Fraction(1), (w - 148) / 2))


def _step(w: Fraction, drift: Fraction, K: int) -> Fraction:
    step = Fraction(1, 30)
    # eta_l <= (sqrt(3 + 4 c) - sqrt(4 c))/(6 K L sqrt(c)) of Theorem 4.1, with c = 1 + A^2 + B^2 = 1 and L = 3/2.
    assert (6 * K * Fraction(3, 2) * step + 2) ** 2 <= 7
    return w - step * (w - drift)


def lemB2_use_points() -> Iterator[Point]:
    """Drifts that turn round on the way, offsets that do not, and drifts that are drawn after the iterate."""
    start, law = Fraction(150), "f = w^2/2, drifts s clip((w - 148)/2, -1, 1) with fair signs s; w_1 = 150, eta = 1/30."
    turned, timed, offset, fresh = [], [], [], []
    for s, r in product((1, -1), repeat=2):
        w = _step(start, s * turning(start), 2)
        turned.append(Draw(w, (s * turning(w),) * 2, (Fraction(0),) * 2))
        timed.append(Draw(w, (Fraction(0),) * 2, (s * turning(w), r * turning(w))))
        moved = _step(start, Fraction(s), 2)
        offset.append(Draw(moved, (Fraction(s),) * 2, (Fraction(0), Fraction(0))))
        fresh.append(Draw(w, (Fraction(0),) * 2, (s * turning(w), r * turning(w))))
    client, time = squared(1, 0, 0, 0), squared(0, 0, 1, 0)
    even, last = (_HALF, _HALF), (Fraction(0), Fraction(1))
    cases: tuple[tuple[str, list[Draw], Sequence[Fraction], Mapping[Any, Any], str | None], ...] = (
        ("Time drifts, exact memory, K = 1, at w_2.", timed, even, time, "1"),
        ("Client drift, K = 1, at w_2.", turned, even, client, "1"),
        ("Client drift, K = 2, t = 1, at w_{1,i,1}.", turned, last, client, "2"),
        ("The offset s in place of the turning drift.", offset, even, client, None),
        ("Time drifts, FedAvg: that of round 2 is drawn after w_2.", fresh, last, time, "1"),
    )
    for words, draws, p, constants, part in cases:
        found = moments(draws, p)
        story = (
            f"{words} {law}",
            f"p = {shown(p)}.",
        )
        yield Point({**found, **constants}, story, part)


CHECKS = {
    "cfl.aggregation": Check(aggregation_points),
    "cfl.lemB1": Check(lemB1_points),
    "cfl.lemB2": Check(lemB2_points),
    "cfl.lemB2_use": Check(lemB2_use_points),
}
