"""The GPU benchmark as far as machines without a GPU can test it."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cases import CASES
from benchmarks.gpu.contest import COMPILED, Row, rounds_to_compare
from benchmarks.gpu.sheets import ceiling_sheet, disagreements, gpu_sheet
from benchmarks.measure import Timing
from benchmarks.sheets import markdown

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
RATES = {"copy": 4e12, "dgemm": 6e13, "sgemm": 5e13}
#: A tiny case in Numba's simulator, from the ceilings to the sheets.
SIMULATED = """
import json, sys
sys.setswitchinterval(1e-5)
from benchmarks.gpu import contest as gpu_contest
from benchmarks.cases import Case
from cflag_theory.kernels.engines.cuda import large_problems, team
team.LANES, large_problems.THREADS, gpu_contest.ROUNDS = 2, 4, 3
rates = gpu_contest.ceilings(copied=1 << 12, size=8)
rows = gpu_contest.contest(Case("tiny", 2, 3, 3, 2, 2), repeats=1, seconds=1e-3, tell=lambda words: None)
print(json.dumps([rates["copy"], [[row.who, row.rounds, row.agrees, row.timing.median] for row in rows]]))
"""


def run(*command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_gpu_it_says_so_in_one_sentence():
    pytest.importorskip("numba_cuda")
    done = run("-m", "benchmarks.gpu", "--case", "S", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("benchmarks.gpu: no NVIDIA GPU with a working driver was found: run where nvidia-smi")
    assert done.stderr.count("\n") == 1


def test_an_unknown_case_is_named():
    done = run("-m", "benchmarks.gpu", "--case", "XL")
    assert done.returncode == 2
    assert "case 'XL' is unknown: use one of S, S x64" in done.stderr


def test_a_tiny_case_runs_in_the_simulator():
    pytest.importorskip("numba_cuda")
    done = run("-c", SIMULATED, NUMBA_ENABLE_CUDASIM="1")
    assert done.returncode == 0, done.stderr
    copied, rows = json.loads(done.stdout)
    assert copied > 0
    assert [who for who, *_ in rows][:3] == ["GPU small, float64", "GPU large, float64", "GPU float32"]
    assert COMPILED in [who for who, *_ in rows]
    for _, rounds, agrees, median in rows:
        assert rounds == 3
        assert agrees
        assert median > 0


def test_the_cpu_is_not_kept_long():
    assert rounds_to_compare(CASES["S"]) == 100
    assert 2 <= rounds_to_compare(CASES["L x64"]) < 100


def row(who="GPU small, float64", error=1e-14, allowed=1e-10, median=1e-6):
    timing = Timing((median, median, 2 * median), 1e-3, 100)
    return Row("S", who, 100, error, allowed, timing, 3e12, 1e12)


@pytest.mark.parametrize("error", [1e-9, math.inf, math.nan])
def test_iterates_too_far_away_are_told(error):
    assert disagreements([row()]) == []
    (told,) = disagreements([row(), row(error=error)])
    assert told.startswith("case S, GPU small, float64: x is ")
    assert "(too far)" in gpu_sheet([row(error=error)], RATES).rows[0][2]


def test_rates_are_set_against_the_measured_ceilings():
    sheet = gpu_sheet([row(), row(COMPILED, median=5e-6), row("GPU float32", allowed=1e-3)], RATES)
    ours, cpu, single = (dict(zip(sheet.columns, cells, strict=True)) for cells in sheet.rows)
    assert ours["us"] == "1.00"
    assert ours["CPU / this"] == "5.00"
    assert ours["of gemm"] == "5.0%"
    assert ours["of copy"] == "25.0%"
    assert cpu["CPU / this"] == "1.00"
    assert single["of gemm"] == "6.0%"
    assert gpu_sheet([row()], {"copy": 4e12}).rows[0][8] == "no library"


def test_the_device_is_described_in_words():
    device = {"gpu": "a GPU", "capability": "9.0", "multiprocessors": 132, "memory": 1 << 37}
    words = "\n".join(markdown([ceiling_sheet(device, RATES)]))
    assert "a GPU" in words
    assert "copy, GB/s read and written" in words
    assert "dgemm, Gflop/s" in words
