"""`--fast` and what it switches on; TF32 stated, set and put back; a process's own GPU."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from cflag_theory.bridge.settings.run_settings import RunSettings, run_settings
from cflag_theory.bridge.training import environment
from cflag_theory.bridge.training import environment as fast
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.environment import environment_of, find_device, kept_memory, precision
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.cli.main import app
from cflag_theory.errors import InvalidInput

GPU = torch.device("cuda:0")
SMALL = {"rounds": 1, "epochs": 1, "clients": 2, "seeds": [5], "methods": ["finetune"], "past_every": 0}


def switches(settings: RunSettings) -> tuple[bool, bool, bool, bool]:
    return settings.tf32, settings.channels_last, settings.autocast, settings.graphs, settings.compile


@pytest.mark.parametrize(
    ("model", "device", "half", "expected"),
    [
        ("mlp", "cpu", True, (False, False, False, False, False)),
        ("mlp", "cuda:0", True, (True, False, False, False, False)),
        ("resnet18", "cpu", True, (False, True, True, False, False)),
        ("resnet18", "cpu", False, (False, True, False, False, False)),
        ("resnet18", "cuda:0", True, (True, True, True, True, False)),
    ],
)
def test_what_is_switched_on(
    monkeypatch: pytest.MonkeyPatch, model: str, device: str, half: bool, expected: tuple[bool, ...]
) -> None:
    monkeypatch.setattr(fast, "find_device", torch.device)
    monkeypatch.setattr(fast, "has_bfloat16", lambda device: half)
    settings = run_settings(data="digits", model=model, device=device)
    assert switches(settings) == (False, False, False, False, False)
    assert switches(fast.fast(settings)) == expected
    assert replace(fast.fast(settings), tf32=False, channels_last=False, autocast=False, graphs=False) == settings
    # In float64 nobody asks for speed, and autocast would do nothing.
    assert not fast.fast(replace(settings, dtype="float64")).autocast


@pytest.mark.parametrize(
    ("amx", "avx512", "expected"), [(False, False, False), (True, False, True), (False, True, True)]
)
def test_bfloat16_of_a_cpu(monkeypatch: pytest.MonkeyPatch, amx: bool, avx512: bool, expected: bool) -> None:
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512, raising=False)
    assert fast.has_bfloat16(torch.device("cpu")) is expected


def test_a_fast_run_records_its_switches(tmp_path: Any) -> None:
    words = [f"--set={key}={value if not isinstance(value, list) else value[0]}" for key, value in SMALL.items()]
    done = CliRunner().invoke(app, ["bridge", "--fast", "--model", "cnn", *words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    stored = json.loads((tmp_path / "results.json").read_text())["settings"]
    assert stored["channels_last"] is True
    assert stored["autocast"] is fast.has_bfloat16(torch.device("cpu"))


def test_fast_without_a_run_is_refused() -> None:
    done = CliRunner().invoke(app, ["bridge", "--list-presets", "--fast"])
    assert isinstance(done.exception, InvalidInput)
    assert "--fast has no effect" in str(done.exception)


def test_autocast_without_instructions_for_it_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr("cflag_theory.bridge.training.run.has_bfloat16", lambda device: False)
    result = run_bridge(run_settings(SMALL | {"autocast": True}), out=tmp_path)
    assert any(note.startswith("autocast: this device has no instructions") for note in result.notes)


@pytest.mark.parametrize("allowed", [True, False])
def test_tf32_is_as_it_is_set(monkeypatch: pytest.MonkeyPatch, allowed: bool) -> None:
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    with precision(allowed):
        assert (matmul.allow_tf32, cudnn.allow_tf32) == (allowed, allowed)
        found = environment_of(run_settings(), GPU, InOneProcess())
        assert found["tf32"] == ("products, convolutions" if allowed else "none")
    assert (matmul.allow_tf32, cudnn.allow_tf32) == before


def test_a_process_works_on_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[torch.device] = []
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(environment.torch, "empty", lambda *shape, device: None)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert find_device("cuda") == torch.device("cuda:1")
    assert chosen == [torch.device("cuda:1")]


FAULTS = """
import resource, torch
from cflag_theory.bridge.training.environment import kept_memory

def faults(vectors):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(vectors):
        torch.empty(10_000_000).fill_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = faults(5)
with kept_memory():
    # The second vector may lie elsewhere than the first.
    faults(3)
    print(before, faults(5))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc gives long vectors back")
def test_freed_memory_is_kept():
    """How often the system gives a page while vectors of 40 MB come and go, in a process with a heap of its own."""
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    before, within = map(int, ran.stdout.split())
    assert 20 * within < before


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(environment.sys, "platform", "darwin")
    monkeypatch.setattr(environment.ctypes, "CDLL", lambda name: pytest.fail("asked for a C library"))
    with kept_memory():
        pass
