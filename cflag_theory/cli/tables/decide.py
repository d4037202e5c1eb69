"""Results of `decide`, `prove` and `repair` as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cflag_theory.cli.tables import falsify
from cflag_theory.cli.tables.page import Page
from cflag_theory.falsify.decisions.constants import LARGEST_FACTOR, Constant
from cflag_theory.falsify.decisions.decision import NEITHER, Decision
from cflag_theory.falsify.decisions.repairs import Repaired


def decision(found: Decision, *, replay: str | None = None, kernel: bool | None = None) -> None:
    """One decision; `replay` computes its counterexample again, `kernel` says whether Coq accepts its theorem."""
    falsify.finding(found.finding, replay=replay, status=found.outcome)
    console = Page()
    for line in found.instance:
        console.say(f"  {line}")
    if found.derivation is not None:
        for line in found.derivation.text():
            console.say(f"  {line}")
    if kernel is not None:
        console.say(f"  Coq's kernel {'accepts' if kernel else 'does not accept'} it as a theorem")
    if found.constant is not None:
        _constant(console, found.constant, found.outcome == NEITHER)


def repairs(found: Repaired) -> None:
    """Changes with which a refuted claim is proved."""
    console = Page()
    if found.decision.refuted and not found.proposals:
        console.say("  no change was found that makes it provable")
    for number, one in enumerate(found.proposals, start=1):
        console.say(f"  repair {number}, proved: {one.words}")
        if one.added is None:
            console.say(f"    {one.goal}")


def _constant(console: Page, constant: Constant, neither: bool) -> None:
    word = "smallest" if constant.larger_is_weaker else "largest"
    if constant.provable is not None:
        engines = " and ".join(constant.engines)
        console.say(f"  {constant.name}: {word} value that was proved {constant.provable}, by {engines}")
    elif neither and constant.refuted is None:
        console.say(f"  {constant.name}: no value up to {LARGEST_FACTOR} was proved")
    else:
        console.say(f"  {constant.name}: no value was proved")
    if constant.refuted is not None:
        other = "largest" if constant.larger_is_weaker else "smallest"
        console.say(f"  {constant.name}: {other} value that was refuted {constant.refuted}, at")
        console.say(f"    {_values(constant.case)}: left = {constant.left}, right = {constant.right}")


def _values(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in case.items())
