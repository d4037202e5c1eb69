"""Who may use the CUDA engine, and in which words it says no; the kernels themselves in the simulator."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from worlds import exact_world, world

from cflag_theory.errors import InvalidInput, MissingExtra
from cflag_theory.kernels import simulate, simulation, uniform
from cflag_theory.kernels.engines.cuda import run as cuda

ROOT = Path(__file__).parents[3]
RUN = {"beta": 0.05, "local_steps": 2, "rounds": 2}


def plan_of(problem, row, **options):
    """The checked plan that `simulate` hands to its engine."""
    plans = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation.reference, "run", lambda plan, out: plans.append(plan))
        simulate(problem, row, engine="reference", **RUN | options)
    return plans[0]


def test_without_numba_cuda_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(cuda, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra, match=r"numba-cuda is not installed: pip install 'cflag-theory\[cuda\]', or run on"
    ):
        cuda.require_gpu()


def test_without_a_gpu_or_a_driver_the_remedy_is_named(monkeypatch):
    cuda_team = pytest.importorskip("cflag_theory.kernels.engines.cuda.team")
    pytest.importorskip("numba_cuda")
    monkeypatch.setattr(cuda_team.cuda, "is_available", lambda: False)
    monkeypatch.setattr(cuda_team.cuda, "cuda_error", lambda: "CUDA driver library cannot be found.")
    with pytest.raises(InvalidInput, match="no NVIDIA GPU with a working driver was found: run where nvidia-smi lists"):
        simulate(world(1), "fedtrack", engine="cuda", **RUN)
    monkeypatch.setattr(cuda_team.cuda, "is_available", lambda: True)
    cuda.require_gpu()


def without_compiler():
    """What NVIDIA's bindings raise where they do not find NVVM."""
    raise RuntimeError("Failure finding libnvvm.so")


@pytest.mark.parametrize("available", [lambda: False, without_compiler])
def test_a_gpu_without_the_compiler_is_not_called_missing(available, monkeypatch):
    pytest.importorskip("numba_cuda")
    cuda_team = pytest.importorskip("cflag_theory.kernels.engines.cuda.team")
    monkeypatch.setattr(cuda_team.cuda, "is_available", available)
    monkeypatch.setattr(cuda_team.cuda, "cuda_error", lambda: None)
    with pytest.raises(MissingExtra, match=r"without NVIDIA's compiler: pip install 'cflag-theory\[cuda\]', or run on"):
        cuda.require_gpu()


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (lambda: plan_of(world(1), "cfl"), "the run of 'cfl' on 'by hand' has past rounds, .* run it on the CPU"),
        (lambda: plan_of(world(1), "mimelite"), "momentum, .* run it on the CPU"),
        (lambda: plan_of(world(1), "fedavg", participants=2), "absent clients, .* run it on the CPU"),
        (
            lambda: plan_of(world(1), "c_flag", memory=uniform(1), diagnostics="all"),
            "diagnostics 'all' needs full gradients at local steps, .*: use 'cheap', or run on the CPU",
        ),
        (
            lambda: plan_of(exact_world(1), "fedtrack", beta=1),
            "holds fractions: use engine='reference'",
        ),
    ],
)
def test_what_the_kernels_do_not_cover_is_refused(plan, message):
    with pytest.raises(InvalidInput, match=message):
        cuda.run(plan(), None)


@pytest.mark.full
def test_the_kernels_agree_with_the_compiled_loop_in_the_simulator():
    """In a process of its own, because Numba chooses its simulator when it is imported."""
    pytest.importorskip("numba_cuda")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command.append("tests/helpers/cuda_kernels.py")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
