"""Studies of forgetting, of adaptive rates and of task sequences as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.forgetting.adaptive_rates import QUANTITIES, AdaptiveRates
from cflag_theory.studies.forgetting.heterogeneity import Forgetting, sentences
from cflag_theory.studies.forgetting.replica_means import Mean
from cflag_theory.studies.forgetting.tasks import TaskRun, TaskStudy

_HEADS = {
    "raised": "Gamma raised",
    "total_Gamma": "sum Gamma",
    "mean_Gamma": "mean Gamma",
    "change_f": "f(x_T) - f(x_0)",
    "floor_f": "|grad f|^2",
    "floor_g": "|grad g|^2",
}


def forgetting(found: Sequence[Forgetting]) -> None:
    """Gamma along rounds, a line a row and level, and what Sec. 7 says about it."""
    console = Page()
    for study in dict.fromkeys(one.study for one in found):
        mine = [one for one in found if one.study == study]
        first = mine[0]
        rounds = len(first.Gamma.mean)
        console.say(f"{study}: the forgetting term over {rounds} rounds", style="bold")
        console.say(f"  E = {first.E}, {first.replicas} replicas, seed {first.seed}; means with 95% intervals")
        for note in dict.fromkeys(note for one in mine for note in one.notes):
            of = dict.fromkeys(one.words for one in mine if note in one.notes)
            everywhere = len(of) == len({one.words for one in mine})
            console.say("  " + ("" if everywhere else f"{', '.join(of)}: ") + note)
        rows = [
            [
                f"{one.level}: {one.words}",
                one.algorithm,
                _interval(one.total),
                _interval(one.largest),
                _interval(one.variation),
                _interval(one.change_f),
                f"{100 * sum(map(sum, one.interfering)) / rounds / len(one.interfering):.0f} %",
                f"{100 * sum(one.server_interfering) / rounds:.0f} %",
            ]
            for one in mine
        ]
        header = ["", "row", "sum Gamma", "largest", "spread in t", "f(x_T) - f(x_0)", "clients", "server"]
        console.table(header, rows)
        console.say("  clients, server: share of rounds in which they interfere (Lambda <= 0)\n")
    for sentence in sentences(found):
        console.say(sentence)
    console.print()


def adaptive_rates(study: AdaptiveRates) -> None:
    """All rules, and their differences to constant rates on the same draws."""
    console = Page()
    console.say(f"{study.title}: rules for adaptive rates", style="bold")
    console.say(
        f"  L = {study.L:.4g}, alpha = {study.alpha:.4g}, beta = {study.beta:.4g}, E = {study.E}, T = {study.T}, "
        f"{study.replicas} replicas, seed {study.seed}; means with 95% intervals"
    )
    for note in study.notes:
        console.say("  " + note)
    lost = {rule.adaptive: f"{rule.diverged} of {study.replicas} diverged" for rule in study.rules if rule.diverged}
    rows = [
        [
            rule.words,
            *(_interval(rule.values[key]) if key in rule.values else lost[rule.adaptive] for key in QUANTITIES),
        ]
        for rule in study.rules
    ]
    console.table(["", *_HEADS.values()], rows)
    console.say("  minus constant rates, same draws:")
    paired = [key for key in QUANTITIES if key not in ("raised", "mean_Gamma")]
    rows = [
        [rule.words, *(_interval(rule.against[key]) if key in rule.against else "" for key in paired)]
        for rule in study.rules[1:]
    ]
    console.table(["", *(_HEADS[key] for key in paired)], rows)
    for key, (words, claims) in QUANTITIES.items():
        console.say(f"  {_HEADS[key]}: {words}; {', '.join(claims)}")
    for rule in study.rules:
        console.say(f"  {rule.words}: {', '.join(rule.claims)}")
    console.print()


def tasks(study: TaskStudy) -> None:
    """Forgetting after each transition, and what each task costs, learner by learner."""
    console = Page()
    console.say(f"{study.title}: {study.tasks} tasks in a row", style="bold")
    console.say(
        f"  N = {study.clients}, d = {study.dimension}, L = {study.L:.4g}, alpha = {study.alpha:.4g}, beta = "
        f"{study.beta:.4g}, E = {study.E}, {study.T} rounds a task ({study.first_rounds} on the first), "
        f"{study.replicas} replicas, seed {study.seed}"
    )
    for note in study.notes:
        console.say("  " + note)
    rows = [[run.learner, *(_interval(value) for value in run.average), _learned(run)] for run in study.runs]
    header = ["average forgetting after", *(f"task {s}" for s in range(2, study.tasks + 1)), "learned a task"]
    console.table(header, rows)
    rows = [[run.learner, *(f"{value.mean:.3g}" for value in run.forgetting[-1])] for run in study.runs]
    console.table(["forgotten at the end of", *(f"task {s}" for s in range(1, study.tasks))], rows)
    tasks = [f"task {s}" for s in range(1, study.tasks + 1)]
    for words, costs in (
        ("seconds, one thread", [run.seconds for run in study.runs]),
        ("component gradients", [run.costs["ifo_calls"] for run in study.runs]),
        ("numbers sent", [run.costs["communicated"] for run in study.runs]),
    ):
        rows = [
            [run.learner, *(f"{value:.4g}" for value in cost), f"{sum(cost):.4g}"]
            for run, cost in zip(study.runs, costs, strict=True)
        ]
        console.table([words, *tasks, "sum"], rows)
    rows = [[run.learner, *(f"{value:.4g}" for value in run.kept)] for run in study.runs if run.kept]
    if rows:
        console.table(["components remembered at", *tasks[1:]], rows)
    console.print()


def _learned(run: TaskRun) -> str:
    return f"{sum(value.mean for value in run.learned) / len(run.learned):.3g}"


def _interval(value: Mean) -> str:
    return f"{value.mean:.3g}\n[{value.low:.3g}, {value.high:.3g}]"
