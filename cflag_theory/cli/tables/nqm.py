"""The studies of the noisy quadratic model as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.rates.cfl import CFLRate


def nqm(found: Mapping[str, Any], *, details: bool) -> None:
    """How much of Table 3 and of the text is reproduced; with details everything that `nqm.table3.nqm_study` found."""
    console = Page()
    _headline(console, found["grids"])
    _table3(console, found["table"], details)
    _sentences(console, found["sentences"])
    setting = ", ".join(f"{name} = {value}" for name, value in found["setting"].items())
    console.say(f"Parameters the paper omits: {setting}")
    if details:
        console.print()
        _beside(console, found)
    if details and found["search"]:
        _search(console, found["search"])


def _grid(console: Page, title: str, columns: list[str], rows: list[list[str | Text]]) -> None:
    console.table(columns, rows, title=title)
    console.print()


def _headline(console: Page, grids: list[dict[str, Any]]) -> None:
    counts = [row["agree"] for row in grids]
    of = grids[0]["entries"]
    said = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(counts[0])
    steps = ", ".join(f"{row['agree']} in steps of {row['grid']:g}" for row in grids)
    finest = grids[-1]
    console.say(
        f"Table 3: {said} of {of} printed learning rates agree with the best ones here within 0.005 or 10 %, by how "
        f"fine the grid of learning rates is ({steps}). At the printed rates the criterion is within 1 % of its best "
        f"in {finest['near']} of {of} entries (steps of {finest['grid']:g})."
    )
    console.say(
        "The paper does not give these parameters. The defaults were chosen after a search among the settings that "
        "agree most with Table 3, so the agreement is not an independent confirmation.\n"
    )


def _table3(console: Page, entries: list[dict[str, Any]], details: bool) -> None:
    names = list(dict.fromkeys(entry["cell"] for entry in entries))
    methods = list(dict.fromkeys(entry["method"] for entry in entries))
    rows: list[list[str | Text]] = []
    losses: list[list[str | Text]] = []
    for method in methods:
        chosen = [entry for entry in entries if entry["method"] == method]
        rows.append([method, *(f"{entry['rate']:.4g}" for entry in chosen)])
        losses.append([method, *(f"{entry['loss']:.3g}" for entry in chosen)])
        if chosen[0]["printed"] is None:
            continue
        rows.append(["  printed", *(f"{entry['printed']:g}" for entry in chosen)])
        rows.append(["  ratio", *(Text(f"{e['ratio']:.2f}", style="green" if e["agrees"] else "red") for e in chosen)])
        losses.append(["  at printed", *(f"{entry['printed_loss']:.3g}" for entry in chosen)])
    _grid(console, "Table 3, by exact moments: best learning rates", ["", *names], rows)
    if details:
        _grid(console, "The criterion at the best and at the printed rates", ["", *names], losses)
    compared = [entry for entry in entries if entry["printed"] is not None]
    wrong = [f"{entry['method']} {entry['cell']}" for entry in compared if not entry["agrees"]]
    agree = f"{len(compared) - len(wrong)} of {len(compared)} entries agree within 0.005 or 10 %"
    console.say(agree + (f"; not {', '.join(wrong)}.\n" if wrong else ".\n"))


def _sentences(console: Page, sentences: list[dict[str, Any]]) -> None:
    hold = sum(row["holds"] for row in sentences)
    console.say(f"Of {len(sentences)} sentences of Sec. 5.1.2, {hold} hold in this setting", style="bold")
    for row in sentences:
        mark = Text("holds  ", style="green") if row["holds"] else Text("fails  ", style="red")
        where = f" Fails in {', '.join(row['fails_in'])}." if row["fails_in"] else ""
        console.print(mark + Text(f"{row['sentence']}: {row['reading']}.{where}"))
    console.print()


def _beside(console: Page, found: Mapping[str, Any]) -> None:
    rows: list[list[str | Text]] = [
        [
            row["cell"],
            f"{row['constant']:.4g}",
            f"{row['loss']:.4g}",
            f"{row['c']:.3g}/(t + {row['t0']:g})",
            f"{row['CFL']:.4g}",
            f"{window['ratio']:.3f}",
        ]
        for row, window in zip(found["decaying"], found["windows"], strict=True)
    ]
    columns = ["setting", "FedAvg", "FedAvg, decaying", "steps", "CFL", "window/all"]
    _grid(console, "Best losses, and what CFL loses by keeping 40 of 200 rounds", columns, rows)
    if found["monte_carlo"]:
        covered = sum(row["covered"] for row in found["monte_carlo"]) / len(found["monte_carlo"])
        replicas = found["monte_carlo"][0]["replicas"]
        console.say(
            f"Simulated: {replicas} runs of each curve; the 95 % interval of their mean contains the exact mean in "
            f"{100 * covered:.0f} % of all rounds.\n"
        )


def _search(console: Page, search: Mapping[str, Any]) -> None:
    settings = search["settings"]
    names = list(dict.fromkeys(row["cell"] for row in search["cells"]))
    methods = list(dict.fromkeys(row["method"] for row in search["cells"]))
    count = {(row["method"], row["cell"]): row["reproduced_in"] for row in search["cells"]}
    rows: list[list[str | Text]] = [
        [method, *(f"{100 * count[method, name] / settings:.1f} %" for name in names)] for method in methods
    ]
    _grid(console, f"Part of {settings} settings in which an entry agrees", ["method", *names], rows)
    most = f"no setting reproduces more than {search['most_cells']} of {len(search['cells'])} entries"
    console.say(f"With learning rates in steps of {search['step']:g}, {most}.")
    for row in search["sentences"]:
        share = 100 * row["holds_in"] / settings
        console.say(f"  {row['sentence']}: in {share:.0f} % of the settings")


def cfl_rate(study: CFLRate, *, details: bool) -> None:
    """One rate study of FedAvg and CFL: where they end; with details every quantity of both."""
    console, model = Page(), study.model
    console.say(f"{study.title}: {study.finding}.", style="bold")
    console.say(
        f"  d = {model.dimension}, N = {model.clients}, K = {model.K}; L = {model.L:g}, mu = {model.mu:g}, "
        f"G = {model.G:g}, D = {model.D:g}, sigma = {model.sigma:.3g}, I = {model.information_loss:g}; "
        f"{study.replicas} replicas, seed {study.seed}"
    )
    if not details:
        ends = [
            [str(T), *(f"{rate.last[k]:.3e}" for rate in study.methods), f"{study.floor[k]:.3e}"]
            for k, T in enumerate(study.horizons)
        ]
        console.table(["T", *(f"{rate.method}: expected f(w_T) - f*" for rate in study.methods), "floor"], ends)
        for rate in study.methods:
            least = min(printed / mean for printed, mean in zip(rate.printed, rate.mean, strict=True))
            console.say(f"  {rate.method}: printed rate / exact is at least {least:.3g}; fitted slope {rate.slope:.3f}")
        console.print()
        return
    for rate in study.methods:
        rows: list[list[str | Text]] = []
        for place, T in enumerate(study.horizons):
            simulated = f"{rate.simulated[place]:.3e}" if place < len(rate.simulated) else ""
            ours = rate.ours[place]
            quotient = rate.printed[place] / rate.mean[place]
            rows.append(
                [
                    str(T),
                    f"{rate.last[place]:.3e}",
                    simulated,
                    "" if ours is None else f"{ours:.3e}",
                    f"{study.floor[place]:.3e}",
                    f"{rate.mean[place]:.3e}",
                    f"{rate.printed[place]:.3e}",
                    Text(f"{quotient:.3g}", style="red" if quotient < 1 else ""),
                ]
            )
        header = ["T", "at T", "simulated", "proved", "floor", "q-mean", "printed", "printed/q-mean"]
        _grid(
            console,
            f"  {rate.method}: expected f(w) - f*, fitted slope {rate.slope:.3f} for T >= {study.fit_from}",
            header,
            rows,
        )
