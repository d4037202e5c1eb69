"""The command line; in processes of their own, because the command holds its process to one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]


def run(*arguments):
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def test_one_case_against_one_peer_as_json():
    done = run("--case", "S", "--peer", "NumPy batched", "--repeats", "1", "--seconds", "0.005", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (contest,) = found["contests"]
    rows = {row["who"]: row for row in contest["rows"]}
    assert "ours bitwise" in rows
    assert rows["NumPy batched"]["error"] < 1e-10
    assert rows["NumPy batched"]["timing"]["median"] > 0
    assert found["growth"] == found["costs"] == []
    assert found["machine"]["cores"] >= 1
    assert set(found["ceilings"]) > {"fma", "dgemm", "sgemm", "triad"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--case", "XL"), "case 'XL' is unknown"),
        (("--peer", "Fortran"), "peer 'Fortran' is unknown"),
        (("rate", "--largest", "2"), "--largest"),
    ],
)
def test_a_wrong_argument_is_one_sentence(arguments, words):
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
