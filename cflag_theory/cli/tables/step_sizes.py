"""Step sizes, predictions, best rates and estimates as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.stepsize.best_rates import Best
from cflag_theory.studies.stepsize.cfl_best_rates import CFLBest
from cflag_theory.studies.stepsize.cfl_conditions import CFLStepSizes
from cflag_theory.studies.stepsize.conditions import StepSize, StepSizes
from cflag_theory.studies.stepsize.estimates import Estimates
from cflag_theory.studies.stepsize.predicted import Bound

_WIDTH = 100
#: Width of every column by name; None where it takes what is left.
Columns = Sequence[str]


def c_flag(found: StepSizes) -> None:
    """Everything about one choice of alpha and beta."""
    console = Page(_WIDTH)
    _conditions(console, found.conditions)
    console.say(f"beta = c/sqrt(T) of Lemma 4 and Theorem 5: c = {found.c:.6g} at T = {found.T}")
    if found.gradients_per_round is not None:
        console.say(f"gradient evaluations a round, sum_i (n_i + E - 1 + m_i): {found.gradients_per_round}")
    _measured(console, found.measured)
    _bounds(console, found.bounds, found.epsilon, found.as_printed)
    given = ", ".join(f"{name} = {_number(value)}" for name, value in found.numbers.items())
    console.say(f"with {given}; numbers about the run are assumed to hold for every T")
    if found.best:
        _best(console, found.best, found.epsilon)
    _ledger(console, found.as_printed, found.bounds)


def cfl(found: CFLStepSizes) -> None:
    """Everything about one choice of eta_l and eta_g."""
    console = Page(_WIDTH)
    _conditions(console, found.conditions)
    console.say(f"eta = K eta_l eta_g = {found.eta:.6g}, c = 1 + A^2 + B^2 = {found.c_O:.6g}")
    console.say("s = (sqrt(3 eta_g^2 + 4 c eta_g^4) - sqrt(4 c eta_g^4)) / sqrt(c) = " + f"{found.s:.6g}")
    console.say(f"p_t = {found.p_t:.6g}, the weight of the current round (1 for FedAvg)")
    _measured(console, found.measured)
    _bounds(console, found.bounds, found.epsilon, found.as_printed)
    given = ", ".join(f"{name} = {_number(value)}" for name, value in found.numbers.items())
    console.say(f"with {given}; the paper's own rates are O(.), without constants")
    if found.best:
        _cfl_best(console, found.best, found.epsilon)
    _ledger(console, found.as_printed, found.bounds)


def estimates(found: Estimates) -> None:
    """What a recorded run says."""
    console = Page(_WIDTH)
    rows = [(one.name, _number(one.value) or "none", one.kind, str(one.samples), one.how) for one in found.estimates]
    columns = ("number", "value", "kind", "samples", "from")
    _table(console, "From the trace", columns, rows)
    console.say(found.caveat)


def _table(console: Page, title: str, columns: Columns, rows: Sequence[Sequence[str | Text]]) -> None:
    console.print()
    console.table(columns, rows, title=title)


def _answer(word: str) -> Text:
    return Text(word, style={"yes": "green", "no": "red"}.get(word, "yellow"))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "inf" if math.isinf(value) else f"{value:.4g}"


def _rounds(value: float | None) -> str:
    if value is None:
        return ""
    if math.isinf(value):
        return "never"
    return str(int(value)) if value < 10**7 else f"{value:.3g}"


def _conditions(console: Page, rows: Sequence[StepSize]) -> None:
    shown = [(row.condition, _answer(row.answer), _number(row.factor), _needed_for(row)) for row in rows]
    columns = ("condition", "holds", "left/right", "what needs it")
    _table(console, "Conditions", columns, shown)


def _measured(console: Page, names: Sequence[str]) -> None:
    if names:
        console.say(
            f"{' and '.join(names)}: measured along a run, so lower bounds. They can refute a condition and cannot "
            "show that it holds; the bounds below are right only if the true numbers are no larger."
        )


def _needed_for(row: StepSize) -> Text:
    """What a condition is for: claims that are proved, and claims of which another form is."""
    found = Text(row.unlocks)
    for words, ids in (("proved", row.proved), ("proved in another form*", row.repaired)):
        if ids:
            found += Text(f"\n{words}: {', '.join(ids)}", style="dim")
    return found


def _bounds(
    console: Page, bounds: Sequence[Bound], epsilon: float | None, as_printed: Mapping[str, tuple[str, ...]]
) -> None:
    shown: list[tuple[str | Text, ...]] = []
    for bound in bounds:
        missing = f"needs {', '.join('--' + name.replace('_', '-') for name in bound.needs)}" if bound.needs else ""
        unmet = f"not met: {'; '.join(bound.fails)}" if bound.fails else ""
        remark = "; ".join(filter(None, (bound.note, missing, unmet)))
        kind = bound.kind + ("*" if bound.kind == "printed" and bound.claim in as_printed else "")
        rounds = [_rounds(value) for value in bound.rounds.values()]
        laws = ("held", "c/sqrt(T)")
        told = "\n".join(f"{value} {laws['sqrt' in law]}" for law, value in zip(bound.rounds, rounds, strict=True))
        row = (Text(f"{bound.claim}\n{kind}: {bound.quantity}"), _number(bound.value))
        shown.append((*row, *((told,) if epsilon is not None else ()), remark))
    columns = ["bound", "value"]
    if epsilon is not None:
        columns.append(f"T for {epsilon:.3g}")
    columns.append("remarks")
    _table(console, "Predicted bounds", columns, shown)


def _best(console: Page, rows: Sequence[Best], epsilon: float | None) -> None:
    words = {
        "largest beta": "largest beta within T",
        "fewest rounds": "fewest rounds at this beta",
        "limit": "beta -> 0",
    }
    shown = [
        (row.claim, words[row.goal], _number(row.alpha), _number(row.beta), _rounds(row.rounds), _number(row.value))
        for row in rows
    ]
    columns = ("by", "asked for", "alpha", "beta", "T", "bound")
    _table(console, f"Best step sizes for {epsilon:.4g}, by what is proved", columns, shown)
    console.say("The bounds fall with beta: the largest beta that meets the target learns most of the new task.")


def _cfl_best(console: Page, rows: Sequence[CFLBest], epsilon: float | None) -> None:
    words = {
        "smallest bound": "smallest bound within T",
        "fewest rounds": "fewest rounds at this eta_g",
        "limit": "fewest rounds at any eta_g",
    }
    shown = [
        (
            f"{row.claim}\n{row.note}",
            words[row.goal],
            *(_number(one) for one in (row.eta_l, row.eta_g, row.eta)),
            _rounds(row.rounds),
            _number(row.value),
        )
        for row in rows
    ]
    columns = ("by", "asked for", "eta_l", "eta_g", "eta", "T", "bound")
    _table(console, f"Best step sizes for {epsilon:.4g}, by what is proved", columns, shown)
    if any(row.goal == "limit" for row in rows):
        console.say(
            "eta_g = inf is the limit eta_l -> 0 at the same eta = K eta_l eta_g: no local path, no local drift."
        )


def _ledger(console: Page, as_printed: Mapping[str, tuple[str, ...]], bounds: Sequence[Bound]) -> None:
    """Repairs of the claims that predict something, and the kinds of the others."""
    if not as_printed:
        return
    console.print()
    console.say("* does not hold as printed; what is proved in its place (cflag show CLAIM):", style="bold")
    full = {bound.claim for bound in bounds}
    for id, words in as_printed.items():
        if id in full:
            console.say(f"  {id}: " + "; ".join(words))
    rest = [f"{id} ({_kinds(words)})" for id, words in as_printed.items() if id not in full]
    if rest:
        console.say("  also: " + ", ".join(rest))


def _kinds(words: Sequence[str]) -> str:
    known = ("typo", "needs-hypothesis", "no local repair")
    return ", ".join(kind for kind in known if any(kind in one for one in words))
