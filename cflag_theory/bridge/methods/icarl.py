"""iCaRL-FL (Rebuffi et al., 2017): exemplars by herding, a logistic loss that distils, and the nearest mean.

- *Exemplars* are the client's memory, chosen with the global model when a task is over: see `training.exemplars`. They
  stand beside the current samples, each weighing the same.
- *The loss* (Alg. 3), with s the logistic function, z the outputs of the model that is trained, z_old those of the
  model at the end of the last task and C the classes that it has seen:

      l = - sum_c q_c log s(z_c) + (1 - q_c) log(1 - s(z_c))    over all classes c seen,

  q_c = s(z_old_c) for c in C, and otherwise whether c is the image's class. It has no softmax, so that no switch of the
  masks concerns it.
- *A test image* has the class to whose mean feature over the exemplars of all clients its own feature is nearest
  (Alg. 1), features and means having length one. Clients send sums by class with their counts.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from cflag_theory.bridge.methods.base import Round, Vectors
from cflag_theory.bridge.methods.distilled import PASS, Distilled
from cflag_theory.bridge.models.batch import Batch, Loss
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.rows import side_by_side
from cflag_theory.bridge.settings.options import Work

EXEMPLARS = "exemplars"


class Icarl(Distilled):
    """Current samples and exemplars with the logistic loss, and the nearest mean of exemplars."""

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
