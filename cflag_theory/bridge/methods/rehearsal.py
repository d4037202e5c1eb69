"""CFL-Core-Set and CFL-Generative: a client keeps samples of every data set it has had; CFL-Regularization.

Of a data set that it has for the first time a client chooses, or generates, its samples at the end of the round. From
then on they stand beside its current samples, each weighing the same; those of the current data set itself do not.
"""

from __future__ import annotations

import re
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
from cflag_theory.bridge.models.flat_model import FlatModel, full_gradient
from cflag_theory.bridge.models.rows import side_by_side
from cflag_theory.bridge.settings import evolving
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

    def __init__(self, work: Work, options: evolving.CoreSetOptions) -> None:
        super().__init__(work)
        self.options = options

    def kept(self, clients: Sequence[Client]) -> int:
        return 1 + 2 * self.options.size

    def choose(self, round: Round, client: Client, state: torch.Tensor) -> list[float]:
        data = client.current
        size = min(self.options.size, data.n)
        if self.options.choice == evolving.HERDING:
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

    def __init__(self, work: Work, options: evolving.McmcOptions) -> None:
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


def langevin(x: np.ndarray, real: np.ndarray, options: evolving.McmcOptions, random: np.random.Generator) -> np.ndarray:
    """One image (k,) after all steps, for the real ones (n, k)."""
    h2 = options.width**2 * len(x)
    for _ in range(options.steps):
        distances = ((x - real) ** 2).sum(1) / (2 * h2)
        weights = np.exp(distances.min() - distances)
        gradient = x - weights @ real / weights.sum()
        x = x - options.eta * gradient + options.sigma * random.standard_normal(len(x))
    return x


CURVATURE, LINEAR = "curvature", "linear"


class CflRegularization(FedAvg):
    """FedAvg with the losses of past rounds by their Taylor expansions; with `mu` also FedProx.

    After its local steps a client expands the loss on its data at its local model w_i: gradient g_i and an estimate h_i
    of the Hessian's diagonal. With h and c the clients' means of h_i and h_i w_i - g_i, the mean of the expansions has
    the gradient h x - c, so that two vectors hold a round exactly. The server keeps the newest ones; a step is given

        grad f_{t,i}(x) + beta (1/n) sum_tau (h_tau x - c_tau),

    beta being a number for each coordinate: that of the last layer, that of the last block, and 0 elsewhere.
    """

    name = "cfl_reg"
    closes = True

    def __init__(self, work: Work, options: evolving.TaylorOptions) -> None:
        super().__init__(work)
        self.options = options
        #: Rows h and c of the rounds kept, oldest first, in the coordinates with a weight.
        self.h: torch.Tensor | None = None
        self.c: torch.Tensor | None = None
        self._pull: tuple[torch.Tensor, torch.Tensor] | None = None

    def given(self, gradients: torch.Tensor, x: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        if self._pull is not None:
            h, c = self._pull
            gradients = gradients + (h * x - c)
        mu = getattr(self.options, "mu", 0.0)
        return torch.add(gradients, x - start, alpha=mu) if mu else gradients

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        weights = layer_weights(round.model, self.options).to(state)
        # Of a ResNet only the top layers are sent and kept.
        held = torch.nonzero(weights)[:, 0]
        self._pull = None
        if self.h is not None and self.c is not None:
            share = weights[held] / len(self.h) if self.options.combine == evolving.MEAN else weights[held]
            h, c = (torch.zeros_like(weights).index_copy_(0, held, share * rows.sum(0)) for rows in (self.h, self.c))
            self._pull = h, c
        found = super().locals_of(round, clients, state, means, own)
        for client in clients:
            local = found[client.index]
            h, c, gradients = self._expansion(round, client, state - local.move)
            local.sent.update({CURVATURE: h[held], LINEAR: c[held]})
            local.numbers["gradients"] += gradients
        return found

    def _expansion(self, round: Round, client: Client, at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float]:
        """h_i, c_i, and what they cost in gradients of samples; a Hessian's product counts as two."""
        n, options = client.current.n, self.options
        _, gradient = full_gradient(round.model, at, client.current, self.work.batch)
        if options.hessian == evolving.HUTCHINSON:
            random = round.random("hutchinson", client.index)
            signs = 2.0 * random.integers(0, 2, (options.probes, round.model.d)) - 1
            h = hutchinson(round.model, at, client.current, torch.from_numpy(signs).to(at), self.work.batch)
            # A negative curvature, or an estimate below zero, would leave the sum without a minimum.
            h, cost = h.clamp_(min=0), n * (1 + 2 * options.probes)
        elif options.hessian == evolving.FISHER:
            h, cost = fisher(round.model, at, client.current), 2 * n
        else:
            h, cost = gradient.square(), n
        return h, h * at[: round.model.d] - gradient, cost

    def close_round(self, round: Round, state: torch.Tensor, means: Vectors, kept: Sequence[Sequence[float]]) -> None:
        def newest(rows: torch.Tensor | None, row: torch.Tensor) -> torch.Tensor:
            whole = row[None] if rows is None else torch.cat([rows, row[None]])
            return whole[-self.options.keep :]

        self.h, self.c = newest(self.h, means[CURVATURE]), newest(self.c, means[LINEAR])

    def memory(self) -> dict[str, torch.Tensor]:
        return {} if self.h is None or self.c is None else {CURVATURE: self.h, LINEAR: self.c}

    def restore(self, memory: Vectors) -> None:
        self.h, self.c = memory.get(CURVATURE), memory.get(LINEAR)


class CflRegularizationProx(CflRegularization):
    """CFL-Regularization + FedProx."""

    name = "cfl_reg_prox"

    def __init__(self, work: Work, options: evolving.RegProxOptions) -> None:
        super().__init__(work, options)


def layer_weights(model: FlatModel, options: evolving.TaylorOptions) -> torch.Tensor:
    """beta of every coordinate, (d,): of the heads, of the last block of the body, and of what is before."""
    names = [name for name, _, _ in model.tensors if not name.startswith("heads.")]
    block = last_block(names)
    weights = torch.empty(model.d, dtype=torch.float64)
    for name, where, _ in model.tensors:
        last = name.startswith("heads.")
        weights[where] = options.last if last else options.block if name.startswith(block) else options.rest
    return weights


def last_block(names: Sequence[str]) -> str:
    """The prefix of a body's last block: a ResNet's last stage, else its last layer with parameters."""
    if not names:
        return "none"
    found = re.match(r"body\.layer\d+\.", names[-1])
    return found.group() if found else names[-1].rpartition(".")[0] + "."


def hutchinson(
    model: FlatModel, state: torch.Tensor, data: ClientData, signs: torch.Tensor, batch: int
) -> torch.Tensor:
    """The Hessian's diagonal as the mean of z H z over the rows z of `signs` (m, d), entries 1 and -1: (d,)."""
    diagonal = torch.zeros(model.d, dtype=torch.float64, device=state.device)
    for first in range(0, data.n, batch):
        count = min(batch, data.n - first)
        products = model.products(state, data.batch(slice(first, first + count)), signs)
        diagonal.add_((signs * products).mean(0), alpha=count / data.n)
    return diagonal.to(state.dtype)


def fisher(model: FlatModel, state: torch.Tensor, data: ClientData) -> torch.Tensor:
    """The mean of the squared gradients of single samples, in evaluation mode: (d,)."""
    found = state.new_zeros(model.d)
    for position in range(data.n):
        _, gradient = model.gradient(state, data.batch(slice(position, position + 1)), training=False)
        found.addcmul_(gradient, gradient, value=1 / data.n)
    return found
