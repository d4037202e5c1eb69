"""Why no proof was found: what was tried, and numbers at which the facts allow the claim to fail, or what lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import clarabel
import numpy as np
import sympy as sp
from scipy import sparse

from cflag_theory.falsify.vector_terms.gram import Array, Form, draws
from cflag_theory.falsify.vector_terms.programs import Programs, solved
from cflag_theory.falsify.vector_terms.proving import in_squares, prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading

#: Draws that are looked at; facts, and products of vectors, that are listed.
_DRAWS, _LISTED = 16, 12


def reasons(reading: Reading) -> Iterator[str]:
    """Sentences for people; they rest on floating-point programs, and no verdict does on them."""
    for hint in reading.hints:
        if prove_vectors(replace(reading, goal=hint.relation, hints=()).as_proved()) is None:
            yield f"proof: {hint.name} was not proved, and is not used"
    goal, known = in_squares(reading.as_proved())
    form = Form(goal, known)
    kinds = Counter(name.partition(" of ")[0].partition(" between ")[0] for name in form.rows)
    listed = [f"{name} ({count})" if count > 1 else name for name, count in kinds.items()]
    vectors = ", ".join(str(v) for v in dict.fromkeys(v for of in form.vectors.values() for v in of))
    facts = ", ".join(listed[:_LISTED]) + (f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else "")
    yield f"proof: tried {facts or 'no facts'}, and squares of {vectors or 'numbers'}"
    if not form.fits or reading.goal.op == "==":
        what = "an equation" if reading.goal.op == "==" else "no quotient of polynomials, or too large"
        yield f"proof: the claim is {what}, so that no semidefinite program was asked"
        return
    at = draws(form, _DRAWS)
    if not len(at):
        yield "proof: no numbers were drawn that satisfy the hypotheses about numbers"
        return
    programs = Programs(form, at)
    found = [programs.solve(row, programs.names) for row in range(len(at))]
    if None in found:
        failed = [n for n, one in enumerate(found) if one is None]
        row = min(failed, key=lambda n: float(np.abs(np.log(np.abs(at[n]) + 1e-9)).sum()))
        numbers = _numbers(form, at[row])
        yield f"proof: at {numbers} the claim follows from no multiples of these facts and squares"
        if (values := against(programs, row)) is not None:
            yield f"proof: there the facts allow {values}, where left - right is 1"
        return
    sizes = {name: max(one[name] for one in found if one is not None) for name in programs.names}
    used = sorted((name for name, size in sizes.items() if size > 1e-4), key=lambda name: -sizes[name])[: _LISTED // 2]
    yield (
        f"proof: at each of {len(at)} draws the claim follows from {', '.join(used) or 'squares alone'}; "
        "what is missing are multipliers as formulas of the numbers, or their signs"
    )
    products = [name for name in form.numbers if name in {fact.name for fact in reading.facts}]
    if products and used:
        yield f"proof: it may need a product of {products[0]} with {used[0]}: prove that first and give it as a hint"


def _numbers(form: Form, row: Array) -> str:
    numbers = form.numbers_at(sp.Float(float(value)) for value in row)
    return ", ".join(f"{symbol} = {float(value):.3g}" for symbol, value in numbers.items()) or "all numbers"


def against(programs: Programs, row: int) -> str | None:
    """Values of products, function values and means that satisfy all facts, with left - right = 1."""
    form, table = programs.form, programs.tables[row]
    first = len(form.opaque) + 1
    unit = np.abs(table).max(axis=0, initial=1e-300)
    columns = (table / unit).T
    equal = [1 + n for n, name in enumerate(programs.names) if name in form.equations]
    rest = [1 + n for n, name in enumerate(programs.names) if name not in form.equations]
    one = np.eye(len(table))[[first - 1]]
    psd = np.eye(len(table))[first:]
    rows = np.vstack([columns[[0]], columns[equal], -columns[rest], -one, -psd])
    right = np.zeros(len(rows))
    right[0] = -1 / unit[0]
    cones = [clarabel.ZeroConeT(1 + len(equal)), clarabel.NonnegativeConeT(len(rest) + 1)]
    cones += [clarabel.PSDTriangleConeT(len(of)) for of in form.vectors.values() if of]
    quadratic = sparse.csc_matrix(1e-3 * np.eye(len(table)))
    answer = solved(quadratic, np.zeros(len(table)), rows, right, cones)
    if answer is None or str(answer.status) not in ("Solved", "AlmostSolved"):
        return None
    found = zip([*form.opaque, sp.S.One, *programs.pairs], np.array(answer.x), strict=True)
    shown = [(key, value * programs.sizes[key]) for key, value in found if key != 1]
    large = sorted((abs(value), str(key), value) for key, value in shown if abs(value) > 1e-3)[::-1][:_LISTED]
    return ", ".join(f"{key} = {value:.3g}" for _, key, value in large) or None
