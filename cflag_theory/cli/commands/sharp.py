"""`cflag sharp`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, echo

from cflag_theory.cli import shell
from cflag_theory.errors import InvalidInput


def sharp_command(
    lemmas: Annotated[
        list[str] | None, Argument(help="lemma12, lemma13, cor14, lemma15_1, lemma15_2, lemma16; default: all.")
    ] = None,
    n: Annotated[
        list[int] | None, Option("--n", help="Components of a client; repeatable, but once for a run.")
    ] = None,
    local_steps: Annotated[list[int] | None, Option("--E", help="Local steps a round; repeatable.")] = None,
    step: Annotated[list[str] | None, Option("--step", help="beta L E, such as 1/12 or 0.25; repeatable.")] = None,
    order: Annotated[
        str, Option(help="worst, cyclic, repeated, or the components refreshed at k = 1, ..., E - 1, such as 0,1,0.")
    ] = "worst",
    pep: Annotated[
        bool, Option("--pep", help="Also by semidefinite programming, proved in fractions; n E up to 20 only.")
    ] = False,
    algorithm: Annotated[
        str | None, Option(help="Instead: the worst case of a run: fedavg, fedtrack, scaffold, ..., or FILE.py:name.")
    ] = None,
    rounds: Annotated[int | None, Option("--T", help="Rounds of the run.")] = None,
    eta: Annotated[str | None, Option(help="Step size of its local steps, such as 1/10; best or largest.")] = None,
    L: Annotated[str | None, Option("--L", help="Smoothness of the clients' functions; default: 1.")] = None,
    mu: Annotated[str | None, Option(help="Strong convexity, for --class strongly-convex.")] = None,
    kind: Annotated[str | None, Option("--class", help="convex, strongly-convex or smooth; default: convex.")] = None,
    radius: Annotated[
        str | None, Option(help="Bounds ||x_0 - x*||, for smooth functions F(x_0) - F(x_T); default: 1.")
    ] = None,
    heterogeneity: Annotated[str | None, Option(help="Bounds the mean of ||grad f_i(x*)||^2; default: 1.")] = None,
    measure: Annotated[str | None, Option(help="f, distance, grad or min-grad; default: f.")] = None,
    clients: Annotated[int | None, Option("--N", help="Clients: 1, or more, which are all alike.")] = None,
    participants: Annotated[
        int | None, Option("--S", help="Clients that take part, drawn; all by default. Needs T = 1, distance.")
    ] = None,
    alpha: Annotated[str | None, Option(help="Of c_flag: step along the memory; default: 1/(L (1 + m)).")] = None,
    bias: Annotated[str | None, Option("--m", help="Of c_flag: bias of the memory; default: 0.")] = None,
    ratio: Annotated[
        str | None, Option("--r", help="Of c_flag: mean ||grad g_i||^2 <= r^2 ||grad f||^2; default: 1.")
    ] = None,
    server_rate: Annotated[str | None, Option(help="Factor of the server's step; default: 1.")] = None,
    proximal: Annotated[str | None, Option(help="Weight of the proximal term, as in fedprox.")] = None,
    published: Annotated[bool, Option("--published", help="Instead: published bounds over exact worst cases.")] = False,
    recheck: shell.RecheckOption = False,
    details: shell.DetailsOption = False,
    out: Annotated[
        Path | None, Option(help="Folder for sharp.json, or worst_case.json, and its figure as png and svg.")
    ] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Compare the constants of Lemmas 12 to 16 with exact ones, or find the worst case of a method's run.

    Also how large a step size each lemma really allows, and what that does to the 60 L of Lemma 3. A method's worst
    case is an interval: its upper end is proved in fractions, and a run on explicit functions attains its lower end.
    """
    of_run: dict[str, Any] = {
        "T": rounds,
        "eta": eta,
        "L": L,
        "mu": mu,
        "class": kind,
        "radius": radius,
        "heterogeneity": heterogeneity,
        "measure": measure,
        "N": clients,
        "S": participants,
        "alpha": alpha,
        "m": bias,
        "r": ratio,
        "server-rate": server_rate,
        "proximal": proximal,
    }
    of_lemmas = {"step": step, "pep": pep or None, "LEMMAS": lemmas}
    named_order = None if order == "worst" else order
    if published:
        others = {"n": n, "E": local_steps, "order": named_order, "algorithm": algorithm}
        _refuse(of_lemmas | of_run | others, "--published")
        _published(details, out, format)
        return
    if algorithm is not None:
        _refuse(of_lemmas, "--algorithm")
        of_run |= {"n": n, "order": named_order}
        _worst_case(algorithm, local_steps, of_run, anew=recheck, details=details, out=out, format=format)
        return
    _refuse(of_run, "the lemmas", "add --algorithm, or leave it out")
    from cflag_theory.cli.tables import sharp as tables
    from cflag_theory.studies.worst_cases.constants import (
        LOCAL_STEPS,
        SIZES,
        SOLVED_LOCAL_STEPS,
        SOLVED_SIZES,
        STEPS,
        parse_order,
        parse_step,
        pieces,
        sharp,
    )
    from cflag_theory.studies.worst_cases.curves import sharp_curves

    usual = (SOLVED_SIZES, SOLVED_LOCAL_STEPS) if pep else (SIZES, LOCAL_STEPS)
    sizes, lengths = n or list(usual[0]), local_steps or list(usual[1])
    places = [parse_step(text) for text in step] if step else list(STEPS)
    if out is not None:
        shell.take_folder(out)
    with shell.progress_bar("worst cases", pieces(lemmas or (), sizes, lengths, places)) as advance:
        found = sharp(
            lemmas or (),
            n=sizes,
            local_steps=lengths,
            u=places,
            order=parse_order(order),
            pep=pep,
            progress=lambda words: advance(1, words),
        )
    results, curves = found.to_json(), None if out is None else sharp_curves(lemmas or (), n=sizes, local_steps=lengths)
    shell.show_study(
        found,
        out,
        "sharp",
        results=results,
        format=format,
        table=tables.sharp,
        details=details,
        rest="Each n, E and beta L E, and Lemma 3",
        kept=results | {"curves": curves},
        allow_nan=False,
    )


