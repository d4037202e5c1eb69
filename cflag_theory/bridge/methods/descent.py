"""The clients' local steps, the same loop for all methods; they differ in the gradient that a step is given.

What a component is: a client's samples are shuffled in every round and cut into minibatches, which stay the same for
the round. g_{i,j} is the mean loss over minibatch j, and g_i = sum_j (|minibatch j| / |C^i|) g_{i,j}, so that g_i is
the mean over the samples also where the last minibatch is shorter. A last minibatch of a single sample joins the one
before it, because batch normalisation has no variance for it.

What E is: in every pass each minibatch comes once, in a new order, and E is the number of passes times the number of
minibatches; it differs between clients that have different numbers of samples.

Running statistics of batch normalisation move with the minibatches of local steps, and in no other pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from cflag_theory.bridge.methods.base import Local, Round
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.compiled import Step, put
from cflag_theory.bridge.settings.options import EPOCHS, RANDOM
from cflag_theory.kernels import draws

Ints = NDArray[np.int64]


def minibatches(round: Round, client: Client, batch: int, *, shuffle: bool | None = True) -> list[Ints]:
    """The components of a client in a round, as positions in its samples."""
    n = client.current.n
    positions = np.arange(n)
    if shuffle:
        positions = round.random("shuffle", client.index).permutation(n)
    starts = list(range(0, n, batch))
    if batch > 1 and len(starts) > 1 and n - starts[-1] == 1:
        starts.pop()
    return [positions[first:last] for first, last in pairwise([*starts, n])]


def longest_minibatch(client: Client, batch: int) -> int:
    """The most samples that one of `minibatches` has."""
    n = client.current.n
    return min(n, batch + (batch > 1 and n > batch and n % batch == 1))


def component_order(round: Round, client: Client, components: int, epochs: int, how: str | None = EPOCHS) -> list[int]:
    """The component of every local step, E of them: "epochs" in passes, "random" as `kernels.simulate` draws them."""
    if how == RANDOM:
        steps = range(epochs * components)
        key = round.seed, draws.COMPONENT, 0, client.index, round.overall
        return [draws.below(draws.lane(draws.words(*key, k >> 2), k), components) for k in steps]
    random = round.random("order", client.index)
    return [int(j) for _ in range(epochs) for j in random.permutation(components)]


def memory_positions(memory: ClientData, sample: int, random: np.random.Generator) -> Ints:
    """Positions of `sample` remembered samples of each past task without replacement, or of all that it has."""
    chosen = [own if len(own) <= sample else random.choice(own, sample, replace=False) for own in memory.by_task]
    return np.concatenate([np.zeros(0, dtype=np.int64), *chosen])


def most_drawn(memory: ClientData, sample: int) -> int:
    """How many `memory_positions` are."""
    return sum(min(len(own), sample) for own in memory.by_task)


def memory_draws(round: Round, client: Client, sample: int, steps: int) -> list[Ints]:
    """What a client draws from its memory in every step of a round."""
    random = round.random("memory", client.index)
    return [memory_positions(client.memory, sample, random) for _ in range(steps)]


def column(values: Sequence[float], like: torch.Tensor) -> torch.Tensor:
    """A number a row, (n, 1), to scale rows with."""
    return put(np.array(values, dtype=np.float64), like.device).to(like.dtype)[:, None]


@dataclass(eq=False)
class Descent:
    """Where the local steps of clients led, a row of every tensor a client."""

    #: (n, size) or (n, width) tensor: x_t - x_E, and the same of the running statistics.
    move: torch.Tensor
    #: (n, d) or (n, width) tensor: The sum of the directions: x_t - x_E is lr times that.
    total: torch.Tensor
    #: (n,) tensors: Over the steps, the largest ||x_k - x_t||^2 and the mean loss.
    drift2_max: torch.Tensor
    loss: torch.Tensor
    #: E.
    steps: list[int]

    def whole(self, move: torch.Tensor | None) -> torch.Tensor:
        """The moves with those of the running statistics behind; with other moves of the parameters if given."""
        behind = None if move is None else self.move[:, move.shape[1] :]
        if move is None or behind is None:
            return self.move
        return torch.cat([move, behind], dim=1) if behind.shape[1] else move

    def locals(
        self,
        round: Round,
        clients: Sequence[Client],
        move: torch.Tensor | None = None,
        *,
        alpha: Sequence[float],
        beta: Sequence[float],
        Lambda: torch.Tensor | None,
        gradients: Sequence[int],
    ) -> dict[int, Local]:
        """By client; with other moves of the parameters if given, in rows as `total`; statistics stay theirs."""
        whole = self.whole(move)[:, : round.model.size]
        measured = [self.drift2_max, self.loss, torch.zeros_like(self.loss) if Lambda is None else Lambda]
        # One transfer from the device for all numbers.
        rows = torch.stack([value.to(torch.float64) for value in measured], dim=1).tolist()
        found = {}
        for row, (client, (drift2_max, loss, product)) in enumerate(zip(clients, rows, strict=True)):
            numbers = {
                "alpha": alpha[row],
                "beta": beta[row],
                "Lambda": product,
                "drift2_max": drift2_max,
                "loss": loss,
                "steps": float(self.steps[row]),
                "gradients": float(gradients[row]),
            }
            found[client.index] = Local(whole[row], numbers)
        return found


def descend(
    state: torch.Tensor,
    d: int,
    orders: Sequence[Sequence[int]],
    gradient: Callable[[int, Sequence[int], torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    *,
    lr: float,
    step: Step,
    clamp: float | None = None,
) -> Descent:
    """Local steps of clients from `state`, one for each component of a client's order, at least one. lr is beta.

    `orders` has the longest first: at step k the first rows go on, and the others have finished. `gradient` is given k,
    the components of the rows that go on and their local states x_k, (rows, width), and gives the losses and what their
    steps are given; it may move the running statistics, which are entries d, d + 1, ... of a local state. `clamp`
    limits entries of the gradient to [-clamp, clamp]; 0 and None limit nothing.
    """
    steps = [len(order) for order in orders]
    local = state.repeat(len(orders), 1)
    x = local[:, :d]
    total = torch.zeros_like(x)
    longest, losses = state.new_zeros(len(orders)), state.new_zeros(len(orders))
    count = 0
    for k in range(steps[0]):
        going = sum(each > k for each in steps)
        if going != count:
            count = going
            at, own = local[:count], x[:count]
            sums, furthest, met = total[:count], longest[:count], losses[:count]
        if k > 0:
            # ||x_k - x_t|| is lr times that.
            torch.maximum(furthest, torch.linalg.vector_norm(sums, dim=1), out=furthest)
        loss, given = gradient(k, [order[k] for order in orders[:count]], at)
        direction = step.direction(given.clamp(-clamp, clamp) if clamp else given)
        sums.add_(direction)
        own.sub_(direction, alpha=lr)
        met.add_(loss)
    return Descent(state - local, total, (lr * longest).square_(), losses / column(steps, losses)[:, 0], steps)


def moving_first(clients: Sequence[Client], components: Mapping[int, Sequence[Ints]]) -> list[Client]:
    """Those that have samples of the task, the ones with the most minibatches first."""
    moving = (client for client in clients if components[client.index])
    return sorted(moving, key=lambda client: -len(components[client.index]))


def with_resting(
    found: Mapping[int, Local], clients: Sequence[Client], state: torch.Tensor, *, alpha: float, beta: float
) -> dict[int, Local]:
    """The work of all clients: those that have no samples of the task, and are not in `found`, move nothing."""
    numbers = {"alpha": alpha, "beta": beta}
    numbers |= dict.fromkeys(("Lambda", "drift2_max", "loss", "steps", "gradients"), 0.0)
    still = (client for client in clients if client.index not in found)
    return {**found, **{client.index: Local(torch.zeros_like(state), dict(numbers)) for client in still}}
