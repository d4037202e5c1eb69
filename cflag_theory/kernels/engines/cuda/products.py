"""Full gradients of all replicas at once as matrix products of a library: cuBLAS by way of CuPy.

What is read and written is what the kernels keep: the products row . x where the slopes will stand, and the sums of
slope times row where the clients' parts of the gradients will stand.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from cflag_theory.kernels.plan import Plan
from cflag_theory.kernels.problems.problem import Components


def cupy() -> Any:
    """CuPy, or None where it is not installed."""
    # Its package is named after a version of CUDA, so that no extra can ask for it.
    return import_module("cupy") if find_spec("cupy") is not None else None


class Products:
    """The matrix products of a run.

    Parameters
    ----------
    library : module
        CuPy, or another with NumPy's functions.
    plan : Plan
    data, store : cuda.Data, cuda.Store
        Arrays on the device; the library sees them without a copy.
    """

    def __init__(self, library: Any, plan: Plan, data: Any, store: Any) -> None:
        self.matmul = library.matmul
        # Kernels run on the default stream, and the caller may have told CuPy to use another.
        self.stream = library.cuda.Stream.null if hasattr(library, "cuda") else nullcontext()
        N, d = plan.problem.clients, plan.problem.dimension
        vectors = library.asarray(store.vectors)

        def of_clients(first: int) -> Any:
            """Vectors of the clients, (N, replicas, d), from this one of a replica on."""
            return vectors[:, first * d : (first + N) * d].reshape(-1, N, d).swapaxes(0, 1)

        # The order of `workspace.work_on`: x and seven more of the server, then local, estimate, u, a of the clients.
        self.x = vectors[:, :d]
        self.local, self.estimate, self.a = of_clients(8), of_clients(8 + N), of_clients(8 + 3 * N)
        self.table, self.slopes = library.asarray(store.table), library.asarray(store.slopes)
        self.kept_slopes = library.asarray(store.kept_slopes)
        self.past_rows, self.current_rows = library.asarray(data.past.rows), library.asarray(data.current.rows)
        self.past_parts, self.current_parts = _parts(plan.problem.past), _parts(plan.problem.current)
        self.subset = self.kept_slopes.shape[1] > 0
        self.every_past_row = plan.memory is not None and not self.subset

    def rows_times_x(self, measured: bool) -> None:
        """row . x of all rows that the round needs."""
        with self.stream:
            self.matmul(self.x, self.current_rows.T, out=self.table)
            if self.subset or self.every_past_row or measured:
                self.matmul(self.x, self.past_rows.T, out=self.slopes)

    def slopes_times_rows(self, measured: bool) -> None:
        """The sums of slope times row of every client."""
        with self.stream:
            self._sum(self.table, self.current_rows, self.current_parts, self.estimate)
            if self.every_past_row or measured:
                self._sum(self.slopes, self.past_rows, self.past_parts, self.local)
            if self.subset:
                self._sum(self.kept_slopes, self.past_rows, self.past_parts, self.a)

    def _sum(self, slopes: Any, rows: Any, parts: list[slice], sums: Any) -> None:
        N, replicas, d = sums.shape
        if len({part.stop - part.start for part in parts}) == 1:
            # Each call costs the host some 0.1 ms: all clients in one.
            sums[:] = self.matmul(slopes.reshape(replicas, N, -1).swapaxes(0, 1), rows.reshape(N, -1, d))
            return
        for part, out in zip(parts, sums, strict=True):
            out[:] = self.matmul(slopes[:, part], rows[part])


def _parts(components: Components) -> list[slice]:
    """The rows of each client."""
    start = components.row_start[components.client_start]
    return [slice(int(begin), int(end)) for begin, end in pairwise(start)]
