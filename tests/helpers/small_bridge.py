"""Small whole runs of the bridge, and what they leave in their folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import Folder, read_checkpoint
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.kernels import read_trace

SMALL = {"rounds": 2, "epochs": 1, "seeds": [5], "threads": 1, "clients": 3, "past_every": 0, "checkpoint_every": 1}
WORDS = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value if key != 'seeds' else 5}")]


def small(**more):
    """A run of two rounds a task, one epoch, three clients."""
    return run_settings(SMALL | more)


def what_was_found(folder):
    """All results of a folder but the seconds; and the bytes of every final state."""
    found = read_results(folder)
    for run in found["runs"]:
        run.pop("seconds")
    states = {
        path.name: {name: array.tobytes() for name, array in read_checkpoint(path).arrays.items()}
        for path in sorted(Path(folder).glob("*-5.npz"))
    }
    traces = {
        path.name: {name: column.tobytes() for name, column in read_trace(path).columns.items()}
        for path in sorted(Path(folder).glob("*-task?.npz"))
    }
    return found, states, traces


def stopped(settings, out, monkeypatch, after):
    """A run that is interrupted as soon as its n-th checkpoint is in its place."""
    write, left = Folder.write, [after]

    def stop(self, *arguments):
        write(self, *arguments)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            run_bridge(settings, out=out)


def in_two_processes(out, words):
    """The same run in two processes of torchrun."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    command = [*launch, "cflag_theory", "bridge", *WORDS, *words, "--out", str(out)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # One process speaks.
    assert done.stdout.count("--details") == 1
