"""Semidefinite programs at drawn values of a claim's numbers, in the multipliers of what is known."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from cflag_theory.falsify.vector_terms.gram import Array, Form, evaluated

#: How far a held multiplier may move, and errors of an answer although the solver stopped early.
_ROOM, _NEAR = 1e-7, 1e-5


def solved(quadratic: Any, cost: Array, rows: Array, right: Array, cones: list[Any]) -> Any:
    """The solver's answer; None where it has none."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.chordal_decomposition_enable = False, 1, False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return None
    solver = clarabel.DefaultSolver(quadratic, cost, sparse.csc_matrix(rows), right, cones, settings)
    # Where its eigenvalues do not converge it panics, which is no answer, and prints a stack on standard error.
    with _quiet():
        try:
            return solver.solve()
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing reaches standard error, whoever writes there."""
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class Programs:
    """The semidefinite programs of a form at rows of numbers, in the multipliers of what is known."""

    def __init__(self, form: Form, at: Array) -> None:
        self.form, self.at, self.names = form, at, list(form.rows)
        self.count = 0
        self.pairs, self.sizes, places, columns, factors = form.layout
        values = evaluated([c for one in form.every for c in one.values()], form.symbols, at)
        self.tables = np.zeros((len(at), len(self.sizes), len(form.every)))
        self.tables[:, places, columns] = values * factors

    def is_form(self, at: int, multipliers: Mapping[str, float]) -> bool:
        """Whether the goal at a row, less multiples of relations, is a sum of squares."""
        used = self.tables[at][:, [0, *(1 + self.names.index(name) for name in multipliers)]]
        used = used * [1.0, *(-value for value in multipliers.values())]
        column = used.sum(axis=1)
        near, place = _NEAR * (np.abs(used).max() or 1.0), len(self.form.opaque)
        if np.abs(column[:place]).max(initial=0.0) > near or column[place] < -near:
            return False
        place += 1
        for vectors in self.form.vectors.values():
            matrix = np.zeros((len(vectors), len(vectors)))
            for b, a in zip(*np.tril_indices(len(vectors)), strict=True):
                matrix[a, b] = matrix[b, a] = column[place] * (1 if a == b else 0.5**0.5)
                place += 1
            if np.linalg.eigvalsh(matrix).min(initial=0.0) < -near:
                return False
        return True

    def solve(
        self,
        at: int,
        used: Sequence[str],
        fixed: Mapping[str, float] | None = None,
        aim: tuple[str, float] | None = None,
    ) -> dict[str, float] | None:
        """Multipliers at a row that leave a sum of squares, the smallest ones, or with the `aim` as small as can be.

        None if there are none, or if the aim has no bound.
        """
        self.count += 1
        if not used:
            return {} if self.is_form(at, {}) else None
        fixed = fixed or {}
        table, first = self.tables[at], len(self.form.opaque) + 1
        # The goal and every relation in units of their largest terms, so that a claim times 10^8 is the same program.
        unit = np.abs(table[:, 0]).max() or 1.0
        columns = table[:, [1 + self.names.index(name) for name in used]]
        sizes = np.abs(columns).max(axis=0, initial=0.0) / unit
        sizes[sizes == 0] = 1.0
        # The last unknown is what is left over.
        with np.errstate(all="ignore"):
            columns = columns / (sizes * unit)
        a = np.column_stack([columns, np.eye(len(table))[first - 1]])
        b = table[:, 0] / unit
        held = [used.index(name) for name in fixed]
        ends = np.array(list(fixed.values())) * sizes[held]
        signed = [*(n for n, name in enumerate(used) if name not in self.form.equations), len(used)]
        picked, chosen = np.eye(len(used) + 1)[signed], np.eye(len(used) + 1)[held]
        # What is held may move a little: the multipliers of a tight claim have no inside.
        room = _ROOM * (1 + np.abs(ends))
        rows = np.vstack([a[:first], -picked, chosen, -chosen, a[first:]])
        right = np.concatenate([b[:first], np.zeros(len(signed)), ends + room, room - ends, b[first:]])
        cones = [clarabel.ZeroConeT(first), clarabel.NonnegativeConeT(len(signed) + 2 * len(held))]
        cones += [clarabel.PSDTriangleConeT(len(one)) for one in self.form.vectors.values() if one]
        cost = np.zeros(len(used) + 1)
        if aim is None:
            cost[signed[:-1]] = 1.0
        else:
            cost[used.index(aim[0])] = aim[1]
        none = sparse.csc_matrix((len(cost), len(cost)))
        answer = solved(none, cost, rows, right, cones)
        if answer is None:
            return None
        early = str(answer.status) in ("AlmostSolved", "InsufficientProgress")
        good = str(answer.status) == "Solved" or (early and max(answer.r_prim, answer.r_dual) <= _NEAR)
        return dict(zip(used, (np.array(answer.x[:-1]) / sizes).tolist(), strict=True)) if good else None
