"""Small runs of the round loop on Split-Digits: FedAvg and a method with both exchanges; also in several processes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from cflag_theory.bridge.data.datasets import Images, load_images
from cflag_theory.bridge.data.streams import remembered, split_tasks
from cflag_theory.bridge.methods.base import Local, Method, Round
from cflag_theory.bridge.models.clients import clients_of, pixels, test_data
from cflag_theory.bridge.models.flat_model import full_gradient, make_model
from cflag_theory.bridge.training.communication import OverProcesses, started
from cflag_theory.bridge.training.rounds import end_task, one_round


class World:
    """Clients and model of a run on the digits."""

    def __init__(self, images: Images, name: str, *, dtype: torch.dtype, clients: int = 3, zeta: float = 1.0) -> None:
        self.images = images
        self.stream = split_tasks(images, clients=clients, zeta=zeta, seed=0)
        height, width, channels = images.train_images.shape[1:]
        classes = [len(of_task) for of_task in self.stream.classes]
        self.model = make_model(name, (channels, height, width), classes, dtype=dtype)
        self.train, self.test = (
            pixels(each, images.mean, images.std, self.model) for each in (images.train_images, images.test_images)
        )
        self.tests = test_data(images, self.stream, self.test, self.model.device)

    def clients(self, task: int):
        """All clients in a task, with a ring of 20 samples a task."""
        kept = remembered(self.stream, self.images.train_labels, task, size=20, seed=0) if task else ()
        return clients_of(self.images, self.stream, task, kept, self.train, self.model.device)

    def round(self, task: int, number: int, rounds: int) -> Round:
        return Round(self.model, self.stream.clients, task, number, task * rounds + number, seed=3)


class FedAvg(Method):
    """One local epoch of plain steps on minibatches."""

    name = "fedavg"

    def __init__(self, rate: float = 0.1, batch: int = 64) -> None:
        self.rate, self.batch = rate, batch

    def local(self, round, client, state, means, own):
        x, losses, drift2 = state.clone(), [], 0.0
        order = round.random("order", client.index).permutation(client.current.n)
        for first in range(0, len(order), self.batch):
            loss, gradient = self.direction(round.model, x, client, order[first : first + self.batch], means)
            x[: round.model.d] -= self.rate * gradient
            losses.append(float(loss))
            drift2 = max(drift2, float(((x - state)[: round.model.d] ** 2).sum()))
        numbers = {"loss": float(np.mean(losses)), "alpha": 0.0, "beta": self.rate, "drift2_max": drift2}
        return Local(state - x, numbers | {"gradients": client.current.n, "Lambda": 0.0})

    def direction(self, model, x, client, positions, means):
        return model.gradient(x, client.current.batch(positions), statistics=True)


class WithMemory(FedAvg):
    """Each step also goes along the mean gradient on memory; the server keeps a momentum between rounds."""

    name = "with memory"

    def __init__(self) -> None:
        super().__init__()
        self.momentum: torch.Tensor | None = None

    def vectors(self, round, client, state):
        f = full_gradient(round.model, state, client.memory, 50)[1]
        return {"grad_f_memory": f, "grad_g": full_gradient(round.model, state, client.current, 50)[1]}

    def direction(self, model, x, client, positions, means):
        loss, gradient = super().direction(model, x, client, positions, means)
        return loss, gradient + 0.5 * means["grad_f_memory"]

    def step(self, round, state, move):
        self.momentum = move if self.momentum is None else 0.5 * self.momentum + move
        return state - self.momentum

    def end_task(self, round, client, state):
        return {"mean": torch.full((round.model.d,), float(client.index), dtype=round.model.dtype)}

    def close_task(self, round, state, means):
        self.closed = float(means["mean"][0])

    def memory(self):
        return {} if self.momentum is None else {"momentum": self.momentum}

    def restore(self, memory):
        self.momentum = memory.get("momentum")


def run(world: World, method: Method, communication, *, state=None, task=0, number=0, tasks=2, rounds=2):
    """From a position to the end of `tasks`: every (task, next round, state, memory, step) on the way."""
    events = []
    state = world.model.start(1) if state is None else state
    for t in range(task, tasks):
        clients = world.clients(t)
        for r in range(number if t == task else 0, rounds):
            step = one_round(method, world.round(t, r, rounds), clients, state, communication)
            state = step.state
            events.append((t, r + 1, state, method.memory(), step))
        end_task(method, world.round(t, rounds - 1, rounds), clients, state, communication)
    return events


def work(folder: str) -> None:
    """What each of several processes does; the first writes the states."""
    torch.set_num_threads(1)
    images, found = load_images("digits"), {}
    with started(torch.device("cpu"), timeout=60) as ordered:
        several = ordered.processes > 1
        reduced = OverProcesses(torch.device("cpu"), sum="reduce", timeout=60) if several else ordered
        for clients in (1, 3):
            for dtype, how, communication in ((torch.float32, "ordered", ordered), (torch.float64, "reduce", reduced)):
                world = World(images, "cnn", dtype=dtype, clients=clients)
                events = run(world, WithMemory(), communication)
                found[f"{how} {clients} states"] = torch.stack([event[2] for event in events]).numpy()
                scalars = [[list(numbers.values()) for numbers in event[4].locals.values()] for event in events]
                found[f"{how} {clients} scalars"] = np.array(scalars)
    np.savez(Path(folder) / f"{ordered.rank}-of-{ordered.processes}.npz", **found)


if __name__ == "__main__":
    work(sys.argv[1])
