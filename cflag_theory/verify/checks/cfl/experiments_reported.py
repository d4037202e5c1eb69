"""Tables 4, 5, 6, 7 and 9, recomputed: every comparison in exact decimals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, product

import sympy as sp

from cflag_theory.claims.cfl.published import (
    ALL_LAYERS,
    BACKBONE,
    BASELINES,
    CORE_SET,
    DATA_SETS,
    IMPROVEMENTS,
    OVERLAPS,
    REGULARIZATION,
    TABLES,
    WITH_PROX,
    Cell,
)
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

#: Half a unit of the last printed decimal.
_ROUNDING = sp.Rational(1, 200)
_CORE_SETS = ("Naive (Small Set)", "Naive (Large Set)", "iCaRL (Small Set)", "iCaRL (Large Set)")
#: Contradictions, and how many comparisons were made.
Findings = tuple[list[str], int]


def recomputed(part: str, findings: Findings, what: str, on: str = "printed") -> Evidence:
    """What printed numbers say of a sentence: contradictions refute it."""
    contradictions, compared = findings
    if contradictions:
        summary = f"{len(contradictions)} of {compared} {what} contradict: {'; '.join(contradictions)}."
        return Evidence("recomputation", part, on, REFUTES, summary, {"instance": contradictions, "compared": compared})
    return Evidence("recomputation", part, on, SUPPORTS, f"All {compared} {what} agree.", {"compared": compared})


def cells(table: str, *, setting: str | None = None, methods: Iterable[str] | None = None) -> list[Cell]:
    """Cells of a table, of one row or column and of some methods if asked."""
    wanted = None if methods is None else tuple(methods)
    return [
        cell
        for cell in TABLES
        if cell.table == table and setting in (None, cell.setting) and (wanted is None or cell.method in wanted)
    ]


def _mean(cell: Cell) -> sp.Rational:
    return sp.Rational(cell.accuracy)


def _place(cell: Cell) -> str:
    return f"Table {cell.table}, {cell.setting}"


def above(better: Iterable[Cell], worse: Iterable[Cell], *, significantly: bool = False) -> Findings:
    """Pairs of one table and row in which the first is not above the second; beyond both deviations if asked."""
    found, compared = [], 0
    for a, b in product(list(better), list(worse)):
        if (a.table, a.setting) != (b.table, b.setting):
            continue
        compared += 1
        margin = sp.Rational(a.deviation) + sp.Rational(b.deviation) if significantly else sp.S.Zero
        if _mean(a) - _mean(b) <= margin:
            found.append(
                f"{_place(a)}: {a.method} {a.accuracy} +- {a.deviation} against {b.method} {b.accuracy} "
                f"+- {b.deviation}"
            )
    return found, compared


def _together(*findings: Findings) -> Findings:
    return [line for lines, _ in findings for line in lines], sum(compared for _, compared in findings)


def _cell(table: str, setting: str, method: str) -> Cell:
    (found,) = cells(table, setting=setting, methods=(method,))
    return found


def improvement(method: str, data: str) -> sp.Rational:
    """The printed accuracy of a method of Table 5 less that of FedAvg."""
    return _mean(_cell("5", data, method)) - _mean(_cell("5", data, BACKBONE))


def _ratios(method: str, data: str) -> tuple[sp.Rational, sp.Rational]:
    """The range of (R - R_f) / R_f in percent over all accuracies that round to the printed ones."""
    R, R_f = _mean(_cell("5", data, method)), _mean(_cell("5", data, BACKBONE))
    least = (R - _ROUNDING) / (R_f + _ROUNDING) - 1
    most = (R + _ROUNDING) / (R_f - _ROUNDING) - 1
    return 100 * least, 100 * most


def _table5(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    differences, ratios = [], []
    for data, difference, ratio in IMPROVEMENTS:
        exact = improvement(REGULARIZATION, data)
        if exact != sp.Rational(difference):
            differences.append(f"{data}: {difference} is printed, {exact} is the difference")
        share = 100 * exact / _mean(_cell("5", data, BACKBONE))
        if abs(share - sp.Rational(ratio)) > _ROUNDING:
            ratios.append(f"{data}: {ratio} is printed, the ratio is {float(share):.4f}")
    yield recomputed("1", (differences, len(IMPROVEMENTS)), "differences")
    yield recomputed("2", (ratios, len(IMPROVEMENTS)), "ratios")
    yield recomputed("3", _together(_grows(REGULARIZATION), _grows_unrounded(REGULARIZATION)), "steps in difficulty")


def _grows(method: str) -> Findings:
    """Steps from an easier to a harder data set on which the improvement of a method does not grow."""
    hardest_last = sorted(DATA_SETS, key=lambda data: -_mean(_cell("5", data, BACKBONE)))
    found = [
        f"{method}: {improvement(method, easy)} on {easy}, {improvement(method, hard)} on {hard}"
        for easy, hard in pairwise(hardest_last)
        if improvement(method, easy) >= improvement(method, hard)
    ]
    return found, len(DATA_SETS) - 1


def _grows_unrounded(method: str) -> Findings:
    """The same with the worst accuracies before rounding, for differences and ratios."""
    found = []
    for easy, hard in pairwise(DATA_SETS):
        if improvement(method, easy) + 4 * _ROUNDING >= improvement(method, hard):
            found.append(f"{method}: differences on {easy} and {hard} within rounding")
        if _ratios(method, easy)[1] >= _ratios(method, hard)[0]:
            found.append(f"{method}: ratios on {easy} and {hard} within rounding")
    return found, 2 * (len(DATA_SETS) - 1)


def _overlaps(table: Iterable[Cell]) -> dict[str, list[sp.Rational]]:
    """Accuracies by method, in the order of the overlaps."""
    chosen = list(table)
    return {
        method: [
            _mean(cell) for overlap in OVERLAPS for cell in chosen if (cell.method, cell.setting) == (method, overlap)
        ]
        for method in dict.fromkeys(cell.method for cell in chosen)
    }


def _no_trend() -> Findings:
    rows = _overlaps(cells("9"))
    rising = [method for method, row in rows.items() if all(a < b for a, b in pairwise(row))]
    falling = [method for method, row in rows.items() if all(a > b for a, b in pairwise(row))]
    found = [
        f"all methods {word} with the overlap"
        for word, those in (("rise", rising), ("fall", falling))
        if len(those) == len(rows)
    ]
    return found, len(rows)


def _with_overlap() -> Findings:
    """Comparisons of Table 9 in which overlap is not above none by more than both deviations."""
    found, compared = [], 0
    for cell in cells("9"):
        if cell.setting == OVERLAPS[0]:
            continue
        none = _cell("9", OVERLAPS[0], cell.method)
        compared += 1
        if _mean(cell) - _mean(none) <= sp.Rational(cell.deviation) + sp.Rational(none.deviation):
            found.append(f"{cell.method}: {cell.accuracy} at {cell.setting}, {none.accuracy} at {none.setting}")
    return found, compared


def _text(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    CFL, regularized = (CORE_SET, REGULARIZATION, WITH_PROX), (REGULARIZATION, WITH_PROX)

    def over_baselines(table: str, methods: tuple[str, ...], setting: str | None = None) -> Findings:
        baselines = cells(table, setting=setting, methods=BASELINES)
        return above(cells(table, setting=setting, methods=methods), baselines)

    pairs = "comparisons with FL baselines"
    yield recomputed("1", over_baselines("6", CFL), pairs)
    yield recomputed("1", over_baselines("6", (CORE_SET,)), pairs, "repair")
    yield recomputed("2", over_baselines("7", regularized), pairs)
    yield recomputed("3", over_baselines("6", regularized, "alpha=0.2"), pairs)
    yield recomputed("3b", over_baselines("6", regularized), pairs)
    same = {cell.method for cell in cells("9")}
    table6 = cells("6", setting="alpha=0.1", methods=same)
    own, other = ([cell for cell in table6 if (cell.method in CFL) is wanted] for wanted in (True, False))
    yield recomputed("4", _together(over_baselines("9", CFL), above(own, other)), pairs)
    yield recomputed("5", _no_trend(), "methods of Table 9")
    worse = [f"{method}: {row}" for method, row in _overlaps(cells("9")).items() if row[0] > max(row[1:])]
    methods = len(_overlaps(cells("9")))
    yield recomputed("5b", (worse if len(worse) == methods else [], methods), "methods of Table 9")
    yield recomputed("6", _with_overlap(), "comparisons with no overlap")
    yield recomputed("7", _grows(REGULARIZATION), "steps in difficulty")
    yield recomputed("7b", _grows(CORE_SET), "steps in difficulty")
    table4 = cells("4")
    rest = [cell for cell in table4 if cell.method not in _CORE_SETS]
    naive, icarl = cells("4", methods=_CORE_SETS[:2]), cells("4", methods=_CORE_SETS[2:])
    yield recomputed(
        "8",
        _together(
            above([*naive, *icarl], rest, significantly=True),
            above(naive, icarl),
            above(cells("4", methods=("PyHessian",)), cells("4", methods=("Fisher Information Matrix",))),
        ),
        "comparisons in Table 4",
    )
    yield recomputed(
        "9", above(cells("5", methods=(REGULARIZATION,)), cells("5", methods=(ALL_LAYERS,))), "data sets of Table 5"
    )


def _against(first: Iterable[Cell], second: Iterable[Cell]) -> list[tuple[Cell, Cell]]:
    """Cells of the same method."""
    others = {cell.method: cell for cell in second}
    return [(cell, others[cell.method]) for cell in first if cell.method in others]


def _ours(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    tables = ("5", "6", "9")
    core = [cell for table in tables for cell in cells(table, methods=(CORE_SET,))]
    others = [cell for table in tables for cell in cells(table) if cell.method != CORE_SET]
    yield recomputed("1", above(core, others, significantly=True), "comparisons with core sets")
    gains = {
        _place(cell): _mean(cell) - _mean(_cell(cell.table, cell.setting, BACKBONE))
        for table in ("5", "6", "7", "9")
        for cell in cells(table, methods=(REGULARIZATION,))
    }
    stated = (sp.Rational("0.27"), sp.Rational("1.00"))
    wrong = [] if (min(gains.values()), max(gains.values())) == stated else [f"{gains}"]
    yield recomputed("2", (wrong, len(gains)), "settings with both")
    worse = [f"{method}: {row}" for method, row in _overlaps(cells("9")).items() if row[0] <= max(row[1:])]
    yield recomputed("3", (worse, len(_overlaps(cells("9")))), "methods of Table 9")
    row = cells("6", setting="alpha=0.1")
    common = _against(cells("5", setting="CIFAR10"), row)
    different = [
        f"{a.method}: {a.accuracy} +- {a.deviation} and {b.accuracy} +- {b.deviation}"
        for a, b in common
        if (a.accuracy, a.deviation) != (b.accuracy, b.deviation)
    ]
    yield recomputed("4", (different, len(common)), "common methods")
    disjoint = cells("9", setting=OVERLAPS[0])
    near = [a.method for a, b in _against(disjoint, row) if _mean(a) - _mean(b) < sp.Rational("3.39")]
    near += [a.method for a, b in _against(disjoint, cells("6", setting="alpha=0.2")) if _mean(a) <= _mean(b)]
    yield recomputed("5", (near, 2 * len(disjoint)), "comparisons of Tables 6 and 9")


CHECKS = {
    "cfl.table5": Check(further=_table5),
    "cfl.tables_text": Check(further=_text),
    "ours.cfl_tables": Check(further=_ours),
}
