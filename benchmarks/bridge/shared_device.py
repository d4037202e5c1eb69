"""What each of two processes does on one device for `checks.processes`: rounds of C-FLAG, the last state to a file."""

from __future__ import annotations

import sys
from dataclasses import replace

import torch

from benchmarks.bridge.cases import DIGITS, BridgeCase, Ours, World
from cflag_theory.bridge.training.communication import started

#: Small images of noise in unequal minibatches.
NOISE: BridgeCase = replace(DIGITS, name="noise, mlp", digits=False)
ROUNDS = 2


def main(device: str, how: str, file: str) -> None:
    """Over gloo, which also copies from a GPU; NCCL refuses two processes on one."""
    torch.set_num_threads(1)
    world = World(NOISE, torch.float64, device)
    with started(torch.device(device), sum=how, timeout=60, backend="gloo") as communication:
        state = Ours(world, "c_flag", communication=communication).run(ROUNDS)
        if communication.rank == 0:
            torch.save(state.cpu(), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
