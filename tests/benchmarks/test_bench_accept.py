"""Acceptance on a device: whole on a CPU, every kind of ending, and checks that find faults; hours of presets."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# What follows imports torch.
# ruff: noqa: E402
torch = pytest.importorskip("torch")

from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks.bridge import accept as acceptance
from benchmarks.bridge import checks, measured
from benchmarks.bridge.accept import Check, Failed, Ground, LeftOut, accept
from benchmarks.bridge.hours import Need, hours_sheet, needs, operations, rates_from, seconds_an_image
from benchmarks.bridge.made_cifar import write_cifar
from benchmarks.bridge.speeds import evaluated
from benchmarks.sheets import markdown
from cflag_theory.bridge.data.cifar import read_cifar
from cflag_theory.bridge.methods import track
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.training.environment import threads
from cflag_theory.errors import InvalidInput

pytestmark = pytest.mark.full
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_thread():
    with threads(1):
        yield


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(CPU, True, tmp_path, time.monotonic() + 300)


def test_the_whole_of_it_on_a_cpu(tmp_path: Path) -> None:
    done = CliRunner().invoke(command.app, ["bridge-gpu", "--accept", "--tiny", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "accept.json").read_text())
    assert [each["name"] for each in found["checks"]] == [check.name for check in measured.CHECKS]
    left_out = {each["name"] for each in found["checks"] if each["ok"] is None}
    assert left_out == {
        "hours of every preset",
        "image gradients a second, compiled",
        "compiled passes with many sizes of batches",
    }
    assert all(each["ok"] for each in found["checks"] if each["name"] not in left_out)
    by_name = {each["name"]: each["found"] for each in found["checks"]}
    assert by_name["a column of Table 3 on made-up images"]["complete"] is True
    assert by_name["every method in float64 as on the CPU"]["courses"] > 20


def test_every_ending_is_kept_at_once(tmp_path: Path) -> None:
    def failing(ground: Ground) -> Any:
        raise Failed("1 and 1 are 3")

    def broken(ground: Ground) -> Any:
        raise RuntimeError("no kernel image")

    def without(ground: Ground) -> Any:
        raise LeftOut("the device is a CPU")

    def reading(ground: Ground) -> Any:
        """What a kill in this check would leave."""
        return {"before": len(json.loads((tmp_path / "accept.json").read_text())["checks"])}

    def endless(ground: Ground) -> Any:
        while True:
            time.sleep(0.01)

    runs = (failing, broken, without, reading, endless, reading)
    told: list[str] = []
    outcomes = accept(
        [Check(run.__name__, 0.5, run) for run in runs], CPU, tmp_path, tiny=True, seconds=2.0, tell=told.append
    )
    assert [each.ok for each in outcomes] == [False, False, None, True, None, None]
    assert [each.words for each in outcomes[:3]] == [
        "1 and 1 are 3",
        "RuntimeError: no kernel image",
        "the device is a CPU",
    ]
    assert outcomes[3].found == {"before": 3}
    assert outcomes[4].words == "the time was up in the middle"
    assert outcomes[5].words == "0 s are left, and it takes 0.5"
    assert [words.split()[0] for words in told] == ["FAILED", "FAILED", "left", "ok", "left", "left"]
    assert "no kernel image" in outcomes[1].found["where"]
    stored = json.loads((tmp_path / "accept.json").read_text())["checks"]
    assert [each["ok"] for each in stored] == [each.ok for each in outcomes]


def test_a_failure_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def failing(ground: Ground) -> Any:
        raise Failed("1 and 1 are 3")

    monkeypatch.setattr(measured, "CHECKS", (Check("sums", 0, failing),))
    done = CliRunner().invoke(command.app, ["bridge-gpu", "--accept", "--tiny", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "FAILED    sums (0 s): 1 and 1 are 3" in done.output
    assert (tmp_path / acceptance.FILE).exists()


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    done = CliRunner().invoke(command.app, ["bridge-gpu", "--accept", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "no GPU that torch can use was found" in done.output


def test_a_device_that_computes_otherwise_is_found(monkeypatch: pytest.MonkeyPatch, ground: Ground) -> None:
    course = checks.course

    def other(case: Any, name: str, device: Any, **more: Any) -> torch.Tensor:
        return course(case, name, device, **more) * (1 + 1e-8 * (not isinstance(device, str)))

    monkeypatch.setattr(checks, "METHOD_NAMES", ("finetune",))
    monkeypatch.setattr(checks, "CNN", checks.NOISE)
    monkeypatch.setattr(checks, "course", other)
    with pytest.raises(Failed, match="mlp finetune theory"):
        checks.agreement(ground)


def test_gradients_that_are_computed_twice_are_found(monkeypatch: pytest.MonkeyPatch, ground: Ground) -> None:
    monkeypatch.setattr(track, "KEPT", 0)
    with pytest.raises(Failed, match="are told, where a round takes"):
        checks.counts(ground)


def test_bits_that_differ_after_a_stop_are_found(monkeypatch: pytest.MonkeyPatch, ground: Ground) -> None:
    read = checks.read_checkpoint

    def spoiled(path: Path) -> Any:
        kept = read(path)
        if "stopped" in str(path):
            kept.arrays["state"][0] += 1e-6
        return kept

    monkeypatch.setattr(checks, "read_checkpoint", spoiled)
    with pytest.raises(Failed, match="not the bits of the first run: stopped"):
        checks.resumed(ground)


def test_passes_that_are_too_coarse_are_found(monkeypatch: pytest.MonkeyPatch, ground: Ground) -> None:
    monkeypatch.setattr(checks, "ways_on", lambda device: {"float32": {"autocast": True}, "compiled": {}})
    with pytest.raises(Failed, match=r"^float32: too far from float64"):
        checks.switches(ground)


def test_made_up_files_are_read_as_cifar(tmp_path: Path) -> None:
    arrays = read_cifar("cifar10", write_cifar(tmp_path, 20))
    images, labels = arrays[0], arrays[1]
    assert images.shape == (100, 32, 32, 3)
    assert np.bincount(labels).tolist() == [10] * 10


class TestHours:
    def test_runs_that_presets_share_count_once(self) -> None:
        found = {need.preset: need for need in needs({"resnet18": 100.0, "resnet50": 50.0})}
        whole = found.pop("all, shared runs once")
        assert whole.runs == 255
        assert whole.runs < sum(need.runs for need in found.values())
        # Tables 2 and 3 share no runs, and Table 6 has all of theirs.
        assert found["table6-cifar10"].hours == pytest.approx(
            found["table2-cifar10"].hours + found["table3-cifar10"].hours
        )
        tiny = found["table3-tinyimagenet"]
        assert tiny.hours == pytest.approx(tiny.images["resnet50"] / 50 / 3600)

    def test_a_preset_is_its_runs(self) -> None:
        need = next(one for one in needs({"resnet18": 100.0}) if one.preset == "figure4")
        settings = [one.settings() for one in preset("figure4").variations]
        images = sum(evaluated(each, "c_flag", 50000) for each in settings)
        assert need.images == {"resnet18": images}
        assert need.hours == pytest.approx(images / 100 / 3600)

    def test_another_network_by_its_operations(self) -> None:
        # 0.556 and 1.303 billion multiplications with an addition each.
        assert operations("resnet18", 32) == pytest.approx(2 * 0.5554e9, rel=1e-3)
        assert seconds_an_image({"resnet18": 100.0}, "resnet50", 64) == pytest.approx(0.01 * 1.3031 / 0.5554, rel=1e-3)

    def test_the_page_has_these_hours(self) -> None:
        """`docs/gpu.md`, whose table is that of the command at this rate."""
        rates = {"resnet18": 1000.0}
        page = (Path(__file__).parents[2] / "docs" / "gpu.md").read_text()
        for line in markdown([hours_sheet(needs(rates), rates, "as given")]):
            assert not line.startswith("|") or line in page

    def test_the_command(self) -> None:
        done = CliRunner().invoke(command.app, ["bridge-gpu", "--rate", "resnet18=3000", "--format", "json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["rates"] == {"resnet18": 3000.0}


@pytest.mark.parametrize("words", [["3000"], ["vgg=3"], ["resnet18=0"], ["resnet18=nan"], ["resnet18=1", "resnet18=2"]])
def test_a_wrong_rate_is_one_sentence(words: list[str]) -> None:
    with pytest.raises(InvalidInput, match="write NETWORK=IMAGES"):
        rates_from(words)
    done = CliRunner().invoke(command.app, ["bridge-gpu", *(piece for word in words for piece in ("--rate", word))])
    assert done.exit_code == 2


def test_a_table_of_hours() -> None:
    sheet = hours_sheet([Need("one", 3, {"resnet18": 2e6}, 1.5)], {"resnet18": 370.0}, "as given")
    assert sheet.rows == (("one", "3", "2.00", "0.00", "1.50"),)
    assert sheet.note.startswith("At 370 image gradients a second of resnet18, as given;")
