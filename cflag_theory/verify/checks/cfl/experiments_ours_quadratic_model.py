"""Our statements on the noisy quadratic model: runs in fractions, and the printed rates against the stable ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cflag_theory.claims.cfl.published import PRINTED, SETTINGS
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

#: Of the 24 rates of Table 3, those that the gradient 2 A w + B would not allow.
NOT_STABLE = 15


def _edges(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for part, factor, expected in (("2", 1, 0), ("3", 2, NOT_STABLE)):
        beyond = [
            f"{method} {column}: {rate}"
            for (method, column), rate in PRINTED.items()
            if factor * Fraction(rate) * Fraction(SETTINGS[column][1]) >= 2
        ]
        finding = SUPPORTS if len(beyond) == expected else REFUTES
        words = f"{len(beyond)} of {len(PRINTED)} rates are not below {2 // factor}/L."
        yield Evidence(
            "recomputation",
            part,
            "printed",
            finding,
            words,
            {"instance": beyond, "compared": len(PRINTED)},
        )


CHECKS = {
    "ours.cfl_nqm_rates": Check(further=_edges),
}
