"""Rivals of the papers at every client, averaged as in FedAvg: Er-ring-FL, NCCL-FL, EWC-FL, LwF-FL and iCaRL-FL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from cflag_theory.bridge.methods.base import Local, Own, Round, Vectors
from cflag_theory.bridge.methods.descent import Ints, longest_minibatch, memory_draws, most_drawn
from cflag_theory.bridge.methods.finetune import FineTune, Job, by_memory
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.networks import Batch, Loss
from cflag_theory.bridge.models.rates import table1_rows
from cflag_theory.bridge.models.rows import Passes, gradients_by_sample, side_by_side, wide
from cflag_theory.bridge.settings.options import PLAIN, EwcOptions, LwfOptions, Work

#: Images that a pass takes at a time.
PASS = 500
OLD = "old"


class Distilled(FineTune):
    """Methods for class-incremental learning whose loss holds on to the model at the end of the last task, x_old.

    Each is Fine-FL with another loss. The old model is the global one, and its outputs z_old on the images of a step
    are taken once a task, in evaluation mode, without masks.
    """

    #: The pass of several clients at once knows one loss.
    on_rows = False

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.old: torch.Tensor | None = None
        #: By index the client that was prepared, and what it became: images that change every round are other clients.
        self._prepared: dict[int, tuple[Client, Client]] = {}

    @abstractmethod
    def prepared(self, round: Round, client: Client) -> Client:
        """The client with the samples and soft targets that its steps need."""

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        ready = []
        for client in clients:
            known = self._prepared.get(client.index)
            if known is None or known[0] is not client:
                known = self._prepared[client.index] = client, self.prepared(round, client)
            ready.append(known[1])
        # Passes one by one have no zeros behind their states.
        return super().locals_of(replace(round, everybody=()), ready, state, means, own)

    def softened(self, model: FlatModel, data: ClientData) -> ClientData:
        """With what the old model gives for every image, if there is one."""
        if self.old is None or not data.n:
            return data
        parts = [
            model.outputs(self.old, data.batch(slice(first, first + PASS)).images) for first in range(0, data.n, PASS)
        ]
        return replace(data, soft=torch.cat(parts))

    def close_task(self, round: Round, state: torch.Tensor, means: Vectors) -> None:
        self.old = state.clone()
        self._prepared = {}

    def memory(self) -> dict[str, torch.Tensor]:
        return {} if self.old is None else {OLD: self.old}

    def restore(self, memory: Vectors) -> None:
        self.old = memory.get(OLD)
        self._prepared = {}


class Lwf(Distilled):
    """LwF-FL, learning without forgetting (Li and Hoiem, 2016, Sec. 3), which has on current images the loss

        cross-entropy over the task's own classes - weight sum_{c in C} sigma_T(z_old)_c log sigma_T(z)_c,

    C being the classes of the tasks before, z the outputs of the model that is trained, without masks, T a temperature
    and sigma_T = softmax(. / T) over C; T = 2 and weight 1 as there. In the first task it is Fine-FL.
    """

    name = "lwf"

    def __init__(self, work: Work, options: LwfOptions) -> None:
        super().__init__(work)
        self.options = options

    def prepared(self, round: Round, client: Client) -> Client:
        return replace(client, current=self.softened(round.model, client.current))

    def loss(self, round: Round) -> Loss | None:
        if self.old is None:
            return None
        own, options = round.model.columns(round.task), self.options

        def both(outputs: torch.Tensor, batch: Batch) -> torch.Tensor:
            assert batch.soft is not None
            held = distillation(outputs[:, : own.start], batch.soft[:, : own.start], options.temperature)
            return among(own, outputs, batch) + options.weight * held

        return both


def among(own: slice, outputs: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross-entropy over a task's own classes, which are the outputs `own`: (B,)."""
    return nn.functional.cross_entropy(outputs[:, own], batch.labels, reduction="none")


def distillation(outputs: torch.Tensor, soft: torch.Tensor, temperature: float) -> torch.Tensor:
    """Cross-entropy of softened probabilities, (B,)."""
    wanted = torch.softmax(soft / temperature, dim=1)
    return -(wanted * torch.log_softmax(outputs / temperature, dim=1)).sum(dim=1)


