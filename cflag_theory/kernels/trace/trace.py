"""The one result type of a run: registered scalar columns per round, the values at the end, a status."""

from __future__ import annotations

import math
from collections.abc import KeysView, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from cflag_theory.errors import Diverged, InvalidInput, UnknownName
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.shown import Sheet, Shown, number

# Measured at an iterate; the position is the slot in the engines' output.
STATE = {
    "f": "f(x_t), the past objective",
    "g": "g(x_t), the current objective",
    "h": "h~(x_t) = (|M| f_memory + |C| g) / (|M| + |C|), which is (3) on memory and current data",
    "grad_f2": "||grad f(x_t)||^2",
    "grad_g2": "||grad g(x_t)||^2",
    "grad_h2": "||grad h~(x_t)||^2",
    "grad_memory2": "||grad_f_memory(x_t)||^2, grad_f_memory = grad f + b of (6)",
    "b2": "||b(x_t)||^2, b = sum_i p_i b_i of (6)",
}
# Measured over a round. S below is the sum for which x_{t+1} = x_t - alpha grad_f_memory - beta S, as in (24). With
# adapted rates alpha is their mean sum_i p_i alpha_i and beta S the rest of the step, sum_i p_i beta_i a_i in Table 1:
# so Gamma and B are those of the step really taken, for which Lemma 1's inequality holds. Likewise the printed update.
# In runs of the CFL framework p_i is the share among the clients that take part, S also holds u_i and momentum, and
# sum_j c_j q_j of the round stands for g_i where local gradients are compared.
ROUND = {
    "Gamma": "forgetting term (15): (L beta^2 / 2) ||S||^2 - beta (1 - L alpha) <grad_f_memory, S>",
    "B": "overfitting term (34), its sum from k = 0: (L alpha^2 - alpha) <grad f, b> + beta <b, S>",
    "delayed_sum2": "||S||^2; S = sum_i p_i sum_k delayed_{i,k} for C-FLAG and FedTrack, and for every row the sum of "
    "estimates and proximal terms times server_rate, so that (24) holds",
    "drift2_max": "max over i and k <= E - 1 of ||x_{t,k}^i - x_t||^2 (Lemma 13)",
    "iag_error2_max": "max over i and k <= E - 1 of ||e_{t,k}^i||^2, e = estimate - grad g_i(x_{t,k}^i) (Corollary 14)",
    "rho_sum2": "||sum_k sum_i p_i grad g_i(x_{t,k}^i)||^2 (Lemma 15)",
    "error_sum2": "||sum_k sum_i p_i e_{t,k}^i||^2 (Lemma 16)",
    "information_loss": "mean over the clients that take part of (1 / t) sum_tau ||grad f_{tau,i}(x_t) - gradient of "
    "its model||, over the t rounds that the client keeps; the current one has no loss (CFL, footnote 6)",
}
#: Columns of `ROUND` that need full gradients at local steps; with `every` they hold every so many rounds only.
OF_FULL_GRADIENTS = ("iag_error2_max", "rho_sum2", "error_sum2", "information_loss")
DERIVED = {
    "m_met": "||b||^2 / ||grad f||^2 at x_t, the m that (27) needs there; 0 for 0/0 and infinite for a positive over 0",
    "r2_met": "||grad_f_memory||^2 / ||grad g||^2 at x_t, the r^2 that (30) needs there; 0/0 and x/0 as in m_met",
}
PER_CLIENT = {
    "Lambda": "Lambda_{t,i} = <grad_f_memory(x_t), sum_k delayed_{i,k}> of every client, S split by client as in "
    "(24); with adapted rates a_i before it is rescaled, so that the sign tells interference from transference",
}
COSTS = {
    "ifo_calls": "IFO calls of the round, integers: gradients of one component that the algorithm needs, see `costs`",
    "communicated": "numbers that all clients that take part receive and send in the round, integers, see `costs`",
}
# Of runs whose iterates are too many numbers to keep: what `iterates` would say about neighbours.
DIFFERENCES = {
    "step2": "||x_{t+1} - x_t||^2",
    "grad_f_change2": "||grad f(x_{t+1}) - grad f(x_t)||^2",
    "grad_g_change2": "||grad g(x_{t+1}) - grad g(x_t)||^2",
}
#: Every column, with what it holds; shape (replicas, rounds), and (replicas, rounds, N) for `Lambda`.
COLUMNS = STATE | ROUND | DERIVED | PER_CLIENT | COSTS | DIFFERENCES
#: Columns of squared norms, whose root `Trace.root` takes; squares are kept because they stay rational.
SQUARED = frozenset(name for name in COLUMNS if "2" in name)


