"""Drifts that are shared or kept by chance, enumerated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.moments import correlated_drifts as claim
from cflag_theory.claims.cfl.moments import gradient_noise
from cflag_theory.claims.cfl.symbols import C2, D2, F2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.moments.gradient_noise import Draw, drifting, mean, moments, shown, squared
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


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
                claim.least_FD: min(F, D),
                claim.pair_F: F * found[gradient_noise.pairs],
                claim.pair_C: C * found[gradient_noise.pairs],
                claim.pair_least: min(F, D) * found[gradient_noise.pairs],
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
        more = {claim.pair_F: pair_F, claim.pair_C: 0, claim.pair_least: pair_F}
        yield Point({**found, **squared(0, 0, 1, 0), **more}, story, "2", _rounds(found, len(p)))


def _rounds(found: dict[Any, Any], rounds: int) -> dict[str, list[dict[Any, Any]]]:
    """The client drift of every round: it is drawn once."""
    return {"client drift": [{gradient_noise.client2: found[gradient_noise.client2]}] * rounds}


CHECKS = {
    "cfl.lemB7": Check(lemB7_points),
    "cfl.lemB10": Check(lemB10_points),
}
