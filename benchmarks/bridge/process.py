"""What each of several processes does for `bridge.over_processes`: C-FLAG's rounds, timed by the first of them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import torch

from benchmarks.bridge.cases import Ours, World
from benchmarks.bridge.contest import MANY
from benchmarks.measure import seconds_of
from cflag_theory.bridge.training.communication import started
from cflag_theory.bridge.training.environment import kept_memory


def main(how: str, clients: int, rounds: int) -> None:
    """Print the seconds a round as JSON, once."""
    torch.set_num_threads(1)
    world = World(replace(MANY, clients=clients))
    with kept_memory(), started(torch.device("cpu"), sum=how) as communication:
        ours = Ours(world, "c_flag", communication=communication)
        ours.run(2)
        seconds = seconds_of(lambda: ours.run(rounds)) / rounds
        if communication.rank == 0:
            print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
