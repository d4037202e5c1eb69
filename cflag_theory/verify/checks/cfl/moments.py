"""Drifts given by all their equally likely draws on the line, shared or kept by chance; and softmax losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments import correlated_drifts, gradient_noise, information_loss
from cflag_theory.claims.cfl.symbols import A2, B2, C2, D2, F2, G2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_R = sp.Rational
_HALF = Fraction(1, 2)


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
        gradient_noise.grad2: mean([d.slope**2 for d in draws]),
        gradient_noise.local2: mean([d.local(len(p) - 1) ** 2 for d in draws]),
        gradient_noise.noise_cross: mean([d.slope * (d.client[-1] + d.time[-1]) for d in draws]),
        gradient_noise.local_between: mean([d.client[-1] * d.time[-1] for d in draws]),
        gradient_noise.mixed2: mixed2,
        gradient_noise.expanded2: mean([d.slope**2 for d in draws]),
        gradient_noise.meant2: mean([(d.slope + x + y) ** 2 for d, x, y in zip(draws, client, time, strict=True)]),
        gradient_noise.once2: mixed2,
        gradient_noise.client2: most_client2,
        gradient_noise.each_client2: most_client2,
        gradient_noise.time2: max(mean([d.time[r] ** 2 for d in draws]) for r in rounds),
        gradient_noise.clients_correlated: mean([x**2 for x in client]) - client_squares,
        gradient_noise.time_sum2: time_sum2,
        gradient_noise.squares: squares,
        gradient_noise.correlated: time_sum2 - squares,
        gradient_noise.drift_cross: cross,
        gradient_noise.once_cross: cross,
        gradient_noise.between: between,
        gradient_noise.once_between: between,
        gradient_noise.weights2: sum((x**2 for x in p), Fraction(0)),
        gradient_noise.pairs: 1 - sum((x**2 for x in p), Fraction(0)),
    }


def shown(p: Sequence[Fraction]) -> str:
    """Weights in a story."""
    return ", ".join(map(str, p))


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


def kept(keep: Sequence[int], rounds: int, *, apart: int | None = None) -> list[tuple[Fraction, ...]]:
    """Sign sequences by renewal: of keep[r] coins all must show heads for round r to keep the last sign.

    Round `apart` is drawn on its own, and the next one continues the round before it.
    """
    coins = sum(keep)
    found = []
    for flips in product((0, 1), repeat=coins + rounds):
        signs = [2 * flip - 1 for flip in flips[coins:]]
        at, last, sequence = 0, 0, []
        for r in range(rounds):
            stays = r > 0 and r != apart and all(flips[at : at + keep[r]])
            sign = last if stays else signs[r]
            at += keep[r]
            if r != apart:
                last = sign
            sequence.append(Fraction(sign))
        found.append(tuple(sequence))
    return found


def _chain(slope: Any, size: Any, keep: Sequence[int], rounds: int, apart: int | None = None) -> list[Draw]:
    return [
        Draw(Fraction(slope), (Fraction(0),) * rounds, tuple(size * x for x in row))
        for row in kept(keep, rounds, apart=apart)
    ]


def clipped(w: Fraction) -> Fraction:
    """clip(w, -1, 1)/2: at most half of |grad f| = |w|, and its square at most 1/4."""
    return max(Fraction(-1), min(Fraction(1), w)) / 2


def lemB7_points() -> Iterator[Point]:
    """A drift that is shared by the rounds and in proportion to grad f, where F > D; then chains with F <= D."""
    model = "f = w^2/2 at w = 1, so grad f = 1; "
    cases: tuple[tuple[str, list[Draw], Mapping[Any, Any]], ...] = (
        (
            f"{model}xi_1 = xi_2 = s clip(w, -1, 1)/2 with one fair sign, so that f_i' = w - xi has slopes from 1/2 to "
            "3/2: at every w A = F = 1/2, D = C = 0",
            [Draw(Fraction(1), (Fraction(0),) * 2, (s * clipped(Fraction(1)),) * 2) for s in (1, -1)],
            {**squared(0, 0, 0, _HALF), F2: _HALF**2, C2: 0},
        ),
        (
            f"{model}xi_tau = +-1, kept with probability 1/2: D = 1, F^2 = 1/2",
            _chain(1, 1, (0, 1), 2),
            {**squared(0, 0, 1, 0), F2: _HALF, C2: 0},
        ),
        (
            "grad f = 2, xi_1 = xi_2 = s grad f with one fair sign: A = C = 1, D = F = 0",
            [Draw(Fraction(2), (Fraction(0),) * 2, (Fraction(2 * s),) * 2) for s in (1, -1)],
            {**squared(0, 0, 0, 1), F2: 0, C2: 1},
        ),
        (
            "grad f = 1, delta = +-2, xi_tau = +-1 independent, F = 3 > D = 1",
            drifting(2, 0, 1, 0, 1),
            {**squared(2, 0, 1, 0), F2: 9, C2: 0},
        ),
    )
    for words, draws, constants in cases:
        for p in ((_HALF, _HALF), (Fraction(1, 4), Fraction(3, 4))):
            found = moments(draws, p)
            F, C, D = (Fraction(constants[name]) for name in (F2, C2, D2))
            more = {
                correlated_drifts.least_FD: min(F, D),
                correlated_drifts.pair_F: F * found[gradient_noise.pairs],
                correlated_drifts.pair_C: C * found[gradient_noise.pairs],
                correlated_drifts.pair_least: min(F, D) * found[gradient_noise.pairs],
            }
            yield Point({**found, **constants, **more}, (f"{words}; p = {shown(p)}.",), "1", _rounds(found, len(p)))


def lemB10_points() -> Iterator[Point]:
    """Lemma B.7's instances, and Table 2's third row of weights with one round that is independent of the others."""
    yield from lemB7_points()
    p = [Fraction(n, 38) for n in (10, 5, -3, 26)]
    bounds = {(a, b): _HALF ** abs(a - b) for a in range(4) for b in range(4) if a != b}
    pair_F = sum(p[a] * p[b] * bound for (a, b), bound in bounds.items())
    for words, draws in (
        ("xi_3 independent of the others", _chain(1, 1, (0, 1, 0, 2), 4, apart=2)),
        ("every correlation as large as Assumption 7 allows", _chain(1, 1, (0, 1, 1, 1), 4)),
    ):
        for (a, b), most in bounds.items():
            assert 0 <= mean([d.time[a] * d.time[b] for d in draws]) <= most, words
        found = moments(draws, p)
        story = (
            f"grad f = 1, xi_tau = +-1, alpha = 1/2, D = 1, {words}; p = {shown(p)} (Table 2, third row, R = 1).",
            f"{len(draws)} draws; each 𝔼<xi_1, xi_2> is at most alpha^|tau_1 - tau_2|.",
        )
        more = {correlated_drifts.pair_F: pair_F, correlated_drifts.pair_C: 0, correlated_drifts.pair_least: pair_F}
        yield Point({**found, **squared(0, 0, 1, 0), **more}, story, "2", _rounds(found, len(p)))


def _rounds(found: dict[Any, Any], rounds: int) -> dict[str, list[dict[Any, Any]]]:
    """The client drift of every round: it is drawn once."""
    return {"client drift": [{gradient_noise.client2: found[gradient_noise.client2]}] * rounds}


@dataclass(frozen=True)
class Softmax:
    """Logits z_c = ln q_c + first_c w + second_c w^2/2 at w = 0, so that p_c is q_c there; labels of the data."""

    p: tuple[sp.Rational, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    labels: tuple[int, ...]

    def derivatives(self, label: int) -> tuple[sp.Expr, sp.Expr]:
        """First and second derivative at w = 0 of the loss with this label, by differentiation."""
        w = sp.Symbol("w", real=True)
        logits = [
            sp.log(q) + a * w + sp.Rational(b, 2) * w**2
            for q, a, b in zip(self.p, self.first, self.second, strict=True)
        ]
        loss = sp.log(sp.Add(*map(sp.exp, logits))) - logits[label]
        return sp.simplify(sp.diff(loss, w).subs(w, 0)), sp.simplify(sp.diff(loss, w, 2).subs(w, 0))


CASES = (
    Softmax((_R(1, 2), _R(1, 2)), (0, 0), (2, 0), (0,)),
    Softmax((_R(1, 2), _R(1, 2)), (1, 0), (0, 0), (0, 1)),
    Softmax((_R(2, 3), _R(1, 3)), (1, 0), (0, 0), (0,)),
    Softmax((_R(1, 2), _R(1, 3), _R(1, 6)), (1, 0, -2), (0, 0, 0), (0, 2)),
    Softmax((_R(1, 2), _R(1, 3), _R(1, 6)), (1, 0, -2), (1, 3, 0), (1,)),
)


def _values(case: Softmax) -> dict[Any, Any]:
    """Fisher information, sums over the classes, and the loss of the data's labels at one input."""
    found = [case.derivatives(c) for c in range(len(case.p))]
    bends = sp.Add(*(q * b for q, b in zip(case.p, case.second, strict=True)))
    data = [found[label] for label in case.labels]
    slope = sp.Add(*(q * a for q, a in zip(case.p, case.first, strict=True)))
    return {
        information_loss.mean_fisher: sp.Add(*(q * first**2 for q, (first, _) in zip(case.p, found, strict=True))),
        information_loss.squared_slopes: slope**2,
        information_loss.slopes2: sp.Add(*(q * a**2 for q, a in zip(case.p, case.first, strict=True))),
        information_loss.mean_bend: bends - sp.Add(*(case.second[label] for label in case.labels)) / len(data),
        information_loss.gradient: sp.Add(*(first for first, _ in data)) / len(data),
        information_loss.mean_hessian: sp.Add(*(second for _, second in data)) / len(data),
    }


