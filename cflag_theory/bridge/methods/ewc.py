"""EWC-FL: elastic weight consolidation (Kirkpatrick et al., 2017) over clients.

When a task is over, every client sends the diagonal of its empirical Fisher matrix at the new model: the mean of the
squared gradients of single samples, with their true labels, over at most `fisher_samples` samples, in evaluation mode,
because a single sample has no batch statistics. The server averages them with weights p_i. From then on a local step is
given the minibatch gradient plus

    lambda sum_s F_s (x - x*_s) = lambda F (x - c),    F = sum_s F_s,  c = sum_s F_s x*_s / F,

coordinate by coordinate, so that two vectors hold all past tasks. Plain steps of rate lr diverge where lr lambda F > 2.
So they take the penalty at the end of the step, which is exact for a quadratic: x_{k+1} = argmin of the linearised loss
+ ||x - x_k||^2 / (2 lr) + the penalty, the direction above divided by 1 + lr lambda F. Adam is given the gradient. The
recorded loss is that of the data.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Round, Vectors
from cflag_theory.bridge.methods.descent import Ints
from cflag_theory.bridge.methods.finetune import FineTune, Job
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rows import gradients_by_sample, wide
from cflag_theory.bridge.settings.options import PLAIN, EwcOptions, Work


class Ewc(FineTune):
    """Fine-FL with a quadratic penalty that holds what past tasks need."""

    name = "ewc"

    def __init__(self, work: Work, options: EwcOptions) -> None:
        super().__init__(work)
        self.options = options
        self.fisher: torch.Tensor | None = None
        self.centre: torch.Tensor | None = None

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        if self.fisher is None or self.centre is None:
            return super().jobs(round, clients, cut)
        weight, centre = (wide(each, round.width) for each in (self.options.penalty * self.fisher, self.centre))
        return [_Held(self, round, clients, cut, weight, centre)]

    def end_task(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        """The client's diagonal Fisher matrix at `state`, (d,)."""
        fisher = state.new_zeros(round.model.d)
        n = client.current.n
        count = self._drawn(client)
        positions = round.random("fisher", client.index).choice(n, size=count, replace=False).tolist() if n else []
        for each in gradients_by_sample(round.model, state, client.current, positions):
            fisher.addcmul_(each, each, value=1 / count)
        return {"fisher": fisher}

    def gradients_at_end(self, clients: Sequence[Client]) -> int:
        return sum(map(self._drawn, clients))

    def _drawn(self, client: Client) -> int:
        return min(client.current.n, self.options.fisher_samples)

    def close_task(self, round: Round, state: torch.Tensor, means: Vectors) -> None:
        new = means["fisher"]
        x = state[: len(new)]
        if self.fisher is None or self.centre is None:
            self.fisher, self.centre = new.clone(), x.clone()
            return
        self.fisher = self.fisher + new
        # A coordinate without any Fisher information is not held, wherever its centre is.
        share = torch.where(self.fisher > 0, new / self.fisher, torch.zeros_like(new))
        # Exactly x where the share is 1: Adam would blow up a rounding error there to steps of size lr.
        self.centre = torch.lerp(self.centre, x, share)

    def memory(self) -> dict[str, torch.Tensor]:
        if self.fisher is None or self.centre is None:
            return {}
        return {"fisher": self.fisher, "centre": self.centre}

    def restore(self, memory: Vectors) -> None:
        self.fisher, self.centre = memory.get("fisher"), memory.get("centre")


class _Held(Job):
    """Steps with the penalty."""

    def __init__(
        self,
        method: Ewc,
        round: Round,
        clients: Sequence[Client],
        cut: Sequence[list[Ints]],
        weight: torch.Tensor,
        centre: torch.Tensor,
    ) -> None:
        super().__init__(method, round, clients, cut)
        self.weight, self.centre = weight, centre
        self.shrunk = 1 + self.work.lr * weight if self.work.optimizer == PLAIN else None

    def gradient(self, k: int, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        losses, gradients = super().gradient(k, local)
        whole = torch.addcmul(gradients, self.weight, local[:, : len(self.centre)] - self.centre)
        return losses, whole if self.shrunk is None else whole.div_(self.shrunk)