class ErRing(FineTune):
    """Er-ring-FL: experience replay (Chaudhry et al., 2019).

    Each local step is given the gradient of the mean loss over its minibatch and a batch of memory together.

    Every sample of the union weighs the same. A client that remembers nothing takes Fine-FL's steps.
    """

    name = "er_ring"

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return by_memory(self, round, clients, cut, Union)


class Union(Job):
    """Steps on the union."""

    def samples(self) -> Passes:
        """A client's samples, and behind them those that it remembers."""
        steps = []
        for client, parts, order in zip(self.clients, self.cut, self.orders, strict=True):
            drawn = memory_draws(self.round, client, self.work.sample, len(order))
            steps.append(
                [np.concatenate([parts[j], client.current.n + each]) for j, each in zip(order, drawn, strict=True)]
            )
        return self.passing(
            [[client.current, client.memory] for client in self.clients],
            steps,
            lambda client: longest_minibatch(client, self.work.batch) + most_drawn(client.memory, self.work.sample),
        )


class Nccl(FineTune):
    """NCCL-FL: the method of Han et al. (2023) at every client, averaged as in FedAvg.

    Each local step is given a memory gradient and the minibatch's, weighed by rates adapted in that step.

    NCCL steps along alpha_k grad f_I(x_k) + beta_k grad g_J(x_k), I a batch of memory and J the minibatch, with rates
    adapted in every step. They are those of Table 1 for one client (p_i = 1, N = 1) with a_i = grad g_J(x_k), to which
    C-FLAG's rates reduce: under transference beta_k = (1 - L alpha) Lambda / (L ||grad g_J||^2), under interference
    alpha_k = alpha (1 - Lambda / ||grad f_I||^2). A step of rate lr is given this direction divided by lr: for plain
    steps that is NCCL, and Adam is given what NCCL would move along. A client that remembers nothing takes Fine-FL's
    steps.
    """

    name = "nccl"

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        work.check_adaptive()

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return by_memory(self, round, clients, cut, _Adapted)