def _refuse(given: dict[str, Any], other: str, remedy: str = "leave it out") -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInput(f"--{name} does not go with {other}: {remedy}")


def _published(details: bool, out: Path | None, format: shell.Format) -> None:
    from cflag_theory.cli.tables import sharp as tables
    from cflag_theory.studies.worst_cases.published import PUBLISHED, SETTINGS, table

    if out is not None:
        shell.take_folder(out)
    with shell.progress_bar("published bounds", len(PUBLISHED) * len(SETTINGS)) as advance:
        found = table(progress=lambda words: advance(1, words))
    shell.show_study(
        found,
        out,
        "published",
        format=format,
        table=tables.worst,
        details=details,
        rest="Where each bound stands",
        allow_nan=False,
    )


def _worst_case(
    name: str,
    local_steps: list[int] | None,
    of_run: dict[str, Any],
    *,
    anew: bool,
    details: bool,
    out: Path | None,
    format: shell.Format,
) -> None:
    from cflag_theory.files import write_text
    from cflag_theory.studies.worst_cases.published import that_apply
    from cflag_theory.worstcase.saving import kept_worst_case, record
    from cflag_theory.worstcase.steps import best_step, largest_step_of

    setting, eta = _setting(name, local_steps, of_run), of_run["eta"]
    if eta == "largest" or setting.families:
        _refuse({"out": out}, "--eta largest" if eta == "largest" else "draws over several rounds")
    if out is not None:
        shell.take_folder(out)
    found: Any
    with shell.progress_bar("relaxed programs", None) as advance:

        def told(value: float) -> None:
            advance(1, f"at {value:.6g}")

        if eta == "largest":
            found = largest_step_of(setting, progress=told)
        else:
            setting = best_step(setting, progress=told) if eta == "best" else setting
            found = kept_worst_case(setting, progress=told, anew=anew)
    kept = None if out is None else record(found)
    beside = None if eta == "largest" else that_apply(found.setting)
    rest = "What is assumed, and a short proof"
    _show(found, details=details, out=out, kept=kept, format=format, rest=rest, beside=beside)
    if out is not None and (text := found.page()):
        write_text(out / "worst_case.page", text)
        if format is not shell.Format.json:
            echo(f"proof: {out / 'worst_case.page'}, which cflag verify decides anew.")


