"""Fine-FL, FedAvg on the current data alone, and what rivals share with it that change the gradient of a step; with
clients that weigh the same FedAvg, FedProx and MimeLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from cflag_theory.bridge.methods.base import Local, OnRows, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import (
    Ints,
    component_order,
    descend,
    longest_minibatch,
    minibatches,
    moving_first,
    with_resting,
)
from cflag_theory.bridge.methods.track import GRAD_G
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.compiled import make_step
from cflag_theory.bridge.models.flat_model import full_gradient
from cflag_theory.bridge.models.networks import Loss
from cflag_theory.bridge.models.rows import Passes, passes_of, wide
from cflag_theory.bridge.settings.evolving import MimeOptions, ProxOptions
from cflag_theory.bridge.settings.options import Work


class Job:
    """The steps of some clients in one round, a row a client: what gradient a step is given, and what is to be said.

    `cut` has the minibatches by row and component, `orders` the component of every step. `Lambda` (n,) sums the inner
    products of memory gradient and current gradient over the steps; `gradients` counts samples whose gradient was
    evaluated.
    """

    def __init__(self, method: FineTune, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> None:
        self.work, self.round, self.clients, self.cut = method.work, round, clients, cut
        self.loss = method.loss(round)
        self.orders = [
            component_order(round, client, len(parts), method.work.epochs)
            for client, parts in zip(clients, cut, strict=True)
        ]
        self.Lambda: torch.Tensor | None = None
        self.gradients = [0] * len(clients)
        self.passes = self.samples()

    def samples(self) -> Passes:
        """What the steps are given, step by step."""
        data = [[client.current] for client in self.clients]
        steps = [[parts[j] for j in order] for parts, order in zip(self.cut, self.orders, strict=True)]
        return self.passing(data, steps, lambda client: longest_minibatch(client, self.work.batch))

    def passing(
        self, data: Sequence[list[ClientData]], steps: Sequence[list[Ints]], longest: Callable[[Client], int]
    ) -> Passes:
        """Passes over these samples in every step, which are counted; `longest` is the most that a client has."""
        for row, parts in enumerate(steps):
            self.gradients[row] += sum(map(len, parts))
        return passes_of(self.round.model, data, steps, self.round.longest(longest), self.loss)

    def rates(self) -> tuple[list[float], list[float]]:
        """alpha and beta of the clients in the round, means over their steps."""
        return [0.0] * len(self.clients), [self.work.lr] * len(self.clients)

    def gradient(self, k: int, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Losses and gradients of the first rows in step k, at their local states; running statistics move."""
        return self.passes.step(k, len(local), local, statistics=True)


def by_memory(
    method: FineTune, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]], remember: type[Job]
) -> list[Job]:
    """The jobs of the clients that remember something, and of those that do not, which take Fine-FL's steps."""
    rows = list(zip(clients, cut, strict=True))
    some = [row for row in rows if row[0].memory.n > 0]
    none = [row for row in rows if row[0].memory.n == 0]
    return [
        kind(method, round, *(list(each) for each in zip(*part, strict=True)))
        for kind, part in ((remember, some), (Job, none))
        if part
    ]


class FineTune(OnRows):
    """Each local step is given the gradient of its minibatch."""

    name = "finetune"

    def __init__(self, work: Work) -> None:
        self.work = work

    def loss(self, round: Round) -> Loss | None:
        """The loss of the steps of a round, where it is not the model's."""
        return None

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        """What this method's steps do for these clients, each of which is in one job, in the order given."""
        return [Job(self, round, clients, cut)]

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        components = {client.index: minibatches(round, client, self.work.batch) for client in clients}
        found: dict[int, Local] = {}
        moving = moving_first(clients, components)
        for job in self.jobs(round, moving, [components[client.index] for client in moving]) if moving else ():

            def gradient(
                k: int, chosen: Sequence[int], local: torch.Tensor, job: Job = job
            ) -> tuple[torch.Tensor, torch.Tensor]:
                return job.gradient(k, local)

            step = make_step(self.work.optimizer, compiled=round.model.compiled)
            descent = descend(*round.start(state), job.orders, gradient, lr=self.work.lr, step=step)
            alpha, beta = job.rates()
            found |= descent.locals(
                round,
                job.clients,
                alpha=alpha,
                beta=beta,
                Lambda=job.Lambda,
                gradients=job.gradients,
            )
        return with_resting(found, clients, state, alpha=0.0, beta=self.work.lr)


class FedAvg(FineTune):
    """Each local step is given the gradient of its minibatch, or what `given` makes of it."""

    name = "fedavg"

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.start: torch.Tensor | None = None

    def given(self, gradients: torch.Tensor, x: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        """What steps are given for these gradients at the local x, rows of clients, and the x_t (d,) they began at."""
        return gradients

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return [_Given(self, round, clients, cut)]

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        self.start = state[: round.model.d]
        return super().locals_of(round, clients, state, means, own)


class _Given(Job):
    def __init__(self, method: FedAvg, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> None:
        super().__init__(method, round, clients, cut)
        self.method = method

    def gradient(self, k: int, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        losses, gradients = super().gradient(k, local)
        assert self.method.start is not None
        d = self.round.model.d
        given = self.method.given(gradients[:, :d], local[:, :d], self.method.start)
        return losses, wide(given, gradients.shape[1])


class FedProx(FedAvg):
    """FedAvg with mu (x - x_t) in each step (Li et al., 2018)."""

    name = "fedprox"

    def __init__(self, work: Work, options: ProxOptions) -> None:
        super().__init__(work)
        self.options = options

    def given(self, gradients: torch.Tensor, x: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        return torch.add(gradients, x - start, alpha=self.options.mu)


class MimeLite(FedAvg):
    """Steps (1 - gamma) g + gamma m with the server's momentum m, which is the same in all steps of a round.

    After the round m becomes (1 - gamma) grad g(x_t) + gamma m (Karimireddy et al., 2020a), where grad g is the mean of
    the clients' gradients on all their data, taken in minibatches' size where the network normalises by them.
    """

    name = "mimelite"

    def __init__(self, work: Work, options: MimeOptions) -> None:
        super().__init__(work)
        self.options = options
        self.momentum: torch.Tensor | None = None

    def vectors_of(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> Sent:
        return {
            client.index: {GRAD_G: full_gradient(round.model, state, client.current, self.work.batch)[1]}
            for client in clients
        }

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        found = super().locals_of(round, clients, state, means, own)
        for client in clients:
            found[client.index].numbers["gradients"] += client.current.n
        return found

    def given(self, gradients: torch.Tensor, x: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        gamma = self.options.gamma
        momentum = torch.zeros_like(start) if self.momentum is None else self.momentum
        return torch.add(gradients * (1 - gamma), momentum, alpha=gamma)

    def close_round(self, round: Round, state: torch.Tensor, means: Vectors, kept: Sequence[Sequence[float]]) -> None:
        gamma, new = self.options.gamma, means[GRAD_G]
        old = torch.zeros_like(new) if self.momentum is None else self.momentum
        self.momentum = (1 - gamma) * new + gamma * old

    def memory(self) -> dict[str, torch.Tensor]:
        return {} if self.momentum is None else {"momentum": self.momentum}

    def restore(self, memory: Vectors) -> None:
        self.momentum = memory.get("momentum")