def _story(case: Softmax) -> str:
    return (
        f"p = {', '.join(map(str, case.p))}, z' = {', '.join(map(str, case.first))}, z'' = "
        f"{', '.join(map(str, case.second))}; labels of the data {', '.join(str(c + 1) for c in case.labels)}"
    )


def fisher_points() -> Iterator[Point]:
    """One input with its first label, then data of one or two inputs; all derivatives come from the loss itself."""
    for case in CASES:
        found = _values(case)
        hessian = case.derivatives(case.labels[0])[1]
        bends = sp.Add(*(q * b for q, b in zip(case.p, case.second, strict=True)))
        values = {
            information_loss.fisher: found[information_loss.mean_fisher],
            information_loss.mean_slope: sp.Add(*(q * a for q, a in zip(case.p, case.first, strict=True))),
            information_loss.mean_slope2: found[information_loss.slopes2],
            information_loss.bend: bends - case.second[case.labels[0]],
            information_loss.hessian: hessian,
        }
        yield Point(values, (f"{_story(case)}, of which the first.",), "1")
    straight = [case for case in CASES if not any(case.second)]
    # Labels in the model's shares: linear logits are not needed.
    drawn = Softmax((_R(1, 2), _R(1, 3), _R(1, 6)), (1, 0, -2), (1, 3, 0), (0, 0, 0, 1, 1, 2))
    for inputs in (*([case] for case in straight), straight[1:], [*straight[:1], drawn]):
        each = [_values(case) for case in inputs]
        values = {name: sp.Add(*(found[name] for found in each)) / len(each) for name in each[0]}
        yield Point(values, tuple(f"{_story(case)}." for case in inputs), "2")


CHECKS = {
    "cfl.lemB2": Check(lemB2_points),
    "cfl.lemB2_use": Check(lemB2_use_points),
    "cfl.lemB7": Check(lemB7_points),
    "cfl.lemB10": Check(lemB10_points),
    "cfl.fisher": Check(fisher_points),
}
