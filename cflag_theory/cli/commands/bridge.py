"""`cflag bridge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from cflag_theory.cli.commands.bridge_actions import faster, plan, put_beside, run, say_data, say_presets
from cflag_theory.cli.shell import DetailsOption, Format, FormatOption
from cflag_theory.errors import InvalidInput


def bridge_command(
    files: Annotated[
        list[Path] | None,
        Argument(metavar="[FILE.toml | FOLDER...]", help="A TOML file; with --report folders of runs."),
    ] = None,
    preset: Annotated[str | None, Option(help="Such as table3-cifar10; --list-presets names all.")] = None,
    data: Annotated[str | None, Option(help="digits, fashion-mnist, cifar10, cifar100 or tinyimagenet.")] = None,
    root: Annotated[Path | None, Option(help="Folder of the data; digits need none.")] = None,
    download: Annotated[bool, Option("--download", help="Download the data to --root if missing.")] = False,
    protocol: Annotated[
        str | None, Option(help="tasks: learned one after another; rounds: data change in every round (CFL).")
    ] = None,
    tasks: Annotated[int | None, Option(help="Number of tasks; classes are split evenly among them.")] = None,
    clients: Annotated[int | None, Option(help="Clients.")] = None,
    zeta: Annotated[float | None, Option(help="Dirichlet parameter: 0.1 non-IID, 1e5 IID.")] = None,
    partition: Annotated[str | None, Option(help="class-over-clients, client-over-classes or balanced.")] = None,
    model: Annotated[str | None, Option(help="linear, mlp, cnn, resnet18 or resnet50.")] = None,
    heads: Annotated[
        str | None,
        Option(
            help="list: one head per task; masked: one, its logits masked; shared: one for all; growing: "
            "class-incremental."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        Option(
            help="c_flag, finetune, ewc, nccl, fedtrack, er_ring; lwf, icarl or target for growing heads; with rounds "
            "fedavg, fedprox, mimelite, cfl_core, cfl_reg, cfl_reg_prox or cfl_gen; repeatable; default: all."
        ),
    ] = None,
    mode: Annotated[str | None, Option(help="theory, paper or released.")] = None,
    adaptive: Annotated[str | None, Option(help="Rates of C-FLAG: none, average, worst or printed.")] = None,
    rounds: Annotated[int | None, Option(help="Rounds per task.")] = None,
    epochs: Annotated[int | None, Option(help="Passes over a client's data per round.")] = None,
    batch: Annotated[int | None, Option(help="Size of minibatches.")] = None,
    lr: Annotated[float | None, Option(help="Step size of the local steps.")] = None,
    smoothness: Annotated[float | None, Option("--L", help="L in the adaptive rates and in Gamma(t).")] = None,
    memory_kind: Annotated[str | None, Option(help="ring, reservoir, by-task or herding.")] = None,
    memory_size: Annotated[int | None, Option(help="Samples kept per task and client.")] = None,
    memory_sample: Annotated[int | None, Option(help="Samples of each past task per step.")] = None,
    seeds: Annotated[str | None, Option(help="Such as 1234,1235,1236.")] = None,
    device: Annotated[str | None, Option(help="cpu, cuda or cuda:1.")] = None,
    dtype: Annotated[str | None, Option(help="float32 or float64.")] = None,
    past_every: Annotated[int | None, Option(help="Measure f, m and r every so many rounds; 0: never.")] = None,
    fast: Annotated[bool, Option("--fast", help="What is faster and changes results by rounding.")] = False,
    set_: Annotated[
        list[str] | None, Option("--set", help="KEY=VALUE, such as threads=4 or c_flag.clamp=0.5; repeatable.")
    ] = None,
    out: Annotated[Path | None, Option(help="Folder of the run; default: named after it.")] = None,
    resume_anyway: Annotated[
        bool, Option("--resume-anyway", help="Continue with other versions, device or threads; the change is recorded.")
    ] = False,
    check_data: Annotated[
        Path | None, Option("--check-data", metavar="DIR", help="Only say which data sets it holds.")
    ] = None,
    report: Annotated[bool, Option("--report", help="Only compare stored runs with printed numbers.")] = False,
    list_presets: Annotated[bool, Option("--list-presets", help="Only list the presets.")] = False,
    details: DetailsOption = False,
    format: FormatOption = Format.table,
) -> None:
    """Train C-FLAG and other methods on images, with PyTorch.

    The same command continues a run that was stopped.

    Without arguments: Split-Digits, five tasks of two digits, 5 clients, all methods.
    """
    options = locals()
    from cflag_theory.bridge.settings.run_settings import RULES

    given: dict[str, Any] = {name: value for name, value in options.items() if name in RULES}
    given |= {"root": None if root is None else str(root), "download": download or None, "methods": method or None}
    given |= {"L": smoothness, "c_flag": None if adaptive is None else {"adaptive": adaptive}}
    given |= {"seeds": None if seeds is None else _integers(seeds)}
    given = {name: value for name, value in given.items() if value is not None}
    asked = {"--check-data": check_data is not None, "--report": report, "--list-presets": list_presets}
    instead = [flag for flag, wanted in asked.items() if wanted]
    if instead:
        others: dict[str, object] = {"the preset": preset, "--set": set_, "--fast": fast}
        others |= {"--resume-anyway": resume_anyway}
        others |= {f"the setting {key}": True for key in given}
        if not report:
            others |= {"--out": out, "a file": files}
        stray = [*instead[1:], *(name for name, value in others.items() if value)]
        if stray:
            raise InvalidInput(f"{instead[0]} runs nothing, so {stray[0]} has no effect: leave one of them out")
    if check_data is not None:
        say_data(check_data, format)
    elif list_presets:
        say_presets(format)
    elif report:
        put_beside(files or (), out, format)
    else:
        planned = plan(files or (), preset, given, set_ or (), out)
        run(faster(planned) if fast else planned, preset, format, anyway=resume_anyway, details=details)


def _integers(text: str) -> list[int]:
    try:
        return [int(piece) for piece in text.split(",")]
    except ValueError:
        raise InvalidInput(f"--seeds {text!r} is not a list of integers: write 1234,1235,1236") from None
