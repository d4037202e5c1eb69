"""The exchanges of a round: means over the clients, in one process or over several.

Clients are dealt out to the processes in turn: client i belongs to process i mod (number of processes). Each
process keeps the state and takes the same step with the same means. Two exchanges a round carry vectors; a table of
the clients' scalars is added up besides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.public import one_of, taking

Vectors = Mapping[str, Tensor]
SUMS = ("ordered", "reduce")
#: Bytes in which processes tell each other which vectors an exchange carries.
LAYOUT = 4096


class Communication(Protocol):
    """What the round loop needs of a way to exchange."""

    rank: int
    processes: int

    def mean(self, vectors: Mapping[int, Vectors], p: Sequence[float]) -> dict[str, Tensor]:
        """sum_i p_i v_i for each name, over the clients with p_i > 0, from the vectors of this process's clients, by
        client and name: the same names and shapes for all clients.
        """

    def table(self, rows: Mapping[int, Sequence[float]], clients: int, columns: int) -> list[list[float]]:
        """The scalars of all clients, from the rows of this process's; nan for clients without a row."""


class InOneProcess:
    """All clients here."""

    rank, processes = 0, 1

    def mean(self, vectors: Mapping[int, Vectors], p: Sequence[float]) -> dict[str, Tensor]:
        """See `Communication.mean`; summed in client order."""
        sums: dict[str, Tensor] = {}
        _check(vectors)
        for client in sorted(vectors):
            for name, vector in vectors[client].items():
                _add(sums, name, vector, p[client])
        return sums

    def table(self, rows: Mapping[int, Sequence[float]], clients: int, columns: int) -> list[list[float]]:
        """See `Communication.table`."""
        return [list(rows.get(client, [float("nan")] * columns)) for client in range(clients)]


class OverProcesses:
    """Clients over the processes of torch.distributed's default group; see `started`.

    With sum "ordered" each client's vector goes to every process, which adds them in client order, so that the result
    is that of one process bit for bit. With "reduce" a process adds its own clients' vectors and one all-reduce adds
    the sums: less is sent, and the order of the additions depends on the number of processes. A process that does not
    answer for `timeout` seconds ends the run.
    """

    def __init__(self, device: torch.device, *, sum: str = "ordered", timeout: float = 600) -> None:
        self.device, self.sum, self.timeout = device, sum, timeout
        self.rank, self.processes = dist.get_rank(), dist.get_world_size()

    def mean(self, vectors: Mapping[int, Vectors], p: Sequence[float]) -> dict[str, Tensor]:
        """See `Communication.mean`."""
        names, length, dtype = self._layout(vectors)
        if not names:
            return {}
        if self.sum == "ordered":
            sums: dict[str, Tensor] = {}
            for client in (client for client, share in enumerate(p) if share > 0):
                owner = client % self.processes
                for name in names:
                    here = owner == self.rank
                    empty = torch.empty(0 if here else length, dtype=dtype, device=self.device)
                    vector = vectors[client][name].contiguous() if here else empty
                    self._call(dist.broadcast, vector, owner)
                    _add(sums, name, vector, p[client])
            return sums
        # One buffer for all vectors, and so one all-reduce.
        buffer = torch.zeros((len(names), length), dtype=dtype, device=self.device)
        sums = dict(zip(names, buffer, strict=True))
        for client in sorted(vectors):
            for name in names:
                _add(sums, name, vectors[client][name], p[client])
        self._call(dist.all_reduce, buffer)
        return sums

    def table(self, rows: Mapping[int, Sequence[float]], clients: int, columns: int) -> list[list[float]]:
        """See `Communication.table`; each number is added to zeros only, which leaves it as it is."""
        nan = [float("nan")] * columns
        mine = [rows.get(i, nan) if i % self.processes == self.rank else [0.0] * columns for i in range(clients)]
        whole = torch.tensor(mine, dtype=torch.float64, device=self.device)
        self._call(dist.all_reduce, whole)
        return [[float(value) for value in row] for row in whole.tolist()]

    def _layout(self, vectors: Mapping[int, Vectors]) -> tuple[list[str], int, torch.dtype]:
        """Names, length and dtype of the vectors of an exchange, which a process without clients has to be told."""
        words = b""
        if vectors:
            first = vectors[min(vectors)]
            _check(vectors)
            lengths = {(len(vector), str(vector.dtype).removeprefix("torch.")) for vector in first.values()}
            length, dtype = lengths.pop() if lengths else (0, "float32")
            words = json.dumps([list(first), length, dtype]).encode()
        if len(words) > LAYOUT:
            raise InvalidInput(
                f"the names of an exchange's vectors take {len(words)} bytes: use shorter or fewer names"
            )
        told = torch.zeros(LAYOUT, dtype=torch.uint8)
        told[: len(words)] = torch.tensor(list(words), dtype=torch.uint8)
        told = told.to(self.device)
        self._call(dist.all_reduce, told, dist.ReduceOp.MAX)
        names, length, dtype = json.loads(bytes(told.cpu().tolist()).rstrip(b"\0"))
        return names, length, getattr(torch, dtype)

    def _call(self, collective: Callable[..., Any], *arguments: Any) -> None:
        try:
            collective(*arguments)
        except RuntimeError as error:
            raise CflagError(
                f"process {self.rank} of {self.processes} lost the others, or waited for them for {self.timeout:g} s: "
                "see what they said, and start the run again, which goes on from its last checkpoint"
            ) from error


@taking
@contextmanager
def started(
    device: torch.device,
    *,
    sum: Annotated[str, one_of(*SUMS)] = "ordered",
    timeout: float = 600,
    backend: str | None = None,
) -> Iterator[Communication]:
    """The way to exchange in this process: over the processes that torchrun started, or in one.

    To be entered once in a process: PyTorch's second start under torchrun meets the addresses of the first, and waits.
    By the device gloo connects CPUs, NCCL GPUs; `backend` is another one: gloo also connects processes that share a
    GPU, which NCCL refuses.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield InOneProcess()
        return
    try:
        usual = "nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(backend or usual, timeout=timedelta(seconds=timeout))
    except (RuntimeError, ValueError) as error:
        raise CflagError(f"{count} processes do not find each other: start them with torchrun ({error})") from error
    try:
        yield OverProcesses(device, sum=sum, timeout=timeout)
    finally:
        # Closes the connections, so that the others do not wait for a process that failed.
        dist.destroy_process_group()


def _check(vectors: Mapping[int, Vectors]) -> None:
    """All clients must send vectors of the same names and lengths."""
    kinds = {tuple((name, len(vector)) for name, vector in own.items()) for own in vectors.values()}
    if len(kinds) > 1 or len({length for kind in kinds for _, length in kind}) > 1:
        raise InvalidInput(f"clients send different vectors, {sorted(kinds)}: let them send the same names and lengths")


def _add(sums: dict[str, Tensor], name: str, vector: Tensor, share: float) -> None:
    # A product and a sum, each rounded: a fused operation could round differently from place to place.
    part = vector * share
    sums[name] = sums[name].add_(part) if name in sums else part
