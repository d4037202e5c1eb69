"""The falsifier's result on a part of a claim, as additional evidence."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.engine.claim import Claim, statements
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.falsifying import falsify
from cflag_theory.falsify.ledger.rows import row
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, UNDECIDED, Evidence


def directed(subject: Claim, seed: int, budget: int) -> list[Evidence]:
    """A directed search on every statement of a claim that has small instances.

    What it finds is property evidence, exact or not: it contradicts a proof, and refutes nothing by itself.
    """
    found = []
    for part in subject.parts:
        for on, statement in statements(part).items():
            try:
                claimed = row(subject.id, part.key, on, statement)
            except InvalidInput:
                continue
            try:
                finding = falsify(claimed, budget=budget, seed=seed, algebra=False)
            except InvalidInput as error:
                # No case satisfies the hypotheses: that decides nothing, and the run over the ledger goes on.
                summary = f"A directed search has no result (budget {budget}, seed {seed}): {error}."
                nothing = {"cases": 0, "seed": seed, "exact": False, "directed": True}
                found.append(Evidence("property", part.key, on, UNDECIDED, summary, nothing))
                continue
            data: dict[str, Any] = {
                "cases": finding.feasible,
                "violations": int(finding.refuted),
                "seed": seed,
                "exact": False,
                "directed": True,
            }
            if finding.largest_ratio is not None:
                data["worst_ratio"] = finding.largest_ratio
            if finding.refuted:
                data["instance"] = [f"{name} = {value}" for name, value in finding.case.items()]
                summary = (
                    f"A directed search has {finding.left} on the left and {finding.right} on the right of one case"
                )
            else:
                summary = f"A directed search finds no contradiction in {finding.feasible} cases"
                if finding.largest_ratio is not None:
                    summary += f"; largest left/right {finding.largest_ratio:.4g}"
            summary = f"{summary} over {claimed.drawn} (budget {budget}, seed {seed})."
            found.append(Evidence("property", part.key, on, REFUTES if finding.refuted else SUPPORTS, summary, data))
    return found
