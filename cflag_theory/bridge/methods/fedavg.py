"""FedAvg with its clients weighing the same, and its rivals for data that change: FedProx and MimeLite."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Local, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import Ints
from cflag_theory.bridge.methods.finetune import FineTune, Job
from cflag_theory.bridge.methods.track import GRAD_G
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.flat_model import full_gradient
from cflag_theory.bridge.models.rows import wide
from cflag_theory.bridge.settings.evolving import MimeOptions, ProxOptions
from cflag_theory.bridge.settings.options import Work


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