class Status(IntEnum):
    """How a replica ended; `message` says it in words."""

    OK = 0
    DIVERGED = 1

    @property
    def message(self) -> str:
        """What happened, and for a failure what to do."""
        if self is Status.OK:
            return "all rounds done"
        return "the iterates left the finite numbers (or ||x||^2 > 1e200): use smaller alpha, beta or local_steps"


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shown):
    """The measurements of one run of one algorithm on one problem.

    Attributes
    ----------
    columns : mapping of str to (replicas, rounds) array
        See `COLUMNS`; float64, or objects holding `Fraction` in exact runs; costs are int64 on floats. Rounds from the
        first at which any replica stopped are cut off. Columns of `OF_FULL_GRADIENTS` hold the rounds of `rounds_of`.
    end : mapping of str to (replicas,) array
        The columns of `STATE` at the last iterate. A memory that is redrawn every round is drawn once more for it.
    status, rounds_done : (replicas,)
        `Status`, and how many rounds each replica finished.
    absent : mapping of str to str
        Why a column is missing.
    config : mapping
        All arguments of the run, and the versions, as JSON-able values.
    iterates : (replicas, rounds + 1, d) or None
        x_0, ..., x_T, if asked for.
    """

    columns: Mapping[str, Array]
    end: Mapping[str, Array]
    status: Ints
    rounds_done: Ints
    absent: Mapping[str, str]
    config: Mapping[str, Any]
    iterates: Array | None = None

    def __post_init__(self) -> None:
        arrays = [*self.columns.values(), *self.end.values(), self.status, self.rounds_done, self.iterates]
        for array in arrays:
            if array is not None:
                array.setflags(write=False)

    @property
    def replicas(self) -> int:
        """Number of independent runs."""
        return len(self.status)

    @property
    def rounds(self) -> int:
        """Rounds that every replica finished: the length of the columns."""
        return int(self.rounds_done.min())

    @property
    def ok(self) -> bool:
        """Whether every replica did all its rounds."""
        return bool((self.status == Status.OK).all())

    def column(self, name: str) -> Array:
        """A column of `COLUMNS`, shape (replicas, rounds), or (replicas, rounds, N) for `Lambda`.

        A column that was measured in some rounds only is shorter: it has the values of the rounds in `rounds_of`.

        Raises
        ------
        UnknownName
            No such column.
        InvalidInput
            The run did not measure it; the message says why.
        """
        if name in self.columns:
            return self.columns[name]
        if name not in COLUMNS:
            raise UnknownName(f"column {name!r} is unknown: use one of {', '.join(COLUMNS)}")
        raise InvalidInput(f"column {name!r} was not measured: {self.absent[name]}")

    def rounds_of(self, name: str) -> Ints:
        """The rounds whose values a column has: all, or every `every`-th for columns that need full local gradients.

        Raises
        ------
        UnknownName
            No such column.
        InvalidInput
            The run did not measure it.
        """
        self.column(name)
        return np.arange(0, self.rounds, self.config.get("every", 1) if name in OF_FULL_GRADIENTS else 1)

    def root(self, name: str) -> Array:
        """The square root of a column of squared norms, as floats.

        Raises
        ------
        UnknownName
            Not a column of squared norms.
        InvalidInput
            The run did not measure it.
        """
        if name in COLUMNS and name not in SQUARED:
            raise UnknownName(f"column {name!r} holds no squares: use one of {', '.join(sorted(SQUARED))}")
        root: Array = np.sqrt(self.column(name).astype(np.float64))
        return root

    def at_end(self, name: str) -> Array:
        """A column of `STATE` at the last iterate, shape (replicas,).

        Raises
        ------
        UnknownName
            No such column of `STATE`.
        InvalidInput
            The run did not measure it.
        """
        if name in self.end:
            return self.end[name]
        if name not in STATE:
            raise UnknownName(f"{name!r} is not measured at the end: use one of {', '.join(STATE)}")
        why = "the run diverged with diagnostics='none', run it with 'cheap'" if not self.ok else self.absent[name]
        raise InvalidInput(f"{name!r} was not measured at the end: {why}")

    @property
    def m_met(self) -> Any:
        """The largest ||b||^2 / ||grad f||^2 of the run: the m that (27) needs for this run."""
        return max(self.column("m_met").ravel().tolist(), default=0)

    @property
    def r_met(self) -> float:
        """The largest ||grad_f_memory|| / ||grad g|| of the run: the r that (30) needs for this run."""
        return math.sqrt(max(self.column("r2_met").ravel().tolist(), default=0))

    def table(self) -> dict[str, Array]:
        """All columns, one entry for each replica and round: "replica", "t", then `columns`; made for data frames.

        `Lambda` is a column for each client, `Lambda_0`, `Lambda_1`, ... Where a column was not measured in a round it
        holds NaN.
        """
        size = self.replicas * self.rounds
        found = {
            "replica": np.repeat(np.arange(self.replicas), self.rounds),
            "t": np.tile(np.arange(self.rounds), self.replicas),
        }
        for name, column in self.columns.items():
            if name in PER_CLIENT:
                found |= {f"{name}_{i}": column[..., i].reshape(size) for i in range(column.shape[-1])}
            elif column.shape[1] == self.rounds:
                found[name] = column.reshape(size)
            else:
                sparse = np.full((self.replicas, self.rounds), math.nan, dtype=column.dtype)
                sparse[:, self.rounds_of(name)] = column
                found[name] = sparse.reshape(size)
        return found

    def keys(self) -> KeysView[str]:
        """The names of `table`, so that `dict(trace)` is that table and `pandas.DataFrame(dict(trace))` its frame."""
        return self.table().keys()

    def __getitem__(self, name: str) -> Array:
        return self.table()[name]

    # Rows or columns? Neither: a loop over a trace is an error.
    __iter__ = None

    def to_frame(self) -> Any:
        """`table` as a `pandas.DataFrame`.

        Raises
        ------
        InvalidInput
            pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ModuleNotFoundError as error:
            raise InvalidInput("to_frame needs pandas: pip install pandas, or use table(), a dict of arrays") from error
        return DataFrame(self.table())

    def sheet(self) -> Sheet:
        """What ran and how it ended; of every column the means over the replicas in the first and the last round."""
        row = self.config.get("algorithm")
        name = row.get("name") if isinstance(row, Mapping) else row
        how = "all done" if self.ok else f"{int((self.status != Status.OK).sum())} diverged"
        line = f"{name} on {self.config.get('problem')}: {self.replicas} x {self.rounds} rounds, {how}"
        if self.rounds and "grad_f2" in self.columns:
            f2 = self.columns["grad_f2"].astype(np.float64).mean(axis=0)
            line += f"; ||grad f||^2 {number(f2[0])} to {number(f2[-1])}"
        rows = []
        for key, column in self.columns.items() if self.rounds else ():
            means = column.astype(np.float64).reshape(*column.shape[:2], -1).mean(axis=(0, 2))
            rows.append((key, number(means[0]), number(means[-1]), COLUMNS[key]))
        notes = [f"{key} was not measured: {why}" for key, why in self.absent.items()]
        return Sheet(line, ("column", "first round", "last round", "what it is"), rows, notes)

    def raise_if_diverged(self) -> None:
        """Raise `Diverged`, naming the first replica and round, unless all rounds were done."""
        if not self.ok:
            failed = np.flatnonzero(self.status != Status.OK)
            first = int(failed[np.argmin(self.rounds_done[failed])])
            raise Diverged(
                f"replica {first} diverged in round {self.rounds_done[first]} ({len(failed)} of {self.replicas} did): "
                f"{Status.DIVERGED.message}, or pass throw=False for the rounds before"
            )


def ratio(numerator: Array, denominator: Array) -> Array:
    """Entrywise quotient of non-negative arrays, with 0/0 = 0 and x/0 infinite."""
    out = np.where(numerator == 0, numerator, math.inf)
    with np.errstate(over="ignore"):
        return np.divide(numerator, denominator, out=out, where=denominator != 0)
