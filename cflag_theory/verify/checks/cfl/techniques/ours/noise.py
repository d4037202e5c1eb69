"""The instances of the paper's rows, and those on which the constants are attained."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cflag_theory.claims.cfl.moments import gradient_noise
from cflag_theory.claims.cfl.symbols import T, eta, sigma2
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.techniques import norms as techniques
from cflag_theory.claims.cfl.techniques import summation
from cflag_theory.claims.cfl.techniques.ours import noise as claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.moments.gradient_noise import Draw, drifting, mean, moments, squared, turning
from cflag_theory.verify.checks.cfl.techniques.norms import FUNCTIONS, PAIRS, cases, dot, lift, minus, pair_values
from cflag_theory.verify.checks.cfl.techniques.norms import moments as sums
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


def linear_rate_points() -> Iterator[Point]:
    """The weighted sum, term by term; d_{T+1} = 0 attains the bound."""
    for d in ((1, 0, 0), (1, 1, 1), (3, 2, 1), (1, 5, 0), (0, 1, 2), (4, 2, 1, 0, 0)):
        for mu, step, first, growth in ((1, _HALF, 0, 0), (1, _HALF, 1, 2), (2, Fraction(1, 3), 3, -1)):
            q = 1 - mu * step
            rounds = range(1, len(d))
            weights = [q ** (1 - s) for s in rounds]
            rests = [Fraction(first + growth * s) for s in rounds]
            terms = [
                w * (q * d[s - 1] / step - d[s] / step + r) for s, w, r in zip(rounds, weights, rests, strict=True)
            ]
            Phi = sum(terms, Fraction(0)) / sum(weights)
            kept = sum((w * r for w, r in zip(weights, rests, strict=True)), Fraction(0)) / sum(weights)
            yield Point(
                {
                    summation.mu: mu,
                    eta: step,
                    summation.q: q,
                    claim.mean_rest: kept,
                    T: len(d) - 2,
                    summation.d(0): d[0],
                    summation.Phi: Phi,
                }
            )


def interpolation_points() -> Iterator[Point]:
    """The functions of the corollary that have mu < L, and quadratics with Hessian mu or L, which attain it."""
    for function in FUNCTIONS:
        for slack in (0, 1):
            mu, most = function.mu, function.L + slack
            if mu == most:
                continue
            for first, second in PAIRS:
                x, y = lift(function, first), lift(function, second)
                h = minus(x, y)
                yield Point(
                    {
                        L: most,
                        convexity: mu,
                        claim.excess: most - mu,
                        **pair_values(function, x, y),
                        techniques.h2: dot(h, h),
                    }
                )


def separation_points() -> Iterator[Point]:
    """Lemma A.4's variables, and sums whose later means repeat an earlier noise."""
    for case in cases():
        found = sums(case)
        values = {getattr(techniques, name): number for name, number in found.items()}
        yield Point(
            {techniques.tau: len(case.table()[0]), techniques.M: case.M, sigma2: case.sigma2, **values}, part="1"
        )
    for factor in (Fraction(1), _HALF, Fraction(-1), Fraction(0)):
        means, noises = [factor * s for s in (1, -1)], [Fraction(s) for s in (1, -1)]
        yield Point(
            {
                techniques.total2: mean([(m + nu) ** 2 for m, nu in zip(means, noises, strict=True)]),
                claim.drift_total2: mean([m**2 for m in means]),
                claim.noise_total2: mean([nu**2 for nu in noises]),
                claim.noises2: mean([nu**2 for nu in noises]),
            },
            part="2",
        )


def moments_points() -> Iterator[Point]:
    """The turning drift of cfl.lemB2_use, drifts at a fixed w, and a single draw in which all drifts add up."""
    even = (_HALF, _HALF)
    start, step = Fraction(150), Fraction(1, 30)
    turned = []
    for s, r in product((1, -1), repeat=2):
        w = start - step * (start - s * turning(start))
        turned.append(Draw(w, (s * turning(w),) * 2, (r * turning(w),) * 2))
    aligned = [Draw(Fraction(2), (Fraction(-2),) * 2, (Fraction(-2),) * 2)]
    worlds = (
        ("The turning drift, as client drift and as a time drift kept for both rounds.", turned, (1, 0, 1, 0)),
        ("grad f = 2, delta = xi = -grad f: the draw that attains the factor.", aligned, (0, 1, 0, 1)),
        ("grad f = 1, delta = +-1, xi = +-1, fair signs.", drifting(1, 0, 1, 0, 1), (1, 0, 1, 0)),
    )
    for words, draws, (G, B, D, A) in worlds:
        found = moments(draws, even)
        for draw in draws:
            for drift, offset, factor in ((draw.client, G, B), (draw.time, D, A)):
                assert all(x**2 <= offset**2 + factor**2 * draw.slope**2 for x in drift), words
        more = {
            claim.mixed2: found[gradient_noise.mixed2],
            claim.mean_time2: found[gradient_noise.time2],
            **squared(G, B, D, A),
        }
        yield Point({**found, **more})


CHECKS = {
    "ours.cfl_linear_rate": Check(linear_rate_points),
    "ours.cfl_interpolation": Check(interpolation_points),
    "ours.cfl_separation": Check(separation_points),
    "ours.cfl_moments_on_the_run": Check(moments_points),
}
