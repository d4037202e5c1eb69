"""Results of `decide`, `prove` and `repair`, and findings of the falsifier, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from cflag_theory.cli.tables.page import Page
from cflag_theory.falsify.decisions.auditing import USED, WITHOUT, Audited
from cflag_theory.falsify.decisions.decision import Constant, Decision
from cflag_theory.falsify.decisions.repairs import Repaired
from cflag_theory.falsify.finding import PROVED, Finding
from cflag_theory.falsify.saving import Replay


def decision(found: Decision, *, replay: str | None = None, kernel: bool | None = None, vectors: bool = False) -> None:
    """One decision; `replay` computes its counterexample again, `kernel` says whether Coq accepts its theorem."""
    finding(found.finding, replay=replay, status=found.outcome, instance=found.instance, vectors=vectors)
    console = Page()
    for name, value in found.chosen.items():
        console.say(f"  with {name} = {value}")
    if found.derivation is not None:
        for line in found.derivation.text():
            console.say(f"  {line}")
    if kernel is not None:
        console.say(f"  Coq's kernel {'accepts' if kernel else 'does not accept'} it as a theorem")
    if found.constant is not None:
        _constant(console, found.constant)


def besides(found: Any) -> None:
    """Changes with which a refuted claim is proved, or which hypotheses of a proved one earn their place."""
    console = Page()
    if isinstance(found, Repaired):
        if found.decision.refuted and not found.proposals:
            console.say("  no change was found that makes it provable")
        for number, one in enumerate(found.proposals, start=1):
            console.say(f"  repair {number}, proved: {one.words}")
            if one.added is None:
                console.say(f"    {one.goal}")
    for need in found.needs if isinstance(found, Audited) else ():
        used = f"{USED[need.used]} in the proof, " if need.used is not None else ""
        console.say(f"  {need.words}: {used}{WITHOUT[need.without]}")
        for line in need.against:
            console.say(f"      {line}")


def _constant(console: Page, constant: Constant) -> None:
    word = "smallest" if constant.larger_is_weaker else "largest"
    if constant.provable is not None:
        engines = " and ".join(constant.engines)
        console.say(f"  {constant.name}: {word} value that was proved {constant.provable}, by {engines}")
    else:
        tried = f" among {constant.tried} that were tried" if constant.tried else ""
        console.say(f"  {constant.name}: no value {constant.within} was proved{tried}")
    if constant.refuted is not None:
        other = "largest" if constant.larger_is_weaker else "smallest"
        console.say(f"  {constant.name}: {other} value that was refuted {constant.refuted}, at")
        values = ", ".join(f"{name} = {value}" for name, value in constant.case.items())
        console.say(f"    {values}: left = {constant.left}, right = {constant.right}")
    if constant.undecided:
        listed = ", ".join(map(str, constant.undecided[:6])) + (", ..." if len(constant.undecided) > 6 else "")
        console.say(f"  {constant.name}: neither proved nor refuted at {listed}")


_COLOURS = {"refuted": "red", "proved": "green"}


def finding(
    found: Finding,
    *,
    replay: str | None = None,
    status: str | None = None,
    instance: Sequence[str] = (),
    vectors: bool = False,
) -> None:
    """One finding, with the command that computes its counterexample again (`replay`), or another word for its
    `status`.

    `instance` has the vectors and functions of its counterexample, shown in place of the coordinates that the search
    draws: of a claim about `vectors` these say little.
    """
    console = Page()
    head = Text(f"{found.name}: ")
    console.print(head.append(status or found.status, style=_COLOURS.get(found.status, "yellow")))
    console.say(f"  claim: {found.claim}")
    if found.refuted:
        for line in instance:
            console.say(f"    {line}")
        if not instance:
            _shown_values(console, found.case)
        console.say(f"  left = {found.left}, right = {found.right}, in exact arithmetic")
        if replay is not None:
            console.say(f"  replay: {replay}")
    elif found.status == PROVED:
        console.say(f"  {'for all values' if vectors else found.scope}, by {' and '.join(found.engines)}")
    else:
        console.say(f"  no counterexample was found, which proves nothing; {_effort(found)}")
        if found.largest_ratio is not None:
            console.say(f"  largest left/right: {found.largest_ratio:.10g}, at")
            _shown_values(console, found.worst)
    # The ranges of a claim about vectors are those of the search, and nothing that was claimed.
    if not found.refuted and not (vectors and set(found.ranges) & {"dimension"}):
        console.say(f"  ranges: {'; '.join(f'{name} in {words}' for name, words in found.ranges.items())}", "dim")
    if found.given:
        console.say(f"  given: {'; '.join(found.given)}", style="dim")
    for words in found.not_covered:
        console.say(f"  {words}" if words.startswith("proof: ") else f"  not covered: {words}")


def replayed(again: Replay) -> None:
    """A counterexample computed again."""
    console = Page()
    verdict = "the counterexample stands" if again.broken else "this is not a counterexample"
    console.print(Text(f"{again.name}: ").append(verdict, style="red" if again.broken else "green"))
    console.say(f"  claim: {again.relation}")
    _shown_values(console, again.values)
    if again.left:
        console.say(f"  left = {again.left}, right = {again.right}")
    else:
        console.say("  the hypotheses do not hold here")
    if again.changed:
        console.say("  the claim's file has changed since the counterexample was saved")


def _effort(found: Finding) -> str:
    cases = f"{found.feasible} of {found.cases} cases satisfy the hypotheses"
    if not found.cases:
        cases = "interrupted before the search" if found.interrupted else "before any search"
    return f"{cases}, {found.exact_cases} exact evaluations, seed {found.seed}, budget {found.budget}"


def _shown_values(console: Page, case: Mapping[str, Any]) -> None:
    console.say(f"    {', '.join(f'{name} = {_listed(value)}' for name, value in case.items())}")


def _listed(value: Any) -> str:
    return f"({', '.join(map(_listed, value))})" if isinstance(value, list) else str(value)
