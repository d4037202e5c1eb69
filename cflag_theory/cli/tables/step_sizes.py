"""Step sizes, predictions, best rates and estimates as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from cflag_theory.cli.tables.page import Page
from cflag_theory.shown import number as _number
from cflag_theory.studies.stepsize.best_rates import Best
from cflag_theory.studies.stepsize.conditions import StepSize, StepSizes
from cflag_theory.studies.stepsize.estimates import Estimates
from cflag_theory.studies.stepsize.predicted import INPUTS, Bound
from cflag_theory.studies.stepsize.safe import Choice, short

if TYPE_CHECKING:
    # The symbols of the other paper take long to make.
    from cflag_theory.studies.stepsize.cfl_conditions import CFLStepSizes
    from cflag_theory.studies.stepsize.cfl_predicted import CFLBest
    from cflag_theory.studies.stepsize.sharp_steps import SharpStep

_WIDTH = 100
#: Width of every column by name; None where it takes what is left.
Columns = Sequence[str]


def answer(found: StepSizes | CFLStepSizes) -> None:
    """What is safe, what is then proved, and the best step sizes for a target."""
    console = Page(_WIDTH)
    console.say(found.answer.words)
    choices, best = found.answer.choices, [row for row in found.best if row.claim == found.answer.claim]
    if isinstance(found, StepSizes):
        shown = [
            (one.name, *map(short if one.name == "largest" else _number, one.steps.values()), _value(one))
            for one in choices
        ]
        yours = any(one.name == "yours" for one in choices)
        words = {
            "largest beta": f"largest beta for {_number(found.epsilon)}",
            "fewest rounds": f"your beta, for {_number(found.epsilon)}",
            "limit": f"fewest rounds for {_number(found.epsilon)}",
        }
        for row in best if found.answer.safe else ():
            if isinstance(row, Best) and (yours or row.goal != "fewest rounds"):
                bound = "not reached" if row.value is None else f"{_number(row.value)} at T = {_rounds(row.rounds)}"
                at_least = "-> 0" if row.goal == "limit" else _number(row.beta)
                shown.append((words[row.goal], _number(row.alpha), at_least, bound))
        columns: Columns = ("step sizes", "alpha", "beta", f"{choices[0].quantity if choices else ''} is at most")
    else:
        shown = [
            (f"{one.claim}, {one.name}", _number(one.steps["eta_l"]), one.quantity, _value(one)) for one in choices
        ]
        columns = ("theorem", "eta_l", "quantity", "is at most")
    if shown:
        _table(console, "", columns, shown)
        console.print()
    if not isinstance(found, StepSizes):
        console.say(f"with {_given(found.numbers)}")
        if best:
            _cfl_best(console, [row for row in best if not isinstance(row, Best | Choice)], found.epsilon)
        return
    missing = dict.fromkeys(name for one in choices for name in one.missing)
    if missing:
        told = " and ".join(f"{name} is the {INPUTS[name][1]}" for name in missing).replace("the f(", "f(")
        wanted = "" if found.epsilon is None else f", and for the best step sizes for {_number(found.epsilon)}"
        console.say(f"{told}: give {' and '.join(map(_as_option, missing))} for numbers{wanted}.")
    console.say(
        "The limit of beta assumes nothing about the size of grad g: g bounded below and a bounded "
        "||grad f_memory - grad g|| suffice (ours.bounded_gradients)."
    )


def sharp(found: SharpStep) -> None:
    """The largest step and the best one, by exact worst cases."""
    console = Page(_WIDTH)
    low, high = found.largest
    grows = "" if high is None else f", and does at {short(high, up=True)}"
    best = "" if found.best is None else f"; the least worst case, {_number(found.value)}, is at {_number(found.best)}"
    console.say(f"sharp: {found.words}, up to {found.step} = {short(low)}{grows}{best}.")
    console.print()


def _given(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {_number(value)}" for name, value in numbers.items())


def _value(one: Choice) -> str:
    """A bound, with the numbers that were not given as letters."""
    if None in one.missing.values():
        return f"needs {', '.join(map(_as_option, one.missing))}"
    powers = {"gap": "gap", "grad_g": "grad_g^2"}
    terms = [f"{_number(factor)} {powers[name]}" for name, factor in one.missing.items()]
    return " + ".join(filter(None, (_number(one.value), *terms))) or "nothing is proved"


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def c_flag(found: StepSizes) -> None:
    """Everything about one choice of alpha and beta."""
    console = Page(_WIDTH)
    _conditions(console, found.conditions)
    console.say(f"beta = c/sqrt(T) of Lemma 4 and Theorem 5: c = {found.c:.6g} at T = {found.T}")
    if found.gradients_per_round is not None:
        console.say(f"gradient evaluations a round, sum_i (n_i + E - 1 + m_i): {found.gradients_per_round}")
    _measured(console, found.measured)
    _bounds(console, found.bounds, found.epsilon, found.as_printed)
    if found.numbers:
        console.say(f"with {_given(found.numbers)}; numbers about the run are assumed to hold for every T")
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
    console.say(f"with {_given(found.numbers)}; the paper's own rates are O(.), without constants")
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


def _rounds(value: float | None) -> str:
    if value is None:
        return ""
    if math.isinf(value):
        return "never"
    return str(int(value)) if value < 10**7 else f"{value:.3g}"


def _conditions(console: Page, rows: Sequence[StepSize]) -> None:
    colours = {"yes": "green", "no": "red"}
    shown = [
        (row.condition, Text(row.answer, colours.get(row.answer, "yellow")), _number(row.factor), _needed_for(row))
        for row in rows
    ]
    columns = ("condition", "holds", "left/right", "used by")
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
        missing = f"needs {', '.join(map(_as_option, bound.needs))}" if bound.needs else ""
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
