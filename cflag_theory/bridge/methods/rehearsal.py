"""CFL-Core-Set and CFL-Generative: a client keeps samples of every data set it has had and learns them again.

Of a data set that it has for the first time a client chooses, or generates, its samples at the end of the round. From
then on they stand beside its current samples, each weighing the same; those of the current data set itself do not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import isnan, prod

import numpy as np
import torch

from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.methods.base import Local, Own, Round, Vectors
from cflag_theory.bridge.methods.descent import minibatches
from cflag_theory.bridge.methods.finetune import FedAvg
from cflag_theory.bridge.models.clients import Client, ClientData, Pixels
from cflag_theory.bridge.models.rows import side_by_side
from cflag_theory.bridge.settings.evolving import HERDING, CoreSetOptions, McmcOptions
from cflag_theory.bridge.settings.options import Work


class Rehearsal(FedAvg):
    """FedAvg on current and kept samples together."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        #: By client and data set the numbers that `Local.kept` brought: a data set's number, then the method's own.
        self.sets: dict[int, dict[int, list[float]]] = {}

    @abstractmethod
    def beside(self, client: Client, rows: Sequence[Sequence[float]]) -> ClientData:
        """Samples kept of other data sets, from their rows."""

    @abstractmethod
    def choose(self, round: Round, client: Client, state: torch.Tensor) -> list[float]:
        """What to keep of the client's current data, `state` being its local model."""

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        enlarged = [self.enlarged(client) for client in clients]
        # Shapes follow from all clients with what they keep.
        everybody = tuple(self.enlarged(client) for client in round.everybody)
        found = super().locals_of(replace(round, everybody=everybody), enlarged, state, means, own)
        width = self.kept(clients)
        for client in clients:
            local = found[client.index]
            row: list[float] = []
            if client.current.n and client.part not in self.sets.get(client.index, {}):
                row = [float(client.part), *self.choose(round, client, state - local.move)]
            local.kept[:] = [*row, *[float("nan")] * (width - len(row))]
        return found

    def enlarged(self, client: Client) -> Client:
        """The client with the samples that it keeps beside its current ones."""
        rows = self.others(client)
        both = side_by_side([client.current, self.beside(client, rows)]) if rows else client.current
        return replace(client, current=both)

    def others(self, client: Client) -> list[list[float]]:
        """What the client keeps of other data sets than the one that it has now."""
        return [row for part, row in self.sets.get(client.index, {}).items() if part != client.part]

    def approximation(self, client: Client, part: int) -> ClientData | None:
        row = self.sets.get(client.index, {}).get(part)
        none = replace(
            client.current, **{name: getattr(client.current, name)[:0] for name in ("indices", "labels", "tasks")}
        )
        return None if row is None else self.beside(replace(client, current=none), [row])

    def close_round(self, round: Round, state: torch.Tensor, means: Vectors, kept: Sequence[Sequence[float]]) -> None:
        for client, row in enumerate(kept):
            if not isnan(row[0]):
                self.sets.setdefault(client, {})[int(row[0])] = list(row[1:])

    def memory(self) -> dict[str, torch.Tensor]:
        rows = [[float(i), float(part), *row] for i, sets in self.sets.items() for part, row in sets.items()]
        return {"sets": torch.tensor(rows, dtype=torch.float64)} if rows else {}

    def restore(self, memory: Vectors) -> None:
        self.sets = {}
        for row in memory["sets"].tolist() if "sets" in memory else ():
            self.sets.setdefault(int(row[0]), {})[int(row[1])] = row[2:]


class CflCoreSet(Rehearsal):
    """Keeps `size` samples of every data set: drawn uniformly, or by herding class by class (Algorithm 3)."""

    name = "cfl_core"

    def __init__(self, work: Work, options: CoreSetOptions) -> None:
        super().__init__(work)
        self.options = options

    def kept(self, clients: Sequence[Client]) -> int:
        return 1 + 2 * self.options.size

    def choose(self, round: Round, client: Client, state: torch.Tensor) -> list[float]:
        data = client.current
        size = min(self.options.size, data.n)
        if self.options.choice == HERDING:
            features = round.model.features(state, data.batch(slice(None)).images).double().cpu().numpy()
            chosen = np.array(by_class(data.labels.cpu().numpy(), size, features))
        else:
            chosen = round.random("core set", client.index).choice(data.n, size=size, replace=False)
        places = torch.as_tensor(chosen, device=data.indices.device)
        blank = [float("nan")] * (self.options.size - size)
        return [*data.indices[places].tolist(), *blank, *data.labels[places].tolist(), *blank]

    def beside(self, client: Client, rows: Sequence[Sequence[float]]) -> ClientData:
        size = self.options.size
        pairs = [(int(row[k]), row[size + k]) for row in rows for k in range(size) if not isnan(row[k])]
        # Where data sets overlap a sample may be there already.
        here = set(client.current.indices.tolist())
        others = {index: label for index, label in pairs if index not in here}
        like = client.current
        indices = torch.tensor(list(others), dtype=torch.int64, device=like.indices.device)
        labels = torch.tensor(list(others.values()), dtype=torch.float64, device=like.labels.device).to(
            like.labels.dtype
        )
        return ClientData(like.pixels, indices, labels, torch.zeros_like(indices))


