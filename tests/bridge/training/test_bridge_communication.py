"""Several processes do what one does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import small_runs
import torch

from cflag_theory.bridge.training.communication import InOneProcess, started
from cflag_theory.errors import InvalidInput

HELPERS = Path(__file__).parents[2] / "helpers"


@pytest.mark.full
def test_two_processes_do_what_one_does(tmp_path, monkeypatch):
    """Bit for bit where vectors are added in client order, to 1e-12 where sums are; also with fewer clients."""
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, HELPERS / "small_runs.py", tmp_path],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    small_runs.work(str(tmp_path))
    alone = np.load(tmp_path / "0-of-1.npz", allow_pickle=False)
    for rank in (0, 1):
        together = np.load(tmp_path / f"{rank}-of-2.npz", allow_pickle=False)
        assert sorted(together.files) == sorted(alone.files)
        for clients in (1, 3):
            for what in ("states", "scalars"):
                key = f"ordered {clients} {what}"
                assert np.isfinite(alone[key]).sum() > 10
                np.testing.assert_array_equal(together[key], alone[key])
            key = f"reduce {clients} states"
            np.testing.assert_allclose(together[key], alone[key], rtol=0, atol=1e-12)


FAILING = """
import sys, torch
from cflag_theory.bridge.training.communication import started
from cflag_theory.errors import CflagError
torch.set_num_threads(1)
try:
    with started(torch.device("cpu"), timeout=60) as communication:
        vectors = {communication.rank: {"v": torch.ones(3)}}
        communication.mean(vectors, [0.5, 0.5])
        if communication.rank == 1:
            raise ValueError("this process fails")
        communication.mean(vectors, [0.5, 0.5])
except CflagError as error:
    sys.exit(str(error))
"""


@pytest.mark.full
def test_a_process_that_fails_does_not_leave_the_others_waiting():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", FAILING],
            env=os.environ | place | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    try:
        said = [process.communicate(timeout=100)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert "ValueError: this process fails" in said[1]
    assert (
        said[0]
        .strip()
        .endswith(
            "process 0 of 2 lost the others, or waited for them for 60 s: see what they said, and start the run again, "
            "which goes on from its last checkpoint"
        )
    ), said[0]
    assert "Traceback" not in said[0]
    assert [process.returncode for process in processes] == [1, 1]


def test_means_are_weighted_and_scalars_stay_with_their_client():
    vectors = {2: {"v": torch.tensor([1.0, 2.0])}, 0: {"v": torch.tensor([3.0, -1.0])}}
    mean = InOneProcess().mean(vectors, [0.25, 0.0, 0.75])
    torch.testing.assert_close(mean["v"], torch.tensor([1.5, 1.25]), rtol=0, atol=0)
    assert vectors[0]["v"].tolist() == [3.0, -1.0]
    # In client order, whatever the order of the mapping: 1e16 - 1e16 + 1.
    values = {2: 1.0, 1: -1e16, 0: 1e16}
    mean = InOneProcess().mean({i: {"v": torch.tensor([v]).double()} for i, v in values.items()}, [1.0, 1.0, 1.0])
    assert mean["v"].tolist() == [1.0]
    table = InOneProcess().table({2: [5.0, 6.0]}, 3, 2)
    assert table[2] == [5.0, 6.0]
    assert np.isnan(table[:2]).all()


def test_what_cannot_be_exchanged_is_refused(monkeypatch):
    different = {0: {"v": torch.ones(2)}, 1: {"w": torch.ones(2)}}
    with pytest.raises(InvalidInput, match="clients send different vectors"):
        InOneProcess().mean(different, [0.5, 0.5])
    with (
        pytest.raises(InvalidInput, match="sum 'all' is unknown: use one of ordered, reduce"),
        started(torch.device("cpu"), sum="all"),
    ):
        pass
