"""The delayed gradient (5) of a client over its local steps, and where its old gradients are kept.

At x_t it is grad g_i(x_t). A component that is visited for the first time in a round is replaced from its gradient at
x_t, which the caller supplies, so that a table fills only with what is visited again: with one visit to each component
there is nothing to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
import torch

from cflag_theory.bridge.models.compiled import fused
from cflag_theory.bridge.settings.options import BFLOAT16, CPU, FLOAT32, PLACES, RECOMPUTED, TABLES
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.formulas import refreshed_mean
from cflag_theory.public import one_of, require

_DTYPES = {FLOAT32: torch.float32, BFLOAT16: torch.bfloat16}


class DelayedGradient:
    """grad g_i'(x_k) of (5), component by component.

    `full` (d,) is grad g_i(x_t), the mean over the components with their shares; it stays as it is. `counts` are |C^i|
    / |component j|: the number of components where all are equally large. `visits` are the components that `refresh`
    will be asked for, in this order, and `at_start` gives a component's gradient at x_t. `kind` says how an old
    gradient is kept until its component is visited again: the delayed gradient is always the mean of what is kept, so
    that rounding does not add up over the visits.
    """

    def __init__(
        self,
        full: torch.Tensor,
        counts: Sequence[float],
        visits: Sequence[int],
        at_start: Callable[[int], torch.Tensor],
        *,
        kind: str | None,
        place: str | None,
    ) -> None:
        require("table", kind, Annotated[str, one_of(*TABLES)])
        require("place", place, Annotated[str, one_of(*PLACES)])
        self.value = full
        self._counts, self._at_start, self._place = counts, at_start, place
        self._dtype = full.dtype if kind is None else _DTYPES.get(kind, full.dtype)
        self._left = np.bincount(np.asarray(visits, dtype=np.int64), minlength=len(counts))
        if kind == RECOMPUTED and self._left.max(initial=0) > 1:
            raise InvalidInput(
                f"component {int(self._left.argmax())} is visited {int(self._left.max())} times in a round and the "
                "table is 'recomputed', which knows gradients at x_t alone: use epochs = 1 and order = 'epochs', or "
                "a table that keeps gradients"
            )
        self._kept: dict[int, torch.Tensor] = {}

    def knows(self, component: int) -> bool:
        """Whether an old gradient of this component is kept; if not, `refresh` asks for the one at x_t."""
        return component in self._kept

    def refresh(self, component: int, new: torch.Tensor) -> torch.Tensor:
        """The delayed gradient (d,) after this component's gradient became `new` (d,)."""
        if component in self._kept:
            old = self._kept.pop(component).to(device=new.device, dtype=new.dtype)
        else:
            old = self._at_start(component)
        self._left[component] -= 1
        if self._left[component] > 0:
            # A copy also where nothing changes: the next step may write over `new`.
            entry = new.to(device="cpu" if self._place == CPU else new.device, dtype=self._dtype, copy=True)
            self._kept[component] = entry
            new = entry.to(device=new.device, dtype=new.dtype)
        self.value = refreshed_mean(self.value, new, old, self._counts[component])
        return self.value


#: The gradients at x_t, (n, width), of these rows' components.
AtStart = Callable[[list[int], list[int]], torch.Tensor]


class DelayedRows:
    """`DelayedGradient` of several rows; gradients at x_t are computed where they are asked for."""

    def __init__(
        self,
        full: torch.Tensor,
        counts: Sequence[Sequence[float]],
        visits: Sequence[Sequence[int]],
        at_start: AtStart,
        *,
        kind: str | None,
        place: str | None,
    ) -> None:
        self._at_start, self._old = at_start, dict[int, torch.Tensor]()
        self._rows = [
            DelayedGradient(
                full[row],
                counts[row],
                visits[row],
                lambda j, row=row: self._old.pop(row),  # type: ignore[misc]
                kind=kind,
                place=place,
            )
            for row in range(len(full))
        ]

    def refresh(self, k: int, chosen: Sequence[int], new: torch.Tensor) -> torch.Tensor:
        """The delayed gradients (n, width) of the first n rows, which visit `chosen` in step k and find `new` there."""
        rows = [row for row, j in enumerate(chosen) if not self._rows[row].knows(j)]
        if rows:
            old = self._at_start(rows, [chosen[row] for row in rows])
            self._old.update(zip(rows, old, strict=True))
        delayed = [self._rows[row].refresh(j, new[row]) for row, j in enumerate(chosen)]
        return delayed[0][None] if len(delayed) == 1 else torch.stack(delayed)


class KeptRows:
    """The same with all gradients at x_t at hand, in the model's precision: `table` (all components, width), which is
    written over; `starts` are the lines of the rows' first components. If `compiled`, a refresh is one compiled pass
    over memory.
    """

    def __init__(
        self,
        full: torch.Tensor,
        counts: Sequence[Sequence[float]],
        orders: Sequence[Sequence[int]],
        table: torch.Tensor,
        starts: Sequence[int],
        *,
        compiled: bool = False,
    ) -> None:
        self._delayed, self._kept = full.clone(), table
        self._refreshed = fused(refreshed_rows) if compiled else refreshed_rows
        most = len(orders[0])
        # A row that has finished asks for nothing: what stands there is not read.
        whole = [[*order, *([0] * (most - len(order)))] for order in orders]
        visited = np.array([[start + j for j in order] for start, order in zip(starts, whole, strict=True)]).T
        each = np.array([[row[j] for j in order] for row, order in zip(counts, whole, strict=True)]).T
        self._places = torch.from_numpy(visited).to(full.device).unbind()
        self._counts = torch.from_numpy(each).to(full)[..., None].unbind()
        self._again = asked_again(visited.tolist())

    def refresh(self, k: int, chosen: Sequence[int], new: torch.Tensor) -> torch.Tensor:
        """See `DelayedRows.refresh`; what it returns changes with the next call."""
        count = len(new)
        places, counts, delayed = self._places[k], self._counts[k], self._delayed
        if count < len(delayed):
            places, counts, delayed = places[:count], counts[:count], delayed[:count]
        return self._refreshed(delayed, self._kept, places, counts, new, self._again[k])


def asked_again(visits: Sequence[Sequence[int]]) -> list[bool]:
    """Whether a later step visits some line of a step, for every step."""
    later: set[int] = set()
    found = []
    for lines in reversed(visits):
        found.append(not later.isdisjoint(lines))
        later.update(lines)
    return found[::-1]


def refreshed_rows(
    delayed: torch.Tensor,
    kept: torch.Tensor,
    places: torch.Tensor,
    counts: torch.Tensor,
    new: torch.Tensor,
    again: bool,
) -> torch.Tensor:
    """`refreshed_mean` of rows (n, width) in their place, and `new` kept of them where it is asked for again."""
    change = kept.index_select(0, places)
    torch.sub(new, change, out=change)
    if again:
        kept.index_copy_(0, places, new)
    return delayed.addcdiv_(change, counts)
