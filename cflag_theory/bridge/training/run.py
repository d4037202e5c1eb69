"""A whole bridge run: every method with every seed, kept in a folder from which the same call continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cflag_theory.bridge.data.datasets import Images, load_images
from cflag_theory.bridge.data.evolving import Evolving, evolving
from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.data.streams import RING, Stream, equal_shares, remembered, split_tasks
from cflag_theory.bridge.measures.results import BridgeResult
from cflag_theory.bridge.models.clients import (
    Client,
    ClientData,
    Pixels,
    augmented,
    client_data,
    clients_of,
    pixels,
    test_data,
)
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.settings.options import HERDING, YES
from cflag_theory.bridge.settings.run_settings import TASKS, RunSettings
from cflag_theory.bridge.training.checkpoints import Folder
from cflag_theory.bridge.training.communication import Communication, started
from cflag_theory.bridge.training.environment import (
    digest,
    environment_of,
    find_device,
    has_bfloat16,
    kept_memory,
    precision,
    threads,
)
from cflag_theory.bridge.training.gathered import Gathered
from cflag_theory.bridge.training.parts import Changed, Part, Progress, World, method_of
from cflag_theory.bridge.training.rounds import taking_part, why_not
from cflag_theory.errors import OutputError

_DTYPES = {"float32": torch.float32, "float64": torch.float64}


def run_bridge(
    settings: RunSettings,
    *,
    out: Path | str,
    preset: str | None = None,
    progress: Progress | None = None,
    reading: Callable[[int, int], None] | None = None,
    communication: Communication | None = None,
    anyway: bool = False,
) -> BridgeResult:
    """Run every method with every seed on the same tasks, clients and start.

    After each round a checkpoint is written, and the same call goes on from it: on one machine, with the same versions
    and threads, to the same result bit for bit on a CPU. Methods and seeds can be added to a folder later. A method
    that leaves the finite numbers is recorded as diverged, and the others go on. Where torchrun started several
    processes, they share the clients, and the one of rank 0 writes. Several runs may work in one folder at the same
    time, one a GPU: each takes the methods and seeds that no other one is at.

    Parameters
    ----------
    settings : RunSettings
    out : path
        Folder of the results.
    preset : str, optional
        Whose run it is, for the record.
    progress : callable, optional
        Called after each round with the keywords method, seed, task, round, overall and total.
    reading : callable, optional
        Called with the numbers of images read and of all images, where that takes long (TinyImageNet).
    communication : Communication, optional
        For several runs in the same processes, which meet once, with `communication.started`.
    anyway : bool
        Go on where versions, device or threads were others, which gives up equal bits; the change is recorded.

    Returns
    -------
    BridgeResult
        All that the folder holds.

    Raises
    ------
    InvalidInput
        No such device, data without a folder, or options that do not go together.
    DataError
        The data are missing or damaged; or the folder holds another run.
    OutputError
        The folder cannot be written.
    MissingExtra
        A library that the data or the model need is not installed.
    """
    device = find_device(settings.device)
    for name in settings.methods:
        # Options that do not go together are an error before anything runs.
        method_of(settings, name)
    with kept_memory(), threads(settings.threads), precision(settings.tf32), ExitStack() as stack:
        if communication is None:
            communication = stack.enter_context(started(device, sum=settings.exchange))
        images = _load(settings, communication, reading)
        environment = environment_of(settings, device, communication)
        folder = Folder(Path(out).absolute(), settings, environment, {"images": digest(images)}, anyway=anyway)
        first = communication.rank == 0
        if first:
            folder.begin()
        # The other processes read the folder only after the first one has prepared it.
        _wait(communication)
        notes: dict[str, None] = {}
        if settings.autocast and not has_bfloat16(device):
            notes["autocast: this device has no instructions for bfloat16, and is slower with it"] = None
        run = Gathered(settings, folder, environment, notes, preset)
        model = _model(settings, images, device)
        worlds = _Worlds(settings, images, model, communication, run)

        def after_round(**at: Any) -> None:
            if first:
                run.write(now=False)
            if progress is not None:
                progress(**at)

        try:
            for seed in settings.seeds:
                world = worlds.of(seed)
                for name in settings.methods:
                    with folder.part(name, seed) if first else nullcontext(True) as mine:
                        if not _told(communication, mine):
                            run.left[name, seed] = None
                            continue
                        part = Part(world, name)
                        if settings.together == YES and (reason := why_not(model, part.method)):
                            notes[f"{name}: clients are computed one after another, because {reason}"] = None
                        _agree(communication, folder, part.position)
                        part.run(after_round)
                    if first:
                        if part.missing:
                            notes[_not_kept(name, seed, part.missing)] = None
                        run.write()
        except KeyboardInterrupt:
            if first:
                run.write()
            raise
        # The others read what the first one has written.
        _wait(communication)
        return run.result()


def _load(settings: RunSettings, communication: Communication, reading: Callable[[int, int], None] | None) -> Images:
    """The data; what is to be downloaded is downloaded by one process."""
    if settings.download and communication.rank > 0:
        _wait(communication)
    images = load_images(settings.data, settings.root, download=settings.download, progress=reading)
    if settings.download and communication.rank == 0:
        _wait(communication)
    return images


def _not_kept(name: str, seed: int, models: Sequence[str]) -> str:
    return (
        f"{name} with seed {seed}: no {' and no '.join(models)} model, because its rounds were done with export_models "
        "= false: run again in another folder to have it"
    )


def _told(communication: Communication, mine: bool) -> bool:
    """What the first process says."""
    return communication.table({0: [float(mine)]} if communication.rank == 0 else {}, 1, 1)[0][0] > 0


def _wait(communication: Communication) -> None:
    """Until all processes are here."""
    communication.table({}, 1, 1)


def _agree(communication: Communication, folder: Folder, position: tuple[int, int]) -> None:
    """Wait for all processes, which must have read the same checkpoint."""
    rows = communication.table({communication.rank: [float(number) for number in position]}, communication.processes, 2)
    if any(row != rows[0] for row in rows):
        raise OutputError(
            f"processes found different checkpoints in {folder.folder}: use a folder that all of them share"
        )


def _shape(settings: RunSettings, images: Images) -> tuple[int, int, int]:
    """Channels, height and width of what the network sees."""
    height, width, channels = images.train_images.shape[1:]
    side = settings.image_size
    return (channels, height, width) if side is None else (channels, side, side)


def _model(settings: RunSettings, images: Images, device: torch.device) -> FlatModel:
    return make_model(
        settings.model,
        _shape(settings, images),
        [len(images.classes) // settings.tasks] * settings.tasks,
        heads=settings.heads,
        old_logits=settings.old_logits,
        dtype=_DTYPES[settings.dtype],
        device=device,
        channels_last=settings.channels_last,
        autocast=settings.autocast,
        compiled=settings.compile,
        graphs=settings.graphs,
    )


@dataclass(frozen=True, eq=False)
class _Worlds:
    """What the worlds of all seeds are made of; `taken` are the train and the test images for the network."""

    settings: RunSettings
    images: Images
    model: FlatModel
    communication: Communication
    run: Gathered

    @cached_property
    def taken(self) -> list[Pixels]:
        data = self.images
        return [
            pixels(each, data.mean, data.std, self.model, self.settings.image_size)
            for each in (data.train_images, data.test_images)
        ]

    def of(self, seed: int) -> World:
        """What all methods of this seed share."""
        settings = self.settings
        if settings.protocol == TASKS:
            stream = self._stream(seed)
            more: dict[str, Any] = {"clients": self._clients(seed, stream), "changed": self._changed(seed)}
        else:
            data, stream = self._evolving(seed)
            more = {"clients": self._evolving_clients(data, stream), "seen": partial(self._seen, data, stream)}
        return World(
            settings=settings,
            seed=seed,
            model=self.model,
            tests=test_data(self.images, stream, self.taken[1], self.model.device),
            communication=self.communication,
            folder=self.run.folder,
            versions=self.run.environment,
            about=self._about(stream),
            **more,
        )

    def _stream(self, seed: int) -> Stream:
        settings = self.settings
        stream = split_tasks(
            self.images,
            tasks=settings.tasks,
            clients=settings.clients,
            zeta=settings.zeta,
            partition=settings.partition,
            class_order=settings.class_order,
            seed=seed,
        )
        self.run.notes |= dict.fromkeys(f"seed {seed}: {note}" for note in stream.notes)
        return equal_shares(stream) if settings.weights == "equal" else stream

    def _evolving(self, seed: int) -> tuple[Evolving, Stream]:
        """The local data by round, and as one task of all classes what a stream says."""
        settings, images = self.settings, self.images
        data = evolving(
            images.train_labels,
            clients=settings.clients,
            subsets=settings.subsets,
            size=settings.subset_size,
            zeta=settings.zeta,
            inner=settings.inner_zeta,
            overlap=settings.overlap,
            visits=settings.visits,
            split=settings.split,
            stateless=settings.stateless,
            seed=seed,
        )
        self.run.notes |= dict.fromkeys(images.notes)
        classes = tuple(range(len(images.classes)))
        shares = np.full((1, settings.clients), 1 / settings.clients)
        none = tuple(np.zeros(0, dtype=np.int64) for _ in range(settings.clients))
        return data, Stream((classes,), (none,), (np.arange(len(images.test_labels)),), shares)

    def _about(self, stream: Stream) -> dict[str, Any]:
        """What a model needs to be used elsewhere."""
        settings, images = self.settings, self.images
        return {
            "model": settings.model,
            "shape": list(_shape(settings, images)),
            "heads": settings.heads,
            "dtype": settings.dtype,
            "classes_per_task": [len(classes) for classes in stream.classes],
            "tasks": [[images.classes[number] for number in classes] for classes in stream.classes],
            "data": images.name,
            "mean": images.mean.tolist(),
            "std": images.std.tolist(),
            "image_size": settings.image_size,
        }

    def _of(self, stream: Stream, indices: np.ndarray) -> ClientData:
        return client_data(self.taken[0], stream, self.images.train_labels, [indices], [0], self.model.device)

    def _seen(self, data: Evolving, stream: Stream, number: int) -> list[dict[int, tuple[ClientData, int]]]:
        """Of every client its data sets up to a round, with how often it had each."""
        found: list[dict[int, tuple[ClientData, int]]] = [{} for _ in range(data.clients)]
        for earlier in range(number + 1):
            for client, window in enumerate(data.at(earlier)):
                of, times = found[client].get(window.part, (None, 0))
                found[client][window.part] = self._of(stream, window.indices) if of is None else of, times + 1
        return found

    def _evolving_clients(self, data: Evolving, stream: Stream) -> Callable[[int, int], Sequence[Client]]:
        """The clients of a round; what they had before is looked up only where it is measured."""

        @lru_cache(maxsize=1)
        def clients(task: int, number: int) -> Sequence[Client]:
            every, none = self.settings.past_every, self._of(stream, np.zeros(0, dtype=np.int64))
            looked = every and number % every == 0
            past = [self._of(stream, indices) for indices in data.before(number)] if looked else [none] * data.clients
            return tuple(
                Client(i, 1 / data.clients, self._of(stream, window.indices), none, past[i], window.part)
                for i, window in enumerate(data.at(number))
            )

        return clients

    def _clients(self, seed: int, stream: Stream) -> Callable[[int, int], Sequence[Client]]:
        @cache
        def clients(task: int) -> Sequence[Client]:
            settings, images = self.settings, self.images
            # What is chosen by herding depends on the model: `Part` puts it in place of these.
            kind = RING if settings.memory_kind == HERDING else settings.memory_kind
            kept = remembered(stream, images.train_labels, task, kind=kind, size=settings.memory_size, seed=seed)
            return clients_of(images, stream, task, kept, self.taken[0], self.model.device)

        return lambda task, number: clients(task)

    def _changed(self, seed: int) -> Changed | None:
        """This process's clients with images that are changed anew in every round, if the settings ask for it."""
        settings = self.settings
        if not (settings.crop or settings.flip or settings.jitter):
            return None
        change = partial(augmented, crop=settings.crop, flip=settings.flip, jitter=settings.jitter)

        @lru_cache(maxsize=1)
        def changed(clients: Sequence[Client], overall: int) -> Sequence[Client]:
            found = list(clients)
            for client in taking_part(found, self.communication):
                current = change(client.current, keyed(seed, "augment", overall, client.index))
                memory = change(client.memory, keyed(seed, "augment memory", overall, client.index))
                found[client.index] = replace(client, current=current, memory=memory)
            return tuple(found)

        return changed
