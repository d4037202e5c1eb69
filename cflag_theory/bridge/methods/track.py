"""FedTrack, local steps that track the global gradient; C-FLAG's are the same, see `flag` for what is decided there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch

from cflag_theory.bridge.methods.base import Local, OnRows, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import (
    Descent,
    Ints,
    column,
    component_order,
    descend,
    longest_minibatch,
    minibatches,
    moving_first,
    with_resting,
)
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.compiled import make_step, put
from cflag_theory.bridge.models.iag_table import AtStart, DelayedRows, KeptRows
from cflag_theory.bridge.models.rows import Passes, on_rows, passes_of, wide
from cflag_theory.bridge.models.stacked import AT_ONCE
from cflag_theory.bridge.settings.options import DEVICE, EPOCHS, MODEL, RECOMPUTED, TABLE, TrackOptions, Work
from cflag_theory.errors import InvalidInput

GRAD_G = "grad_g"
#: Bytes of gradients at x_t that all clients of a round keep for their local steps, on a CPU; on a GPU the share of its
#: memory. Where there would be more they are computed again, which takes an image gradient more a sample and round.
KEPT, KEPT_SHARE = 4 << 30, 0.25

#: What becomes of the estimates of a step, given grad g - grad g_i; rows of clients.
Given = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Opening:
    """What a client knows after the first exchange: its minibatches of the round, g_i(x_t) and what it keeps.

    Its minibatches are the row `row` of `passes`. Where they are kept, `kept` has the gradients of the group's
    minibatches at x_t, (all components, width), and the line where this client's begin.
    """

    components: list[Ints]
    passes: Passes
    row: int
    loss: torch.Tensor
    kept: tuple[torch.Tensor, int] | None


class FedTrack(OnRows):
    """Local steps against grad g(x_t) - grad g_i(x_t) + delayed_k, (4) and (5)."""

    name = "fedtrack"

    def __init__(self, work: Work, options: TrackOptions) -> None:
        self.work, self.options = work, options
        if options.estimate == TABLE and options.table == RECOMPUTED and (work.epochs > 1 or options.order != EPOCHS):
            raise InvalidInput(
                f"the table is 'recomputed' with epochs = {work.epochs} and order = {options.order!r}, so that a "
                "component may be visited twice in a round: use epochs = 1 and order = 'epochs', or another table"
            )
        self._openings: dict[int, Opening] = {}

    def vectors_of(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> Sent:
        """grad g_i(x_t), component by component, as "grad_g"."""
        cut = [minibatches(round, client, self.work.batch, shuffle=self.options.shuffle) for client in clients]
        longest = round.longest(lambda client: longest_minibatch(client, self.work.batch))
        passes = passes_of(round.model, [[client.current] for client in clients], cut, longest)
        grad_g = state.new_zeros((len(clients), round.width))
        losses = state.new_zeros(len(clients))
        start, _ = round.start(state)
        pairs = [(row, j) for row, parts in enumerate(cut) for j in range(len(parts))]
        table = None
        most = max(1, AT_ONCE // round.width) if round.everybody else 1
        keeps = self._keeps(round, state, cut)
        for first in range(0, len(pairs), most):
            rows, chosen = zip(*pairs[first : first + most], strict=True)
            part, gradient = passes.gradients(rows, chosen, start.expand(len(rows), -1))
            sizes = (len(cut[row][j]) / clients[row].current.n for row, j in zip(rows, chosen, strict=True))
            shares = column(list(sizes), gradient)
            where = put(np.array(rows), gradient.device)
            grad_g.index_add_(0, where, shares * gradient)
            losses.index_add_(0, where, shares[:, 0] * part)
            if keeps and len(rows) == len(pairs):
                table = gradient
            elif keeps:
                # Written in place: two copies of a ResNet's table may be more than there is room for.
                table = gradient.new_empty((len(pairs), round.width)) if table is None else table
                table[first : first + len(rows)] = gradient
        firsts = accumulate(map(len, cut), initial=0)
        for row, (client, first) in enumerate(zip(clients, firsts, strict=False)):
            kept_here = None if table is None else (table, first)
            self._openings[client.index] = Opening(cut[row], passes, row, losses[row], kept_here)
        return {client.index: {GRAD_G: grad_g[row, : round.model.d]} for row, client in enumerate(clients)}

    def _keeps(self, round: Round, state: torch.Tensor, cut: Sequence[Sequence[Ints]]) -> bool:
        """Whether gradients at x_t are kept where the local steps ask for them: the same answer in every process."""
        options = self.options
        if options.estimate != TABLE or options.table != MODEL or options.place != DEVICE:
            return False
        components = max(round.samples // self.work.batch + round.clients, sum(map(len, cut)))
        return bool(components * round.width * state.element_size() <= room(state.device))

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        openings = self.opened(clients)
        moving, found = moving_first(clients, components_of(openings)), {}
        if moving:
            descent, gradients = self.descend(round, moving, state, means, own, openings, torch.add)
            found = descent.locals(
                round,
                moving,
                alpha=[0.0] * len(moving),
                beta=[self.work.lr] * len(moving),
                Lambda=None,
                gradients=gradients,
            )
        return with_resting(found, clients, state, alpha=0.0, beta=self.work.lr)

    def opened(self, clients: Sequence[Client]) -> dict[int, Opening]:
        return {client.index: self._openings.pop(client.index) for client in clients}

    def descend(
        self,
        round: Round,
        clients: Sequence[Client],
        state: torch.Tensor,
        means: Vectors,
        own: Own,
        openings: Mapping[int, Opening],
        given: Given,
    ) -> tuple[Descent, list[int]]:
        """The local steps, and how many samples' gradients they and the first exchange took."""
        model = round.model
        cut = [openings[client.index].components for client in clients]
        orders = [
            component_order(round, client, len(parts), self.work.epochs, self.options.order)
            for client, parts in zip(clients, cut, strict=True)
        ]
        grad_g = wide(on_rows([own[client.index][GRAD_G] for client in clients]), round.width)
        correction = wide(means[GRAD_G], round.width) - grad_g
        start, d = round.start(state)
        opened = openings[clients[0].index].passes
        places = [openings[client.index].row for client in clients]
        passes = opened.ordered(places, orders)
        losses = on_rows([openings[client.index].loss for client in clients])
        evaluated = [client.current.n for client in clients]

        def visit(k: int, chosen: Sequence[int], at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            for row, j in enumerate(chosen):
                evaluated[row] += len(cut[row][j])
            return passes.step(k, len(chosen), at, statistics=True)

        def at_start(rows: list[int], chosen: list[int]) -> torch.Tensor:
            for row, j in zip(rows, chosen, strict=True):
                evaluated[row] += len(cut[row][j])
            return opened.gradients([places[row] for row in rows], chosen, start.expand(len(rows), -1))[1]

        delayed = self.options.estimate == TABLE
        table = None
        if delayed:
            table = self._table(grad_g, clients, orders, openings, at_start, compiled=model.compiled)

        def delayed_step(k: int, chosen: Sequence[int], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            if k == 0:
                if model.size > model.d:
                    visit(k, chosen, local)
                return losses, given(grad_g, correction)
            assert table is not None
            loss, new = visit(k, chosen, local)
            return loss, given(table.refresh(k, chosen, new), correction[: len(chosen)])

        def minibatch_step(k: int, chosen: Sequence[int], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            loss, new = visit(k, chosen, local)
            return loss, given(new, correction[: len(chosen)])

        descent = descend(
            start,
            d,
            orders,
            delayed_step if delayed else minibatch_step,
            lr=self.work.lr,
            step=make_step(self.options.step, compiled=model.compiled),
            clamp=self.options.clamp,
        )
        return descent, evaluated

    def _table(
        self,
        grad_g: torch.Tensor,
        clients: Sequence[Client],
        orders: Sequence[Sequence[int]],
        openings: Mapping[int, Opening],
        at_start: AtStart,
        *,
        compiled: bool,
    ) -> DelayedRows | KeptRows:
        """The delayed gradients of the rows, which begin at their grad g_i(x_t)."""
        own = [openings[client.index] for client in clients]
        counts = [
            [client.current.n / len(positions) for positions in opening.components]
            for client, opening in zip(clients, own, strict=True)
        ]
        kept = [opening.kept for opening in own if opening.kept is not None]
        if len(kept) == len(own):
            return KeptRows(grad_g, counts, orders, kept[0][0], [first for _, first in kept], compiled=compiled)
        visits = [order[1:] for order in orders]
        return DelayedRows(grad_g, counts, visits, at_start, kind=self.options.table, place=self.options.place)


def room(device: torch.device) -> int:
    """Bytes that gradients at x_t may take on this device."""
    if device.type != "cuda":
        return KEPT
    return int(KEPT_SHARE * torch.cuda.get_device_properties(device).total_memory)


def components_of(openings: Mapping[int, Opening]) -> dict[int, list[Ints]]:
    """The minibatches of every client."""
    return {index: opening.components for index, opening in openings.items()}
