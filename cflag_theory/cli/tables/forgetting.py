"""Studies of forgetting, of adaptive rates and of task sequences as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.forgetting.adaptive_rates import QUANTITIES, AdaptiveRates
from cflag_theory.studies.forgetting.heterogeneity import Forgetting, Mean, answers, sentences
from cflag_theory.studies.forgetting.tasks import TaskStudy

_HEADS = {
    "raised": "Gamma raised",
    "total_Gamma": "sum Gamma",
    "mean_Gamma": "mean Gamma",
    "change_f": "f(x_T) - f(x_0)",
    "floor_f": "|grad f|^2 at the end",
    "floor_g": "|grad g|^2 at the end",
}


def forgetting(found: Sequence[Forgetting] | AdaptiveRates, *, details: bool) -> None:
    """What Sec. 7 says about Gamma against the runs, and a line a row and level; or the rules for adaptive rates."""
    if isinstance(found, AdaptiveRates):
        return _adaptive_rates(found, details)
    console = Page()
    said = answers(found)
    for study in dict.fromkeys(one.study for one in found):
        mine = [one for one in found if one.study == study]
        first = mine[0]
        rounds = len(first.Gamma.mean)
        for sentence in said:
            if sentence.startswith(f"{study}:"):
                console.say(sentence, style="bold")
        intervals = " with 95% intervals" if details else ""
        console.say(f"  T = {rounds}, E = {first.E}, {first.replicas} replicas, seed {first.seed}; means{intervals}")
        for note in dict.fromkeys(note for one in mine for note in one.notes):
            of = dict.fromkeys(one.words for one in mine if note in one.notes)
            everywhere = len(of) == len({one.words for one in mine})
            console.say("  " + ("" if everywhere else f"{', '.join(of)}: ") + note)
        rows = [
            [
                f"{one.level}: {one.words}",
                one.algorithm,
                *(_mean(value, details) for value in (one.total, one.largest, one.variation, one.change_f)),
                f"{100 * sum(map(sum, one.interfering)) / rounds / len(one.interfering):.0f} %",
                f"{100 * sum(one.server_interfering) / rounds:.0f} %",
            ]
            for one in mine
        ]
        header = ["", "row", "sum Gamma", "largest", "spread in t", "f(x_T) - f(x_0)", "clients", "server"]
        console.table(header, rows)
        console.say("  clients, server: share of rounds in which they interfere (Lambda <= 0)\n")
    if details:
        for sentence in sentences(found):
            console.say(sentence)
        console.print()


def _adaptive_rates(study: AdaptiveRates, details: bool) -> None:
    """All rules; with details their differences to constant rates on the same draws, and the claims behind them."""
    console = Page()
    console.say(f"{study.title}, rules for adaptive rates: {study.finding}.", style="bold")
    intervals = " with 95% intervals" if details else ""
    console.say(
        f"  L = {study.L:.4g}, alpha = {study.alpha:.4g}, beta = {study.beta:.4g}, E = {study.E}, T = {study.T}, "
        f"{study.replicas} replicas, seed {study.seed}; means{intervals}"
    )
    lost = {rule.adaptive: f"{rule.diverged} of {study.replicas} diverged" for rule in study.rules if rule.diverged}
    rows = [
        [
            rule.words,
            *(_mean(rule.values[key], details) if key in rule.values else lost[rule.adaptive] for key in QUANTITIES),
        ]
        for rule in study.rules
    ]
    console.table(["", *_HEADS.values()], rows)
    if details:
        console.say("  minus constant rates, same draws:")
        paired = [key for key in QUANTITIES if key not in ("raised", "mean_Gamma")]
        rows = [
            [rule.words, *(_mean(rule.against[key], details) if key in rule.against else "" for key in paired)]
            for rule in study.rules[1:]
        ]
        console.table(["", *(_HEADS[key] for key in paired)], rows)
        for key, (words, claims) in QUANTITIES.items():
            console.say(f"  {_HEADS[key]}: {words}; {', '.join(claims)}")
        for rule in study.rules:
            console.say(f"  {rule.words}: {', '.join(rule.claims)}")
    console.print()


def tasks(study: TaskStudy, *, details: bool) -> None:
    """What each learner forgets, learns and costs; with details after each task."""
    console = Page()
    console.say(f"{study.title}, {study.tasks} tasks in a row: {study.finding}.", style="bold")
    console.say(
        f"  N = {study.clients}, d = {study.dimension}, L = {study.L:.4g}, alpha = {study.alpha:.4g}, beta = "
        f"{study.beta:.4g}, E = {study.E}, {study.T} rounds a task ({study.first_rounds} on the first), "
        f"{study.replicas} replicas, seed {study.seed}"
    )
    for note in study.notes:
        console.say("  " + note)
    costs = ("component gradients", "numbers sent", "seconds, one thread")
    spent = [(run.costs["ifo_calls"], run.costs["communicated"], run.seconds) for run in study.runs]
    rows = [
        [
            run.learner,
            *(_mean(value, details) for value in run.average[-1:]),
            *(() if details else (f"{run.average[-1].low:.3g} to {run.average[-1].high:.3g}",)),
            f"{sum(value.mean for value in run.learned) / len(run.learned):.3g}",
            *(f"{sum(cost):.4g}" for cost in spend),
        ]
        for run, spend in zip(study.runs, spent, strict=True)
    ]
    head = ["mean over tasks", "forgotten", *(() if details else ("95%",)), "learned", *costs]
    console.table(head, rows)
    if details:
        header = ["average forgetting after", *(f"task {s}" for s in range(2, study.tasks + 1))]
        console.table(header, [[run.learner, *(_mean(value, True) for value in run.average)] for run in study.runs])
        rows = [[run.learner, *(f"{value.mean:.3g}" for value in run.forgetting[-1])] for run in study.runs]
        console.table(["forgotten at the end of", *(f"task {s}" for s in range(1, study.tasks))], rows)
        tasks = [f"task {s}" for s in range(1, study.tasks + 1)]
        for words, each in zip(costs, zip(*spent, strict=True), strict=True):
            rows = [
                [run.learner, *(f"{value:.4g}" for value in cost)] for run, cost in zip(study.runs, each, strict=True)
            ]
            console.table([words, *tasks], rows)
        if rows := [[run.learner, *(f"{value:.4g}" for value in run.kept)] for run in study.runs if run.kept]:
            console.table(["components remembered at", *tasks[1:]], rows)
    console.print()


def _mean(value: Mean, interval: bool) -> str:
    return f"{value.mean:.3g}" + (f"\n[{value.low:.3g}, {value.high:.3g}]" if interval else "")
