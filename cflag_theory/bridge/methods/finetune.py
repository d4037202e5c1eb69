"""Fine-FL, FedAvg on the current data alone, and what those rivals share with it that change the gradient of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from cflag_theory.bridge.methods.base import Local, OnRows, Own, Round, Vectors
from cflag_theory.bridge.methods.descent import Ints, component_order, descend, minibatches, moving_first, with_resting
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rows import Pool, gradients
from cflag_theory.bridge.models.steps import make_step
from cflag_theory.bridge.settings.options import Work


class Job:
    """The steps of some clients in one round, a row a client: what gradient a step is given, and what is to be said.

    Attributes
    ----------
    alpha, beta : list of float
        Rates of the clients in the round, means over their steps.
    Lambda : (n,) tensor or None
        Sums over the steps of the inner products of memory gradient and current gradient.
    gradients : list of int
        Samples whose gradient was evaluated.
    """

    def __init__(self, method: FineTune, round: Round, clients: Sequence[Client]) -> None:
        self.work, self.round, self.clients = method.work, round, clients
        self.pool = self.samples()
        self.alpha, self.beta = [0.0] * len(clients), [method.work.lr] * len(clients)
        self.Lambda: torch.Tensor | None = None
        self.gradients = [0] * len(clients)

    def samples(self) -> Pool:
        """What minibatches are taken of."""
        return Pool([client.current for client in self.clients])

    def gradient(self, positions: Sequence[Ints], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Losses and gradients of the first rows, at their local states; running statistics move."""
        return self.evaluate(self.pool, positions, local, statistics=True)

    def evaluate(
        self, pool: Pool, positions: Sequence[Ints], local: torch.Tensor, *, statistics: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Losses and gradients of the first rows on a pool's samples, which are counted."""
        for row, chosen in enumerate(positions):
            self.gradients[row] += len(chosen)
        batch = pool.batch(range(len(positions)), positions)
        return gradients(self.round.model, local, batch, statistics=statistics)


def by_memory(
    clients: Sequence[Client], remember: Callable[[list[Client]], Job], forget: Callable[[list[Client]], Job]
) -> list[Job]:
    """The jobs of the clients that remember something, and of those that do not."""
    some = [client for client in clients if client.memory.n > 0]
    none = [client for client in clients if client.memory.n == 0]
    return [make(part) for make, part in ((remember, some), (forget, none)) if part]


class FineTune(OnRows):
    """Each local step is given the gradient of its minibatch."""

    name = "finetune"

    def __init__(self, work: Work) -> None:
        self.work = work

    def jobs(self, round: Round, clients: Sequence[Client]) -> list[Job]:
        """What this method's steps do for these clients, each of which is in one job, in the order given."""
        return [Job(self, round, clients)]

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        components = {client.index: minibatches(round, client, self.work.batch) for client in clients}
        found: dict[int, Local] = {}
        moving = moving_first(clients, components)
        for job in self.jobs(round, moving) if moving else ():
            cut = [components[client.index] for client in job.clients]
            orders = [
                component_order(round, client, len(parts), self.work.epochs)
                for client, parts in zip(job.clients, cut, strict=True)
            ]

            def gradient(
                k: int, chosen: Sequence[int], local: torch.Tensor, job: Job = job, cut: list[list[Ints]] = cut
            ) -> tuple[torch.Tensor, torch.Tensor]:
                return job.gradient([parts[j] for parts, j in zip(cut, chosen, strict=False)], local)

            descent = descend(
                state, round.model.d, orders, gradient, lr=self.work.lr, step=make_step(self.work.optimizer)
            )
            found |= descent.locals(
                job.clients,
                alpha=job.alpha,
                beta=job.beta,
                Lambda=job.Lambda,
                gradients=job.gradients,
            )
        return with_resting(found, clients, state, alpha=0.0, beta=self.work.lr)