def check_worst_case(file: Path, *, details: bool, format: shell.Format) -> None:
    """The proof and the run of a worst_case.json once more."""
    from cflag_theory.worstcase.saving import read

    _show(read(file), details=details, out=None, kept=None, format=format)


def _show(
    found: Any,
    *,
    details: bool,
    out: Path | None,
    kept: Any,
    format: shell.Format,
    rest: str = "",
    beside: Sequence[Any] | None = None,
) -> None:
    """A worst case, and the published bounds beside it where they are asked for."""
    from cflag_theory.cli.tables import sharp as tables

    def shown(one: Any, *, details: bool) -> None:
        tables.worst(one, details=details)
        if beside is not None:
            tables.published(beside)

    shell.show_study(
        found,
        out,
        "worst_case",
        results=found.to_json() | ({} if beside is None else {"published": [one.to_json() for one in beside]}),
        format=format,
        table=shown,
        details=details,
        rest=rest,
        kept=kept,
        allow_nan=False,
    )


def _setting(name: str, local_steps: list[int] | None, of_run: dict[str, Any]) -> Any:
    """A worst case's setting from the options."""
    from cflag_theory.studies.worst_cases.constants import parse_order
    from cflag_theory.worstcase.methods import Setting
    from cflag_theory.worstcase.playing import method

    if local_steps is None or len(local_steps) != 1 or of_run["T"] is None or of_run["eta"] is None:
        raise InvalidInput("a worst case needs one --E, --T and --eta: give all three")
    if of_run["n"] is not None and len(of_run["n"]) != 1:
        raise InvalidInput("a worst case needs one --n: give it once")
    row = {"server_rate": of_run["server-rate"], "proximal": of_run["proximal"]}
    numbers = {key: of_run[key] for key in ("L", "mu", "radius", "heterogeneity", "alpha")}
    numbers |= {"bias": of_run["m"], "ratio": of_run["r"]}
    words: dict[str, Any] = {"kind": of_run["class"], "measure": of_run["measure"]}
    words |= {"clients": of_run["N"], "participants": of_run["S"]}
    if of_run["n"] is not None:
        words["components"] = of_run["n"][0]
    if of_run["order"] is not None:
        order = parse_order(of_run["order"])
        repeated = (0,) * (local_steps[0] - 1)
        words["order"] = order if isinstance(order, tuple) else repeated if order == "repeated" else ()
    words |= {key: _number(key, text) for key, text in numbers.items() if text is not None}
    searched = of_run["eta"] in ("best", "largest")
    if of_run["eta"] == "largest":
        words.setdefault("heterogeneity", Fraction(0))
    return Setting(
        method(name, **{key: _number(key, text) for key, text in row.items() if text is not None}),
        local_steps[0],
        of_run["T"],
        Fraction(1) if searched else _number("eta", of_run["eta"]),
        **{key: value for key, value in words.items() if value is not None},
    )


def _number(name: str, text: str) -> Fraction:
    from cflag_theory.kernels.numbers import fraction

    try:
        return fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidInput(f"--{name} is {text!r}: use a number such as 1/10 or 0.25") from None
