"""`python -m benchmarks.gpu`: the CUDA kernels against the CPU and JAX; without a GPU one sentence and exit code 2."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import Annotated, Any

import typer

from benchmarks.__main__ import Format, FormatOption, WriteOption, tell
from benchmarks.cases import CASES

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


def describe_gpu() -> dict[str, Any]:
    """The GPU: its name, architecture, multiprocessors and memory."""
    import numba.cuda

    cuda: Any = numba.cuda
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    return {
        "gpu": name,
        "capability": ".".join(map(str, device.compute_capability)),
        "multiprocessors": int(device.MULTIPROCESSOR_COUNT),
        "memory": int(cuda.current_context().get_memory_info().total),
    }


@app.command()
def gpu(
    case: Annotated[list[str] | None, typer.Option(help="A case, such as 'M x16'; repeatable. All by default.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Interleaved repetitions.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.001, help="Length of one timed run, about.")] = 0.2,
    check: Annotated[bool, typer.Option("--check", help="Compare iterates only, and time nothing.")] = False,
    format: FormatOption = Format.table,
    write: WriteOption = False,
) -> None:
    """Check the kernels on a GPU and time them. Exit code 1: some iterates are not those of the CPU; 2: no GPU."""
    from cflag_theory.errors import CflagError
    from cflag_theory.kernels.engines.cuda.run import require_gpu

    names = case or list(CASES)
    for name in names:
        if name not in CASES:
            raise typer.BadParameter(f"case {name!r} is unknown: use one of {', '.join(CASES)}")
    try:
        require_gpu()
    except CflagError as error:
        print(f"benchmarks.gpu: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    # JAX would take three quarters of the GPU's memory when it first looks at it.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    from benchmarks.gpu.contest import ceilings, contest
    from benchmarks.gpu.sheets import ceiling_sheet, disagreements, gpu_sheet
    from benchmarks.machine import describe
    from benchmarks.results_file import preamble, write_part
    from benchmarks.sheets import as_json, markdown, show

    device = describe_gpu()
    rates = {} if check else ceilings()
    rows = [
        row
        for name in names
        for row in contest(CASES[name], repeats=repeats, seconds=seconds, tell=tell, timed=not check)
    ]
    sheets = [gpu_sheet(rows, rates), *([ceiling_sheet(device, rates)] if rates else [])]
    if format is Format.json:
        found = {"machine": describe() | device, "ceilings": rates, "rows": rows}
        typer.echo(json.dumps(as_json(found), indent=1, allow_nan=False))
    else:
        show(sheets)
    if write:
        write_part(
            "gpu",
            [*preamble(describe(), shlex.join(["python", "-m", "benchmarks.gpu", *sys.argv[1:]])), *markdown(sheets)],
        )
    faults = disagreements(rows)
    for fault in faults:
        tell(fault)
    if faults:
        raise typer.Exit(1)


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.gpu")
