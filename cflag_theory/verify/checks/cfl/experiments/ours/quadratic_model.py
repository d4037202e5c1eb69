"""Our statements on the noisy quadratic model: runs in fractions, and the printed rates against the stable ones."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from cflag_theory.claims.cfl.experiments.ours import quadratic_model as ours
from cflag_theory.claims.cfl.experiments.quadratic_model import SETTINGS
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.experiments import quadratic_model
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

#: Of the 24 rates of Table 3, those that the gradient 2 A w + B would not allow.
NOT_STABLE = 15


def _decaying() -> Iterator[Point]:
    draws = [Fraction(3), Fraction(-1), Fraction(1, 2), Fraction(2)]
    fedavg, total = Fraction(5), Fraction(0)
    for t, z in enumerate(draws):
        before, total_before = fedavg, total
        fedavg, total = fedavg - (fedavg + z) / (t + 1), total + z
        # One step of CFL from wherever it stands, by the gradient of the mean of the t + 1 objectives.
        anywhere = Fraction(7)
        cfl = anywhere - sum((anywhere + past for past in draws[: t + 1]), Fraction(0)) / (t + 1)
        values = {
            ours.t: t,
            ours.drift(t + 1): z,
            ours.drifts(0): Fraction(0),
            ours.drifts(t): total_before,
            ours.drifts(t + 1): total,
            ours.by_fedavg(t): before,
            ours.by_fedavg(t + 1): fedavg,
            ours.by_cfl(t + 1): cfl,
        }
        # Where t = 0 two keys name the same term, with the same value.
        exact = {
            sp.sympify(key).subs(ours.t, t): sp.Rational(str(value)) for key, value in values.items() if key != ours.t
        }
        yield Point({**exact, **_symbolic(t, exact), ours.t: sp.Integer(t)})


def _symbolic(t: int, exact: dict[sp.Expr, sp.Rational]) -> dict[sp.Expr, sp.Rational]:
    """The same values under the terms as the statement writes them, at t and t + 1."""
    terms = [f(ours.t + shift) for f in (ours.drift, ours.drifts, ours.by_fedavg, ours.by_cfl) for shift in (0, 1)]
    return {term: exact[term.subs(ours.t, t)] for term in terms if term.subs(ours.t, t) in exact}


def _stable() -> Iterator[Point]:
    for rate, now in ((Fraction(2), 1), (Fraction(5, 2), 4)):
        values = {ours.rate: rate, ours.mean_now: now, ours.mean_next: (1 - rate) ** 2 * now}
        exact = {key: sp.Rational(str(value)) for key, value in values.items()}
        yield Point(exact, part="1")


def _edges(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for part, factor, expected in (("2", 1, 0), ("3", 2, NOT_STABLE)):
        beyond = [
            f"{method} {column}: {rate}"
            for (method, column), rate in quadratic_model.PRINTED.items()
            if factor * Fraction(rate) * Fraction(SETTINGS[column][1]) >= 2
        ]
        finding = SUPPORTS if len(beyond) == expected else REFUTES
        words = f"{len(beyond)} of {len(quadratic_model.PRINTED)} rates are not below {2 // factor}/L."
        yield Evidence(
            "recomputation",
            part,
            "printed",
            finding,
            words,
            {"instance": beyond, "compared": len(quadratic_model.PRINTED)},
        )


CHECKS = {
    "ours.cfl_nqm_decaying": Check(points=_decaying),
    "ours.cfl_nqm_rates": Check(points=_stable, further=_edges),
}
