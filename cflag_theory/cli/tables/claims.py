"""Results as tables for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.transcript import settings
from cflag_theory.cli.tables.page import Page
from cflag_theory.kernels import Problem, Trace
from cflag_theory.verify.coq import census
from cflag_theory.verify.verdict import MEANINGS, Evidence, Verdict

_COLOURS = {
    "holds": "green",
    "loose": "cyan",
    "open": "white",
    "typo": "yellow",
    "needs-hypothesis": "yellow",
    "false": "red",
}


def ledger(verdicts: Sequence[Verdict]) -> None:
    """The verdict table."""
    rows = []
    for verdict in verdicts:
        follows = [f"repair: {words}" for words in verdict.repairs]
        follows += [
            f"sharp: {s['constant']}: {s['value']} instead of {s['printed']} (factor {s['factor']:.3g})"
            for s in verdict.sharp
            if s["factor"] > 1
        ]
        follows += [f"see {', '.join(verdict.instead)}"] if verdict.instead else []
        by_hand = dict.fromkeys(theorem["name"] for theorem in _theorems(verdict))
        follows += [f"checked by Coq: {', '.join(by_hand)}"] if by_hand else []
        word = Text(verdict.verdict, style=_COLOURS[verdict.verdict])
        rows.append((verdict.claim.id, verdict.claim.where, word, "\n".join(follows)))
    console = Page()
    console.table(("claim", "where", "verdict", "what follows"), rows)
    for paper in dict.fromkeys(verdict.claim.paper for verdict in verdicts):
        counts = Counter(verdict.verdict for verdict in verdicts if verdict.claim.paper == paper)
        words = ", ".join(f"{counts[name]} {name}" for name in MEANINGS if counts[name])
        console.say(f"{paper}: {words}")
    asked = census(verdicts)
    if asked is not None:
        console.say(str(asked))
        if asked.statements:
            console.say(asked.whole_words)
        for id, part, on, kind in asked.left:
            console.say(f"  without Coq: {id}, part {part}, {on}: {kind}")
        axioms = sorted(
            {axiom for verdict in verdicts for theorem in _theorems(verdict) for axiom in theorem["axioms"]}
        )
        if axioms:
            console.say(f"  axioms behind the headline theorems: {', '.join(axioms)}")


def claim(verdict: Verdict) -> None:
    """Everything about one claim."""
    console = Page()
    subject = verdict.claim
    console.say(f"{subject.id}  {subject.paper}, {subject.where}: {subject.title}", style="bold")
    word = Text(verdict.verdict, style=_COLOURS[verdict.verdict])
    console.print(Text("verdict: ") + word + Text(f", {MEANINGS[verdict.verdict]}"))
    for part, found in zip(subject.parts, verdict.parts, strict=True):
        label = f"part {part.key} ({found.verdict}), as printed" if len(subject.parts) > 1 else "as printed"
        _section(console, label, _statement(part.printed))
        _hypotheses(console, part.printed)
        if part.repair:
            repaired = part.repair.statement
            _section(console, f"repair ({part.repair.kind})", [part.repair.words, *_statement(repaired)])
            _hypotheses(console, repaired)
        if part.sharp:
            _section(console, "sharp", _statement(part.sharp.statement))
    rows = [(f"{e.part} {e.on}", e.kind, e.finding, _evidence(e)) for e in verdict.evidence]
    console.print()
    console.table(("on", "evidence", "finding", "summary"), rows)
    for theorem in {theorem["name"]: theorem for theorem in _theorems(verdict)}.values():
        axioms = [f"axioms: {', '.join(theorem['axioms'])}"] if theorem["axioms"] else []
        _section(console, f"Coq, {theorem['name']}", [*theorem["statement"].splitlines(), *axioms])
    if verdict.counterexample:
        console.print()
        console.say(f"replay: cflag show {subject.id} --replay")
    _section(console, "notes", subject.notes)


def replay(verdict: Verdict) -> None:
    """The counterexample alone, as it was just replayed."""
    console = Page()
    found = verdict.counterexample
    if found is None:
        console.say(f"{verdict.claim.id} is {verdict.verdict}: there is no counterexample to replay")
        return
    statement = next(part.printed for part in verdict.claim.parts if part.key == found.part)
    _section(console, f"{verdict.claim.id}, part {found.part}, as printed", _statement(statement))
    _section(console, "instance", found.data.get("instance", ()))
    _section(console, "values", [f"{name} = {value}" for name, value in found.data.get("values", {}).items()])
    _section(console, "result", [found.summary])


def _hypotheses(console: Page, statement: Statement) -> None:
    assumed = assumptions(statement)
    _section(console, "under", [fact.told for fact in assumed])
    where = [fact for fact in statement.definitions if fact not in assumed]
    _section(console, "where", [f"{fact.told}  [{fact.relation}]" for fact in where])
    _section(console, "setting", [fact.words for fact in settings(statement)])


def _statement(statement: Statement) -> list[str]:
    return [statement.words] if statement.relation is None else [statement.words, str(statement.relation)]


def _section(console: Page, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print()
        console.say(title, style="bold")
        for line in lines:
            console.say("  " + line)


def _theorems(verdict: Verdict) -> list[dict[str, Any]]:
    """The theorems by hand that Coq has accepted for a claim."""
    return [theorem for item in verdict.evidence for theorem in item.data.get("theorems", ())]


def _evidence(item: Evidence) -> str:
    rules = item.data.get("rules")
    return item.summary + (f" Rules: {', '.join(rules)}." if rules else "")


def trace_summary(problem: Problem, trace: Trace) -> dict[str, Any]:
    """A Trace in a few plain numbers: means over replicas, at the start and at the end."""
    summary: dict[str, Any] = {
        "problem": problem.name,
        "notes": list(problem.notes),
        "constants": {name: str(constant) for name, constant in problem.constants.items()},
        "replicas": trace.replicas,
        "rounds": trace.rounds,
        "end": {name: float(values.mean()) for name, values in trace.end.items()},
    }
    if "f" in trace.columns:
        summary["start"] = {name: float(trace.columns[name][:, 0].mean()) for name in trace.end}
    if "Gamma" in trace.columns:
        summary["mean_Gamma"] = float(trace.column("Gamma").mean())
        summary["m_met"] = _finite(float(trace.m_met))
        summary["r_met"] = _finite(trace.r_met)
    for name in ("ifo_calls", "communicated"):
        if name in trace.columns:
            summary[name] = float(trace.column(name).sum(axis=1).mean())
    return summary


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


def trace(summary: Mapping[str, Any]) -> None:
    """The summary of a run."""
    console = Page()
    console.say(f"{summary['problem']}: {summary['rounds']} rounds, {summary['replicas']} replicas", style="bold")
    for note in summary["notes"]:
        console.say("  " + note)
    start = summary.get("start", {})
    rows = [
        (name, f"{start[name]:.6g}" if name in start else "", f"{value:.6g}") for name, value in summary["end"].items()
    ]
    console.table(("mean over replicas", "at x_0", "at x_T"), rows)
    for name in ("mean_Gamma", "m_met", "r_met", "ifo_calls", "communicated"):
        if name in summary:
            value = summary[name]
            console.say(f"  {name}: {value if isinstance(value, str) else format(value, '.6g')}")
