"""A convex function of changing curvature, and softmax losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments import information_loss as claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_R = sp.Rational


def curvature(w: Fraction) -> Fraction:
    """f'' = 1 + min(max(w, 0), 1): between 1 and 2, so eps = 1."""
    return 1 + min(max(w, Fraction(0)), Fraction(1))


def slope(w: Fraction) -> Fraction:
    """f' for that f'', with f'(0) = 0."""
    if w <= 0:
        return w
    return w + w**2 / 2 if w <= 1 else 2 * w - Fraction(1, 2)


def taylor_error(w: Fraction, at: Fraction) -> Fraction:
    """|f'(w) - f'(at) - f''(at) (w - at)|."""
    return abs(slope(w) - slope(at) - curvature(at) * (w - at))


def lemB3_points() -> Iterator[Point]:
    """Expansion at w_t and at w_hat, measured from w_hat."""
    numbers = [Fraction(x, 2) for x in (-2, 0, 1, 2, 4, 2000)]
    for start, hat, w in ((a, b, c) for a in numbers[:4] for b in numbers[:4] for c in numbers):
        # f'' is monotone, so that the segment's end is where it differs most.
        spread = abs(curvature(w) - curvature(hat))
        story = (
            "f'' = 1 + min(max(w, 0), 1) on the line, eps = 1.",
            f"w_t = {start}, w_hat = {hat}, w = {w}.",
        )
        yield Point(
            {
                claim.eps: 1,
                claim.spread: spread,
                claim.distance: abs(w - hat),
                claim.loss: taylor_error(w, hat),
                claim.loss_elsewhere: taylor_error(w, start),
            },
            story,
        )


def lemB3_2022_points() -> Iterator[Point]:
    """f without its w^2/2, which changes no Taylor error; eps bounds the Hessian at w_hat, or also its changes."""
    numbers = [Fraction(x, 2) for x in (-2, 0, 1, 2, 2000)]
    for hat, w in ((a, b) for a in numbers[:4] for b in numbers):
        spread, here = abs(curvature(w) - curvature(hat)), curvature(hat) - 1
        for eps in {here, max(here, spread)}:
            values = {
                claim.at_hat: here,
                claim.eps: eps,
                claim.spread: spread,
                claim.distance: abs(w - hat),
                claim.loss: taylor_error(w, hat),
            }
            yield Point(values, (f"f'' = min(max(w, 0), 1) on the line, w_hat = {hat}, w = {w}.",))


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
        claim.mean_fisher: sp.Add(*(q * first**2 for q, (first, _) in zip(case.p, found, strict=True))),
        claim.squared_slopes: slope**2,
        claim.slopes2: sp.Add(*(q * a**2 for q, a in zip(case.p, case.first, strict=True))),
        claim.mean_bend: bends - sp.Add(*(case.second[label] for label in case.labels)) / len(data),
        claim.gradient: sp.Add(*(first for first, _ in data)) / len(data),
        claim.mean_hessian: sp.Add(*(second for _, second in data)) / len(data),
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
            claim.fisher: found[claim.mean_fisher],
            claim.mean_slope: sp.Add(*(q * a for q, a in zip(case.p, case.first, strict=True))),
            claim.mean_slope2: found[claim.slopes2],
            claim.bend: bends - case.second[case.labels[0]],
            claim.hessian: hessian,
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
    "cfl.lemB3": Check(lemB3_points),
    "cfl.lemB3_2022": Check(lemB3_2022_points),
    "cfl.fisher": Check(fisher_points),
}