class _Adapted(Job):
    def __init__(self, method: FineTune, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> None:
        super().__init__(method, round, clients, cut)
        #: Means over the steps so far, alphas and betas. On the device: a number that the CPU reads makes it wait.
        self.means = torch.zeros((2, len(clients)), dtype=torch.float64, device=round.model.device)
        self.steps = 0
        sample = self.work.sample
        drawn = [
            memory_draws(round, client, sample, len(order)) for client, order in zip(clients, self.orders, strict=True)
        ]
        self.memory = self.passing(
            [[client.memory] for client in clients], drawn, lambda client: most_drawn(client.memory, sample)
        )

    def rates(self) -> tuple[list[float], list[float]]:
        alphas, betas = self.means.tolist()
        return alphas, betas

    def gradient(self, k: int, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        count = len(local)
        _, grad_f = self.memory.step(k, count, local)
        losses, grad_g = super().gradient(k, local)
        rates, products = table1_rows(
            1.0, L=self.work.L, alpha=self.work.alpha, beta=self.work.lr, grad_f_memory=grad_f, a=grad_g
        )
        if self.Lambda is None:
            self.Lambda = losses.new_zeros(len(self.clients))
        self.Lambda[:count] += products
        self.steps += 1
        self.means[:, :count] += (rates - self.means[:, :count]) / self.steps
        alphas, betas = rates.to(grad_g.dtype)[..., None]
        return losses, (alphas * grad_f + betas * grad_g) / self.work.lr


class Ewc(FineTune):
    """EWC-FL: elastic weight consolidation (Kirkpatrick et al., 2017) over clients.

    Fine-FL with a quadratic penalty that holds what past tasks need.

    When a task is over, every client sends the diagonal of its empirical Fisher matrix at the new model: the mean of
    the squared gradients of single samples, with their true labels, over at most `fisher_samples` samples, in
    evaluation mode, because a single sample has no batch statistics. The server averages them with weights p_i. From
    then on a local step is given the minibatch gradient plus

        lambda sum_s F_s (x - x*_s) = lambda F (x - c),    F = sum_s F_s,  c = sum_s F_s x*_s / F,

    coordinate by coordinate, so that two vectors hold all past tasks. Plain steps of rate lr diverge where lr lambda F
    > 2. So they take the penalty at the end of the step, which is exact for a quadratic: x_{k+1} = argmin of the
    linearised loss + ||x - x_k||^2 / (2 lr) + the penalty, the direction above divided by 1 + lr lambda F. Adam is
    given the gradient. The recorded loss is that of the data.
    """

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


EXEMPLARS = "exemplars"


class Icarl(Distilled):
    """iCaRL-FL (Rebuffi et al., 2017): exemplars by herding, a logistic loss that distils, and the nearest mean.

    Current samples and exemplars with the logistic loss, and the nearest mean of exemplars.

    - *Exemplars* are the client's memory, chosen with the global model when a task is over: see `training.evaluation`.
      They stand beside the current samples, each weighing the same.
    - *The loss* (Alg. 3), with s the logistic function, z the outputs of the model that is trained, z_old those of the
      model at the end of the last task and C the classes that it has seen:

          l = - sum_c q_c log s(z_c) + (1 - q_c) log(1 - s(z_c))    over all classes c seen,

      q_c = s(z_old_c) for c in C, and otherwise whether c is the image's class. It has no softmax, so that no switch of
      the masks concerns it.
    - *A test image* has the class to whose mean feature over the exemplars of all clients its own feature is nearest
      (Alg. 1), features and means having length one. Clients send sums by class with their counts.
    """

    name = "icarl"
    herds = True

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        #: Of length one, (outputs, features), and of which classes there are some.
        self.means: torch.Tensor | None = None
        self.there: torch.Tensor | None = None

    def prepared(self, round: Round, client: Client) -> Client:
        if not client.current.n:
            return client
        both = side_by_side([client.current, client.memory]) if client.memory.n else client.current
        return replace(client, current=self.softened(round.model, both))

    def loss(self, round: Round) -> Loss | None:
        model, own = round.model, round.model.columns(round.task)

        def logistic(outputs: torch.Tensor, batch: Batch) -> torch.Tensor:
            places = model.network.class_numbers[batch.tasks, batch.labels]
            wanted = nn.functional.one_hot(places, outputs.shape[1]).to(outputs.dtype)
            if batch.soft is not None:
                wanted[:, : own.start] = torch.sigmoid(batch.soft[:, : own.start])
            each = nn.functional.binary_cross_entropy_with_logits(outputs, wanted, reduction="none")
            return each[:, : own.stop].sum(dim=1)

        return logistic

    def totals(self, round: Round, client: Client, state: torch.Tensor) -> dict[str, torch.Tensor]:
        """Sums of the exemplars' features of length one by class, and their numbers: (outputs (features + 1),)."""
        model, data = round.model, client.memory
        outputs, features = model.network.heads.weight.shape
        sums = state.new_zeros(outputs, features + 1)
        if data.n:
            places = model.network.class_numbers[data.tasks, data.labels]
            found = normal_features(model, state, data)
            for place in range(outputs):
                mine = found[places == place]
                sums[place, :-1], sums[place, -1] = mine.sum(dim=0), len(mine)
        return {EXEMPLARS: sums.flatten()}

    def close_task(self, round: Round, state: torch.Tensor, means: Vectors) -> None:
        super().close_task(round, state, means)
        outputs, features = round.model.network.heads.weight.shape
        sums, counts = means[EXEMPLARS].view(outputs, features + 1).split([features, 1], dim=1)
        self.means, self.there = nn.functional.normalize(sums / counts.clamp(min=1)), counts[:, 0] > 0

    def scores(self, model: FlatModel, state: torch.Tensor, images: torch.Tensor, task: int) -> torch.Tensor:
        """The inner products of features with means: all of length one, so that the largest belongs to the nearest."""
        if self.means is None or self.there is None:
            return super().scores(model, state, images, task)
        found = nn.functional.normalize(model.features(state, images)) @ self.means.T
        found = found.masked_fill(~self.there, -torch.inf)
        return found if model.network.growing is not None else found[:, model.columns(task)]


def normal_features(model: FlatModel, state: torch.Tensor, data: ClientData) -> torch.Tensor:
    """Features of all samples, at least one, scaled to length one: (n, features)."""
    images = (data.batch(slice(first, first + PASS)).images for first in range(0, data.n, PASS))
    return nn.functional.normalize(torch.cat([model.features(state, each) for each in images]))
