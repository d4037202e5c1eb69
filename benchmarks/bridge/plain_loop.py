"""The loop that a user would write: a module a client, copied in every round, and torch.optim's plain steps.

It is given images that are normalised beforehand, and C-FLAG a whole table of gradients at x_t, which the bridge does
without: it takes the gradients of a round again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.bridge.cases import NAMES, L, World
from cflag_theory.bridge.methods.descent import component_order, memory_positions, minibatches
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.networks import BODIES, HIDDEN
from cflag_theory.kernels.formulas import table1_rates


class Learner(nn.Module):  # type: ignore[misc]
    """A body, and the heads of all tasks in one layer."""

    def __init__(self, network: str, shape: tuple[int, int, int], classes: int, tasks: int) -> None:
        super().__init__()
        self.body, features = BODIES[network](shape, HIDDEN.get(network, ()))
        self.heads, self.classes = nn.Linear(features, tasks * classes), classes

    def forward(self, images: Tensor, task: int) -> Tensor:
        """Logits of the task's classes."""
        return self.heads(self.body(images))[:, task * self.classes : (task + 1) * self.classes]


@contextmanager
def frozen_statistics(module: nn.Module) -> Iterator[None]:
    """Within it, passes leave the running statistics of batch normalisation where they are."""
    layers = [layer for layer in module.modules() if isinstance(layer, nn.BatchNorm2d)]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.momentum = 0.0
    try:
        yield
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum


class PlainLoop:
    """Fine-FL or C-FLAG in a plain loop over clients."""

    replicas = 1

    def __init__(self, world: World, method: str) -> None:
        self.world, self.case, self.method = world, world.case, method
        self.name = f"{NAMES[method]}, plain loop"
        tasks = 5 if world.case.digits else 2
        case = world.case
        self.learner = Learner(case.network, case.shape, case.classes, tasks).to(world.start.device, world.start.dtype)
        self.current = [_images(client.current) for client in world.clients]
        self.memory = [_images(client.memory) for client in world.clients]
        self.normalised = world.model.size > world.model.d

    def run(self, rounds: int) -> Tensor:
        """The state after so many rounds, in the order of the bridge's vectors, (size,)."""
        server = self.learner
        model, start = self.world.model, self.world.start
        places = (*model.tensors, *model.statistics)
        server.load_state_dict({name: start[where].view(shape) for name, where, shape in places}, strict=False)
        server.train()
        for number in range(rounds):
            self._round(server, number)
        named = server.state_dict()
        return torch.cat([named[name].reshape(-1) for name, _, _ in places])

    def _round(self, server: Learner, number: int) -> None:
        first = [self._first(server, number, client) for client in self.world.clients] if self._tracks else None
        total: dict[str, Tensor] = {}
        for client in self.world.clients:
            learner = copy.deepcopy(server)
            if first is None:
                self._fine_tune(learner, number, client)
            else:
                self._track(server, learner, number, client, first)
            for name, value in learner.state_dict().items():
                if value.is_floating_point():
                    total[name] = total.get(name, 0) + client.p * value
        server.load_state_dict(total, strict=False)

    @property
    def _tracks(self) -> bool:
        return self.method == "c_flag"

    def _cut(self, number: int, client: Client) -> list[np.ndarray]:
        return minibatches(self.world.round(number), client, self.case.batch)

    def _order(self, number: int, client: Client, count: int) -> list[int]:
        return component_order(self.world.round(number), client, count, self.case.epochs)

    def _minibatch(self, client: Client, positions: np.ndarray) -> tuple[Tensor, Tensor]:
        images, labels = self.current[client.index]
        return images[positions], labels[positions]

    def _fine_tune(self, learner: Learner, number: int, client: Client) -> None:
        optimizer = torch.optim.SGD(learner.parameters(), lr=self.case.lr)
        cut = self._cut(number, client)
        for j in self._order(number, client, len(cut)):
            images, labels = self._minibatch(client, cut[j])
            optimizer.zero_grad()
            nn.functional.cross_entropy(learner(images, 1), labels).backward()
            optimizer.step()

    def _first(self, server: Learner, number: int, client: Client) -> dict[str, Any]:
        """What a client sends: its gradients at x_t, minibatch by minibatch, and the gradient on its memory."""
        cut = self._cut(number, client)
        with frozen_statistics(server):
            table = [_gradients(server, *self._minibatch(client, positions), 1) for positions in cut]
            random = self.world.round(number).random("memory", client.index)
            images, labels = self.memory[client.index]
            chosen = memory_positions(client.memory, self.case.sample, random)
            memory = _gradients(server, images[chosen], labels[chosen], 0)
        shares = [len(positions) / client.current.n for positions in cut]
        mean = [
            sum(share * part for share, part in zip(shares, parts, strict=True)) for parts in zip(*table, strict=True)
        ]
        return {"cut": cut, "table": table, "shares": shares, "mean": mean, "memory": memory, "p": client.p}

    def _track(
        self, server: Learner, learner: Learner, number: int, client: Client, first: list[dict[str, Any]]
    ) -> None:
        """Local steps against the delayed gradient, and the learner set to what its client wants x_{t+1} to be."""
        own = first[client.index]
        grad_g, grad_f = (
            [
                sum(each["p"] * part for each, part in zip(first, parts, strict=True))
                for parts in zip(*rows, strict=True)
            ]
            for rows in ([each["mean"] for each in first], [each["memory"] for each in first])
        )
        correction = [g - g_i for g, g_i in zip(grad_g, own["mean"], strict=True)]
        delayed, parameters = [part.clone() for part in own["mean"]], list(learner.parameters())
        optimizer = torch.optim.SGD(parameters, lr=self.case.lr)
        order = self._order(number, client, len(own["cut"]))
        for k, j in enumerate(order):
            images, labels = self._minibatch(client, own["cut"][j])
            if k > 0:
                new, share = _gradients(learner, images, labels, 1), own["shares"][j]
                for part, fresh, old in zip(delayed, new, own["table"][j], strict=True):
                    part += share * (fresh - old)
                own["table"][j] = new
            elif self.normalised:
                with torch.no_grad():
                    learner(images, 1)
            for parameter, part, shift in zip(parameters, delayed, correction, strict=True):
                parameter.grad = part + shift
            optimizer.step()
        with torch.no_grad():
            a = [
                (x - y) / self.case.lr - len(order) * shift
                for x, y, shift in zip(server.parameters(), parameters, correction, strict=True)
            ]
            product, memory2, norm2 = _dot(grad_f, a), _dot(grad_f, grad_f), _dot(a, a)
            weight, lr = len(first) * client.p, self.case.lr
            alpha, beta = table1_rates(L, lr, lr, product, memory2, weight * norm2)
            for parameter, x, f, a_i in zip(parameters, server.parameters(), grad_f, a, strict=True):
                parameter.copy_(x - alpha * f - beta * a_i)


def _images(data: ClientData) -> tuple[Tensor, Tensor]:
    batch = data.batch(slice(None))
    return batch.images, batch.labels


def _gradients(module: nn.Module, images: Tensor, labels: Tensor, task: int) -> list[Tensor]:
    loss = nn.functional.cross_entropy(module(images, task), labels)
    return list(torch.autograd.grad(loss, list(module.parameters()), allow_unused=True, materialize_grads=True))


def _dot(one: list[Tensor], other: list[Tensor]) -> float:
    return float(sum((a * b).sum() for a, b in zip(one, other, strict=True)))
