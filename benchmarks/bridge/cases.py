"""What the bridge is timed on: clients in the second of two tasks, with a memory of the first, and ourselves on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchmarks.cases import SEED
from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.data.streams import remembered, split_tasks
from cflag_theory.bridge.methods.base import Method, Round
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.clients import Client, ClientData, Pixels, clients_of, pixels
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.settings.options import NO, THEORY, FlagOptions
from cflag_theory.bridge.training.communication import Communication, InOneProcess
from cflag_theory.bridge.training.rounds import one_round

METHODS = ("c_flag", "finetune")
L = 5.0
#: What methods are called in tables.
NAMES = {"c_flag": "C-FLAG", "finetune": "Fine-FL", "ewc": "EWC-FL", "nccl": "NCCL-FL", "fedtrack": "FedTrack"}
NAMES |= {"er_ring": "Er-ring-FL", "fedavg": "FedAvg"}


@dataclass(frozen=True)
class BridgeCase:
    """A network, its clients and their work in a round.

    Attributes
    ----------
    name : str
    network : str
        "mlp" or "resnet18", see `bridge.models`.
    shape : (C, H, W)
        Of the images.
    classes : int
        Classes of each of two tasks.
    clients : int
    samples, memory : int
        Of every client, in the second task and remembered of the first.
    batch, epochs : int
        Size of minibatches, and passes over them in a round.
    sample : int
        Samples of the memory that are drawn.
    lr : float
        Both rates, alpha and beta.
    digits : bool
        Whether the images are the handwritten digits, Split-Digits with five tasks; `samples`, `memory` and `classes`
        are then theirs. Otherwise they are noise, of which the time does not know.
    """

    name: str
    network: str
    shape: tuple[int, int, int]
    classes: int
    clients: int
    samples: int
    memory: int
    batch: int
    epochs: int
    sample: int
    lr: float = 0.02
    digits: bool = False


DIGITS = BridgeCase("Split-Digits, mlp", "mlp", (1, 8, 8), 2, 5, 58, 20, 16, 2, 10, digits=True)
RESNET = BridgeCase("CIFAR-shaped, ResNet-18", "resnet18", (3, 32, 32), 20, 5, 64, 32, 32, 2, 32, lr=1e-3)


class World:
    """A case in a precision: model, clients and start."""

    def __init__(self, case: BridgeCase, dtype: torch.dtype = torch.float32, device: str = "cpu", **more: Any) -> None:
        self.case = case
        tasks = 5 if case.digits else 2
        self.model: FlatModel = make_model(
            case.network, case.shape, [case.classes] * tasks, dtype=dtype, device=device, **more
        )
        self.clients: Sequence[Client] = self._digits() if case.digits else self._noise()
        self.start = self.model.start(SEED)

    def method(self, name: str) -> Method:
        """Plain steps; C-FLAG as the analysis has it."""
        options = FlagOptions(mode=THEORY) if name == "c_flag" else None
        case = self.case
        return make_method(
            name,
            lr=case.lr,
            L=L,
            epochs=case.epochs,
            batch=case.batch,
            optimizer="plain",
            sample=case.sample,
            options=options,
        )

    def round(self, number: int) -> Round:
        """A round of the second task."""
        return Round(self.model, len(self.clients), 1, number, number, SEED)

    def _digits(self) -> Sequence[Client]:
        images = load_images("digits")
        stream = split_tasks(images, tasks=5, clients=self.case.clients, zeta=1e5, seed=SEED)
        kept = remembered(stream, images.train_labels, 1, size=self.case.memory, seed=SEED)
        taken = pixels(images.train_images, images.mean, images.std, self.model)
        return clients_of(images, stream, 1, kept, taken, self.model.device)

    def _noise(self) -> Sequence[Client]:
        case, random = self.case, np.random.default_rng(SEED)
        each = case.samples + case.memory
        channels, height, width = case.shape
        images = random.integers(0, 256, (case.clients * each, height, width, channels), dtype=np.uint8)
        taken = pixels(images, np.full(channels, 0.5), np.full(channels, 0.29), self.model)
        labels = random.integers(0, case.classes, len(images))
        return [
            Client(
                index=i,
                p=1 / case.clients,
                current=self._data(taken, labels, i * each, case.samples, 1),
                memory=self._data(taken, labels, i * each + case.samples, case.memory, 0),
                past=self._data(taken, labels, i * each + case.samples, 0, 0),
            )
            for i in range(case.clients)
        ]

    def _data(self, taken: Pixels, labels: np.ndarray, first: int, count: int, task: int) -> ClientData:
        places = np.arange(first, first + count)
        columns = (places, labels[places], np.full(count, task))
        return ClientData(taken, *(torch.from_numpy(column).to(self.model.device) for column in columns))


class Ours:
    """The bridge's own rounds, as `cflag bridge` runs them, without meters and checkpoints."""

    replicas = 1

    def __init__(
        self, world: World, method: str, *, together: str = NO, communication: Communication | None = None
    ) -> None:
        self.world, self.method, self.together = world, world.method(method), together
        self.communication = communication or InOneProcess()
        self.name = f"{NAMES[method]}, {'together' if together != NO else 'one after another'}"
        #: Samples whose gradient was evaluated in the last round.
        self.gradients = 0.0

    def run(self, rounds: int) -> torch.Tensor:
        """The state after so many rounds, (size,); the device has finished."""
        world, state = self.world, self.world.start
        for number in range(rounds):
            step = one_round(
                self.method, world.round(number), world.clients, state, self.communication, together=self.together
            )
            state = step.state
        self.gradients = sum(numbers["gradients"] for numbers in step.locals.values())
        if state.is_cuda:
            torch.cuda.synchronize()
        return state
