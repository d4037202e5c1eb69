"""The loops of `vector_loops` as plain Python that Numba compiles through its public interface alone.

They run where Numba or LLVM is of another version, and tests compare the generated ones with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import in_order, inner
from cflag_theory.kernels.engines.codegen.kinds import GROUP, LINES, Formula, formula_of


def loop_text(formula: Formula) -> str:
    """The loop over the vectors of a formula, as Python text that calls it `body`."""
    first, summed = formula.vectors[0], formula.returned != "Written"
    given = [
        {"Number": name, "Later": "None"}.get(kind, f"{name}[{name}_row, column]")
        for name, kind in formula.kinds.items()
    ]
    new = [f"new_{name}" for name in formula.written] + ["term"] * summed
    lines = [f"def {formula.body.__name__}({', '.join(formula.names)}):", f"    number = {first}.dtype.type"]
    lines += [f"    {name} = number({name})" for name, kind in formula.kinds.items() if kind == "Number"]
    if summed:
        lines += [f"    total = {'0.0' if formula.returned == 'Measured' else 'number(0)'}"]
    lines += [f"    for column in range({first}.shape[1]):", f"        {', '.join(new)} = body({', '.join(given)})"]
    lines += [f"        {name}[{name}_row, column] = new_{name}" for name in formula.written]
    if summed:
        lines += ["        total += number(term)"]
    if formula.returned in LINES:
        lines += ["    lines[lines_row, 0] = total"]
    elif summed:
        lines += ["    return total"]
    return "\n".join(lines) + "\n"


def sweep(body: Callable[..., Any]) -> Any:
    """Compile a formula into a loop over vectors, as `vector_loops` says."""
    formula = formula_of(body)
    space: dict[str, Any] = {"body": in_order(body)}
    exec(loop_text(formula), space)
    loop = space[body.__name__]
    loop.__doc__, loop.__module__ = body.__doc__, body.__module__
    # What is written place by place has one order; the terms of a sum may be reordered, so that it vectorises.
    return in_order(loop) if formula.returned == "Written" else inner(loop)


_slope = in_order(formulas.slope)


def folded_slopes(kind: int) -> Any:
    """(lines, starts, out): out[g] = phi'(starts[g, 0] + lines[g, 0]), where a line's sum stands, GROUP times."""

    @in_order
    def fold(lines: Any, starts: Any, out: Any) -> None:
        for g in range(GROUP):
            out[g] = _slope(kind, lines[g, 0] + starts[g, 0])

    return fold


fold_lines = folded_slopes(formulas.QUADRATIC)


@inner
def ask_for(array: Any, place: int) -> None:
    """Nothing: plain loops do not ask beforehand."""
