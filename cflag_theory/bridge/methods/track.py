"""FedTrack, local steps that track the global gradient; C-FLAG's are the same, see `flag` for what is decided there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from cflag_theory.bridge.methods.base import Local, OnRows, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import (
    Descent,
    Ints,
    column,
    component_order,
    descend,
    minibatches,
    moving_first,
    with_resting,
)
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.iag_table import DelayedGradient
from cflag_theory.bridge.models.rows import Pool, gradients, on_rows
from cflag_theory.bridge.models.steps import make_step
from cflag_theory.bridge.settings.options import EPOCHS, RECOMPUTED, TABLE, TrackOptions, Work
from cflag_theory.errors import InvalidInput

GRAD_G = "grad_g"

#: What becomes of the estimates of a step, given grad g - grad g_i; rows of clients.
Given = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Opening:
    """What a client knows after the first exchange: its minibatches of the round, and g_i(x_t)."""

    components: list[Ints]
    loss: torch.Tensor


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
        pool = Pool([client.current for client in clients])
        grad_g = state.new_zeros((len(clients), round.model.d))
        losses = state.new_zeros(len(clients))
        for j in range(max(map(len, cut))):
            rows = [row for row, parts in enumerate(cut) if j < len(parts)]
            positions = [cut[row][j] for row in rows]
            part, gradient = gradients(round.model, state.expand(len(rows), -1), pool.batch(rows, positions))
            sizes = (len(chosen) / clients[row].current.n for row, chosen in zip(rows, positions, strict=True))
            shares = column(list(sizes), gradient)
            where = torch.tensor(rows, device=gradient.device)
            grad_g.index_add_(0, where, shares * gradient)
            losses.index_add_(0, where, shares[:, 0] * part)
        for row, client in enumerate(clients):
            self._openings[client.index] = Opening(cut[row], losses[row])
        return {client.index: {GRAD_G: grad_g[row]} for row, client in enumerate(clients)}

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        openings = self.opened(clients)
        moving, found = moving_first(clients, components_of(openings)), {}
        if moving:
            descent, gradients = self.descend(round, moving, state, means, own, openings, torch.add)
            found = descent.locals(
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
        model, pool = round.model, Pool([client.current for client in clients])
        cut = [openings[client.index].components for client in clients]
        orders = [
            component_order(round, client, len(parts), self.work.epochs, self.options.order)
            for client, parts in zip(clients, cut, strict=True)
        ]
        grad_g = on_rows([own[client.index][GRAD_G] for client in clients])
        correction = means[GRAD_G] - grad_g
        losses = on_rows([openings[client.index].loss for client in clients])
        evaluated = [client.current.n for client in clients]

        def component(
            rows: Sequence[int], chosen: Sequence[int], at: torch.Tensor, *, statistics: bool
        ) -> tuple[torch.Tensor, torch.Tensor]:
            positions = [cut[row][j] for row, j in zip(rows, chosen, strict=True)]
            for row, samples in zip(rows, positions, strict=True):
                evaluated[row] += len(samples)
            return gradients(model, at, pool.batch(rows, positions), statistics=statistics)

        at_start: dict[int, torch.Tensor] = {}
        tables = [
            DelayedGradient(
                grad_g[row],
                [client.current.n / len(positions) for positions in cut[row]],
                orders[row][1:],
                lambda j, row=row: at_start.pop(row),  # type: ignore[misc]
                kind=self.options.table,
                place=self.options.place,
            )
            for row, client in enumerate(clients)
        ]

        def delayed_step(k: int, chosen: Sequence[int], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            rows = range(len(chosen))
            if k == 0:
                if model.size > model.d:
                    component(rows, chosen, local, statistics=True)
                return losses, given(grad_g, correction)
            loss, new = component(rows, chosen, local, statistics=True)
            first = [row for row in rows if not tables[row].knows(chosen[row])]
            if first:
                visited = [chosen[row] for row in first]
                _, old = component(first, visited, state.expand(len(first), -1), statistics=False)
                at_start.update(zip(first, old, strict=True))
            delayed = on_rows([tables[row].refresh(chosen[row], new[row]) for row in rows])
            return loss, given(delayed, correction[: len(rows)])

        def minibatch_step(k: int, chosen: Sequence[int], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            loss, new = component(range(len(chosen)), chosen, local, statistics=True)
            return loss, given(new, correction[: len(chosen)])

        descent = descend(
            state,
            model.d,
            orders,
            delayed_step if self.options.estimate == TABLE else minibatch_step,
            lr=self.work.lr,
            step=make_step(self.options.step),
            clamp=self.options.clamp,
        )
        return descent, evaluated


def components_of(openings: Mapping[int, Opening]) -> dict[int, list[Ints]]:
    """The minibatches of every client."""
    return {index: opening.components for index, opening in openings.items()}
