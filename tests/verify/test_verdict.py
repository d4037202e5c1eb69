"""A verdict follows from evidence, and from nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import sympy as sp

from cflag_theory.claims.engine.claim import MEANINGS, Claim, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.errors import CflagError, InconsistentEvidence
from cflag_theory.verify.verdict import GRAVITY, OURS, PROVING, REFUTING, Evidence, decide

x = sp.Symbol("x", real=True)
SAID = Statement("x <= 2.", at_most(x, 2), ())
BETTER = Statement("x <= 1.", at_most(x, 1), ())


def claim_with(*parts):
    return Claim("ours.toy", "(0)", "A toy", tuple(parts))


def part(key="1", repair=None, factor=None):
    return Part(
        key,
        SAID,
        Repair(repair, f"fix {key}", BETTER) if repair else None,
        Sharp("the constant", sp.Integer(2), sp.Integer(2) / factor, BETTER) if factor else None,
    )


def evidence(kind, finding, on="printed", key="1", **data):
    return Evidence(kind, key, on, finding, f"{kind} {finding}.", data)


def proof(on="printed", key="1", kind="proof"):
    """A proof, and an exact instance that meets its hypotheses."""
    return [evidence(kind, "supports", on, key), evidence("property", "supports", on, key, exact=True, cases=1)]


BROKEN = evidence("counterexample", "refutes")
PROOF, MENDED, TIGHT = proof(), proof("repair"), proof("sharp")


@pytest.mark.parametrize(
    ("subject", "found", "verdict"),
    [
        (part(), [], "open"),
        (part(), PROOF, "holds"),
        (part(factor=2), PROOF, "holds"),
        (part(factor=2), [*PROOF, *TIGHT], "loose"),
        (part(factor=1), [*PROOF, *TIGHT], "holds"),
        (part(factor=2), TIGHT, "open"),
        (part(), [BROKEN], "false"),
        (part(repair="typo"), [BROKEN], "false"),
        (part(repair="typo"), [BROKEN, *MENDED], "typo"),
        (part(repair="needs-hypothesis"), [BROKEN, *MENDED], "needs-hypothesis"),
        (part(repair="typo", factor=2), [BROKEN, *MENDED, *TIGHT], "typo"),
        # A repair without a refutation decides nothing, and a repair that is not needed changes nothing.
        (part(repair="typo"), MENDED, "open"),
        (part(repair="typo"), [*PROOF, *MENDED], "holds"),
    ],
)
def test_verdict_of_one_part(subject, found, verdict):
    assert decide(claim_with(subject), found).verdict == verdict


@pytest.mark.parametrize("kind", ["enumeration", "recomputation"])
def test_what_is_exact_over_a_finite_set_decides_both_ways(kind):
    counted = [evidence(kind, "supports", cases=3), *proof()[1:]]
    assert decide(claim_with(part()), counted).verdict == "holds"
    assert decide(claim_with(part()), [evidence(kind, "refutes", compared=1)]).verdict == "false"


@pytest.mark.parametrize("kind", ["property", "monte-carlo", "worst-case"])
@pytest.mark.parametrize("finding", ["supports", "refutes", "undecided"])
def test_what_is_sampled_decides_nothing_by_itself(kind, finding):
    assert decide(claim_with(part(repair="typo")), [evidence(kind, finding), *MENDED]).verdict == "open"
    weak = [BROKEN, evidence(kind, "supports", "repair")]
    assert decide(claim_with(part(repair="typo")), weak).verdict == "false"


@pytest.mark.parametrize("witness", [None, {"exact": False, "cases": 9}, {"exact": True, "cases": 0}])
def test_a_proof_whose_hypotheses_no_exact_instance_meets_decides_nothing(witness):
    found = [evidence("proof", "supports")]
    found += [evidence("property", "supports", **witness)] if witness else []
    assert decide(claim_with(part()), found).verdict == "open"


def test_a_statement_about_no_relation_needs_no_instance():
    table = Part("1", Statement("The rows agree.", None))
    assert decide(claim_with(table), [evidence("recomputation", "supports", compared=2)]).verdict == "holds"


def test_a_counterexample_proves_nothing_and_a_proof_refutes_nothing():
    assert decide(claim_with(part()), [evidence("counterexample", "supports")]).verdict == "open"
    assert decide(claim_with(part()), [evidence("proof", "refutes")]).verdict == "open"
    assert decide(claim_with(part()), [evidence("proof", "undecided")]).verdict == "open"
    assert "counterexample" not in PROVING
    assert "proof" not in REFUTING


@pytest.mark.parametrize("on", ["printed", "repair", "sharp"])
@pytest.mark.parametrize("kind", ["counterexample", "property", "monte-carlo", "enumeration"])
def test_proof_and_refutation_together_are_an_error(on, kind):
    subject = claim_with(part(repair="typo", factor=2))
    both = [evidence("proof", "supports", on), evidence(kind, "refutes", on)]
    with pytest.raises(InconsistentEvidence, match=rf"ours\.toy\.1 \({on}\) is proved, and yet {kind} refutes"):
        decide(subject, both)
    assert issubclass(InconsistentEvidence, CflagError)


def test_evidence_counts_for_its_own_part_and_statement_only():
    subject = claim_with(part("1", "typo"), part("2", "typo"))
    found = [BROKEN, *proof("repair", "2"), *proof("printed", "2")]
    verdict = decide(subject, found)
    assert [p.verdict for p in verdict.parts] == ["false", "holds"]


@pytest.mark.parametrize("gravest", range(1, len(GRAVITY)))
def test_a_row_takes_the_gravest_verdict(gravest):
    ways = {
        "holds": (part(), PROOF),
        "loose": (part(factor=2), [*PROOF, *TIGHT]),
        "open": (part(), []),
        "typo": (part(repair="typo"), [BROKEN, *MENDED]),
        "needs-hypothesis": (part(repair="needs-hypothesis"), [BROKEN, *MENDED]),
        "false": (part(), [BROKEN]),
    }
    assert tuple(ways) == GRAVITY == tuple(MEANINGS)
    parts, found = [], []
    for position, name in enumerate((GRAVITY[gravest], GRAVITY[gravest - 1])):
        one, items = ways[name]
        key = str(position + 1)
        parts.append(Part(key, one.printed, one.repair, one.sharp))
        found += [Evidence(e.kind, key, e.on, e.finding, e.summary, e.data) for e in items]
    assert decide(claim_with(*parts), found).verdict == GRAVITY[gravest]
    assert decide(claim_with(*reversed(parts)), found).verdict == GRAVITY[gravest]


def test_repairs_and_sharp_constants_are_listed_where_they_are_proved():
    subject = claim_with(part("1", "typo", 2), part("2", "typo", 2))
    reached = evidence("property", "supports", "sharp", largest_ratio=0.75)
    nearer = evidence("property", "supports", "sharp", largest_ratio=0.5)
    verdict = decide(
        subject, [BROKEN, *MENDED, *TIGHT, reached, nearer, evidence("counterexample", "refutes", key="2")]
    )
    assert verdict.repairs == ("fix 1",)
    assert verdict.sharp == (
        {"constant": "the constant", "printed": "2", "value": "1", "factor": 2.0, "reached": 0.75},
    )


def test_the_counterexample_is_the_first_refutation_of_a_printed_statement():
    subject = claim_with(part(repair="typo"))
    first = evidence("counterexample", "refutes", left="3")
    verdict = decide(subject, [evidence("counterexample", "refutes", "repair"), first, BROKEN])
    assert verdict.counterexample is first
    assert decide(subject, MENDED).counterexample is None


def test_json_has_the_promised_keys_and_plain_values():
    subject = claim_with(part(repair="typo", factor=2))
    shown = decide(subject, [BROKEN, *MENDED, *TIGHT]).to_json()
    promised = {"id", "paper", "where", "statement", "verdict", "evidence", "sharp", "repair", "counterexample"}
    assert promised <= set(shown)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["counterexample"] == BROKEN.to_json()
    assert shown["repair"] == ["fix 1"]
    assert shown["statement"][0]["latex"] == r"x \le 2"


@pytest.mark.parametrize("kind", ["assumption", "question"])
def test_what_is_no_claim_has_findings_and_no_verdict(kind):
    asked = replace(part(), kind=kind)
    found = decide(claim_with(asked), [BROKEN])
    assert (found.verdict, found.is_claim, found.parts[0].label) == (kind, False, kind)
    assert found.meaning == "not always so"
    text = found.to_json()
    assert (text["kind"], text["verdict"], text["parts"]) == (kind, None, {"1": kind})
    # Beside a claim it does not count, however grave.
    refuted = evidence("counterexample", "refutes", key="2")
    both = decide(claim_with(part("1"), replace(asked, key="2")), [*PROOF, refuted])
    assert (both.verdict, both.to_json()["kind"]) == ("holds", "claim")


def test_a_part_is_of_a_known_kind():
    with pytest.raises(ValueError, match="'guess': use claim, assumption, question"):
        replace(part(), kind="guess")


def test_what_is_ours_was_printed_by_nobody_else():
    assert decide(claim_with(part()), PROOF).meaning == OURS
    assert decide(replace(claim_with(part()), id="cfl.toy"), PROOF).meaning == MEANINGS["holds"]
