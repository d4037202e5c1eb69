"""What the round loop asks of a method, and what a client returns.

A round has two exchanges. First every client sends what `Method.vectors` returns and receives the means over the
clients with weights p_i; then it works with `Method.local`, and the server subtracts the mean of the moves,
x_{t+1} = x_t - sum_i p_i move_i, as line 12 of Algorithm 1 does. A state is the model's flat vector: the d parameters
and then the running statistics, which are averaged like the parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.rows import wide

Vectors = Mapping[str, torch.Tensor]
#: Vectors of several clients by their index: what they send, and what of it is theirs when the means are known.
Sent = dict[int, dict[str, torch.Tensor]]
Own = Mapping[int, Vectors]


@dataclass(frozen=True, eq=False)
class Round:
    """What a method may know about the round it is in."""

    model: FlatModel
    #: N.
    clients: int
    #: The task, and the round within it, from 0.
    task: int
    number: int
    #: The round counted over all tasks.
    overall: int
    seed: int
    #: All clients, if those of a process are computed together: then shapes follow from all of them, so that the
    #: numbers of a client do not depend on who else is in its process. Empty if they go one by one.
    everybody: Sequence[Client] = ()
    #: Current samples of all clients, which says how much memory their tables take together; 0 where nobody counted.
    samples: int = 0

    @property
    def width(self) -> int:
        """Numbers in a row of parameters: d, or with zeros behind them where rows are computed together."""
        return self.model.stack.width if self.everybody and self.model.stack else self.model.d

    def start(self, state: torch.Tensor) -> tuple[torch.Tensor, int]:
        """A state (size,) for rows of states, and how many numbers of them are parameters and the zeros behind."""
        return (wide(state, self.width), self.width) if self.everybody else (state, self.model.d)

    def longest(self, samples: Callable[[Client], int]) -> int | None:
        """The most samples of a minibatch of any client, or None where clients go one by one."""
        return max(map(samples, self.everybody)) if self.everybody else None

    def random(self, purpose: str, client: int) -> np.random.Generator:
        """A generator that starts again for each (seed, purpose, client, overall round)."""
        return keyed(self.seed, purpose, self.overall, client)


@dataclass(frozen=True, eq=False)
class Local:
    """A client's work in a round. `move` (size,) is what the server subtracts, after averaging it over the clients with
    weights p_i.

    `numbers` are scalars of the round: "alpha" and "beta", the rates of the step really taken; "Lambda", the inner
    product <grad_f_memory, a_i> (0 where nothing is remembered); "drift2_max", the largest ||x_k - x_t||^2; "loss", the
    mean of the minibatch losses met; "steps", local steps; "gradients", samples whose gradient was evaluated, those of
    the first exchange included. `sent` are vectors that go with the move, the same keys for all clients, if the method
    `closes`; `kept` is what the client remembers, `Method.kept` numbers: every process is told, for the checkpoint.
    """

    move: torch.Tensor
    numbers: dict[str, float]
    sent: dict[str, torch.Tensor] = field(default_factory=dict)
    kept: list[float] = field(default_factory=list)


class Method(ABC):
    """One algorithm on a stream of tasks; whatever it keeps between rounds is in `memory`."""

    #: Its key in `METHODS`.
    name: str
    #: Whether `vectors_of` and `locals_of` compute several clients together; see `OnRows`.
    on_rows = False
    #: Whether clients send more than their moves, `Local.sent`.
    closes = False
    #: Whether a client's memory is chosen with the model when a task is over, see `training.evaluation`.
    herds = False
    #: Whether the step on memory is alpha grad_f_memory at x_t, apart from the local ones, where it has that vector.
    memory_apart = True

    def kept(self, clients: Sequence[Client]) -> int:
        """How many numbers a client remembers of a round, `Local.kept`."""
        return 0

    def vectors(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        """What the client sends in the first exchange: vectors of length d, the same keys for all clients of a round.

        Methods without a first exchange return nothing.
        """
        return {}

    @abstractmethod
    def local(self, round: Round, client: Client, state: torch.Tensor, means: Vectors, own: Vectors) -> Local:
        """The client's local steps from `state`, which stays as it is, given the means of the vectors and its own."""

    def vectors_of(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> Sent:
        """`vectors` of several clients, by their index."""
        return {client.index: self.vectors(round, client, state) for client in clients}

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        """`local` of several clients, by their index."""
        return {client.index: self.local(round, client, state, means, own[client.index]) for client in clients}

    def step(self, round: Round, state: torch.Tensor, move: torch.Tensor) -> torch.Tensor:
        """The next state, for the clients' mean move."""
        return state - move

    def approximation(self, client: Client, part: int) -> ClientData | None:
        """The samples that stand for a data set that the client had before; None where there are none of it."""
        return None

    # A method that keeps nothing has nothing to do here.
    def close_round(self, round: Round, state: torch.Tensor, means: Vectors, kept: Sequence[Sequence[float]]) -> None:  # noqa: B027
        """Take in what a round has shown: x_{t+1} as `state`, the means of the first exchange and of what the clients
        sent with their moves, and `Local.kept` of every client, nan for one that took no part; empty where the method
        keeps nothing.
        """

    def end_task(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        """What a client sends when a task is over, `state` being the final one; to be averaged like `vectors`."""
        return {}

    def totals(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        """What every client sends then, with or without samples of the task, to be summed: counts, and what they count.

        Where it `herds`, the client's memory has the task's exemplars already.
        """
        return {}

    def serve(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> dict[str, torch.Tensor]:
        """What the server computes then, once, of one length; every process is told.

        Of the clients it may know what is no sample: how their images are stored.
        """
        return {}

    def gradients_at_end(self, clients: Sequence[Client]) -> int:
        """Samples whose gradient `end_task`, `totals` and `serve` evaluate, of all clients and the server together.

        The clients are those that take part. It follows from their numbers of samples, so that all processes know it.
        """
        return 0

    # A method that keeps nothing has nothing to do here.
    def close_task(self, round: Round, state: torch.Tensor, means: Vectors) -> None:  # noqa: B027
        """Take in what the end of a task brought: the means, the sums, and what the server computed, by name."""

    def scores(self, model: FlatModel, state: torch.Tensor, images: torch.Tensor, task: int) -> torch.Tensor:
        """What test images of a task are classified by, the largest being the prediction: `FlatModel.logits`."""
        return model.logits(state, images, task)

    def memory(self) -> dict[str, torch.Tensor]:
        """What a checkpoint has to keep for the method to go on."""
        return {}

    def restore(self, memory: Vectors) -> None:  # noqa: B027
        """Go on from what `memory` returned."""


class OnRows(Method):
    """A method whose arithmetic is on rows, one a client: it defines `locals_of`, and `vectors_of` if it has any."""

    on_rows = True

    def vectors(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        return self.vectors_of(round, [client], state)[client.index]

    def local(self, round: Round, client: Client, state: torch.Tensor, means: Vectors, own: Vectors) -> Local:
        return self.locals_of(round, [client], state, means, {client.index: own})[client.index]

    def vectors_of(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> Sent:
        return {client.index: {} for client in clients}

    @abstractmethod
    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        """See `Method.locals_of`."""
