"""Clients made by hand: rows of linear models, whose rounds can be written out in NumPy, and small random images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from cflag_theory.bridge.methods.base import Method, Round
from cflag_theory.bridge.models.clients import Client, ClientData, Pixels, pixels
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import Step, one_round


@dataclass(frozen=True)
class Rows:
    """phi(a . x - b), phi(z) = z^2 / 2: the rows a (n, d) and targets b (n,) of one client."""

    a: np.ndarray
    b: np.ndarray

    def gradient(self, x: np.ndarray, chosen: Sequence[int] | np.ndarray | slice = slice(None)) -> np.ndarray:
        """Of the mean loss over the chosen rows, (d,)."""
        a, b = self.a[chosen], self.b[chosen]
        return a.T @ (a @ x - b) / len(b)


def draw_rows(random: np.random.Generator, n: int, d: int, centre: float = 0.0) -> Rows:
    a = random.standard_normal((n, d)) / np.sqrt(d)
    return Rows(a, a @ (centre + random.standard_normal(d)))


def linear_model(d: int, dtype: torch.dtype = torch.float64) -> FlatModel:
    return make_model("linear", (1, 1, d), (1,), loss="squared", dtype=dtype)


def data_of(rows: Rows, dtype: torch.dtype, task: int = 0) -> ClientData:
    n, d = rows.a.shape
    one = torch.ones(1, 1, 1, dtype=dtype)
    pixels = Pixels(torch.from_numpy(rows.a).to(dtype).reshape(n, 1, 1, d), one, 0 * one)
    labels = torch.from_numpy(rows.b).to(dtype)
    return ClientData(pixels, torch.arange(n), labels, torch.full((n,), task))


def clients_of_rows(
    current: Sequence[Rows], past: Sequence[Rows], p: Sequence[float], dtype: torch.dtype = torch.float64
) -> list[Client]:
    return [
        Client(
            index=i, p=float(p[i]), current=data_of(now, dtype), memory=data_of(then, dtype), past=data_of(then, dtype)
        )
        for i, (now, then) in enumerate(zip(current, past, strict=True))
    ]


def round_of(model: FlatModel, clients: int, overall: int, *, task: int = 1, seed: int = 5) -> Round:
    return Round(model=model, clients=clients, task=task, number=overall, overall=overall, seed=seed)


def run(
    method: Method, model: FlatModel, clients: Sequence[Client], start: np.ndarray, rounds: int, **more: int
) -> tuple[np.ndarray, list[Step]]:
    """The iterates x_0, ..., x_T as rows, and the steps."""
    state = torch.from_numpy(start).to(model.dtype)
    steps = []
    for t in range(rounds):
        steps.append(one_round(method, round_of(model, len(clients), t, **more), clients, state, InOneProcess()))
        state = steps[-1].state
    iterates = [step.before.numpy() for step in steps] + [state.numpy()]
    return np.stack(iterates), steps


def image_clients(model: FlatModel, sizes: Sequence[int], memories: Sequence[int], *, side: int = 4) -> list[Client]:
    """Clients with so many random images of two classes of task 1, and so many remembered ones of task 0."""
    random = np.random.default_rng(1)
    count = sum(sizes) + sum(memories)
    images = random.integers(0, 256, (count, side, side, 1), dtype=np.uint8)
    taken = pixels(images, np.array([0.5]), np.array([0.3]), model)
    labels = torch.from_numpy(random.integers(0, 2, count))

    def data(first: int, n: int, task: int) -> ClientData:
        return ClientData(taken, torch.arange(first, first + n), labels[first : first + n], torch.full((n,), task))

    clients, first = [], 0
    for i, (n, m) in enumerate(zip(sizes, memories, strict=True)):
        now, then = data(first, n, 1), data(first + n, m, 0)
        clients.append(Client(index=i, p=n / sum(sizes), current=now, memory=then, past=then))
        first += n + m
    return clients


class HandAdam:
    """Adam in NumPy, with torch's defaults: the direction for a gradient."""

    def __init__(self) -> None:
        self.t, self.m, self.v = 0, 0.0, 0.0

    def __call__(self, g: np.ndarray) -> np.ndarray:
        self.t += 1
        self.m, self.v = 0.9 * self.m + 0.1 * g, 0.999 * self.v + 0.001 * g * g
        return self.m / (1 - 0.9**self.t) / (np.sqrt(self.v / (1 - 0.999**self.t)) + 1e-8)