class CflGenerative(Rehearsal):
    """Keeps images that Langevin's iteration makes, x <- x - eta grad E(x) + noise, from uniform ones.

    E measures the distance to the client's images x_j of the label that is to be: -h^2 log sum_j exp(-|x - x_j|^2 /
    (2 h^2)), whose gradient is x - sum_j w_j x_j with the softmax weights w of -|x - x_j|^2 / (2 h^2). Images are
    normalised, and h is `width` times the square root of their number of pixels. Labels come in the client's
    proportions. Where the network normalises by minibatch, a round's move of the running statistics is that of one pass
    over the real images at the local model, because generated ones would spoil them.
    """

    name = "cfl_gen"

    def __init__(self, work: Work, options: McmcOptions) -> None:
        super().__init__(work)
        self.options = options

    def kept(self, clients: Sequence[Client]) -> int:
        return 1 + self.options.size * (1 + int(prod(clients[0].current.pixels.images.shape[1:])))

    def choose(self, round: Round, client: Client, state: torch.Tensor) -> list[float]:
        data, options = client.current, self.options
        random = round.random("mcmc", client.index)
        real = data.batch(slice(None)).images.flatten(1).double().cpu().numpy()
        labels = data.labels.cpu().numpy()
        wanted = labels[random.integers(data.n, size=options.size)]
        start = random.uniform(real.min(), real.max(), (options.size, real.shape[1]))
        made = np.stack(
            [langevin(x, real[labels == label], options, random) for x, label in zip(start, wanted, strict=True)]
        )
        return [*map(float, wanted), *made.ravel().tolist()]

    def beside(self, client: Client, rows: Sequence[Sequence[float]]) -> ClientData:
        like, size = client.current, self.options.size
        where = {"device": like.indices.device, "dtype": torch.float64}
        shape = like.pixels.images.shape[1:]
        images = torch.tensor([row[size:] for row in rows], **where).to(like.pixels.scale.dtype).view(-1, *shape)
        labels = torch.tensor([row[:size] for row in rows], **where).to(like.labels.dtype).view(-1)
        places = torch.arange(len(images), device=like.indices.device)
        return ClientData(
            Pixels(images, like.pixels.scale, like.pixels.shift), places, labels, torch.zeros_like(places)
        )

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        found = super().locals_of(round, clients, state, means, own)
        model = round.model
        if model.size > model.d:
            for client in (client for client in clients if self.others(client)):
                local = found[client.index]
                at = state.clone()
                at[: model.d] -= local.move[: model.d]
                for positions in minibatches(round, client, self.work.batch):
                    model.gradient(at, client.current.batch(positions), statistics=True)
                local.move[model.d :] = state[model.d :] - at[model.d :]
                local.numbers["gradients"] += client.current.n
        return found


def by_class(labels: Ints, size: int, features: np.ndarray) -> list[int]:
    """Places of `size` samples: of each class its share by largest remainders, chosen by `herding`."""
    classes, counts = np.unique(labels, return_counts=True)
    exact = size * counts / counts.sum()
    shares = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: size - shares.sum()]] += 1
    chosen: list[int] = []
    for label, share in zip(classes, shares, strict=True):
        members = np.flatnonzero(labels == label)
        chosen += [int(members[k]) for k in herding(features[members], int(share))]
    return chosen


def herding(features: np.ndarray, size: int) -> list[int]:
    """Algorithm 3: one after another, the sample that brings the mean of the chosen features (n, k) nearest to that of
    all. A sample is chosen once; the listing would allow it again, which keeps nothing more."""
    mean, total = features.mean(0), np.zeros(features.shape[1])
    free, chosen = list(range(len(features))), []
    for k in range(1, size + 1):
        best = min(free, key=lambda j: float(np.linalg.norm(mean - (features[j] + total) / k)))
        free.remove(best)
        chosen.append(best)
        total = total + features[best]
    return chosen


def langevin(x: np.ndarray, real: np.ndarray, options: McmcOptions, random: np.random.Generator) -> np.ndarray:
    """One image (k,) after all steps, for the real ones (n, k)."""
    h2 = options.width**2 * len(x)
    for _ in range(options.steps):
        distances = ((x - real) ** 2).sum(1) / (2 * h2)
        weights = np.exp(distances.min() - distances)
        gradient = x - weights @ real / weights.sum()
        x = x - options.eta * gradient + options.sigma * random.standard_normal(len(x))
    return x
