"""What presets of the CFL paper are said to take, against what real runs count; and their hours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# What follows imports torch.
# ruff: noqa: E402
torch = pytest.importorskip("torch")

from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks.bridge import cfl_images
from benchmarks.bridge.cases import BridgeCase
from benchmarks.bridge.hours import ALL, cfl_needs, cfl_sheet, needs, seconds_an_image
from benchmarks.bridge.speeds import FASHION, evaluated, mlp_speed
from benchmarks.sheets import markdown
from cflag_theory.bridge.measures import round_numbers
from cflag_theory.bridge.measures.results import BridgeResult
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.evolving import CFL_NAMES
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.settings.run_settings import RunSettings, run_settings
from cflag_theory.bridge.training import evaluation
from cflag_theory.bridge.training.environment import threads
from cflag_theory.bridge.training.run import run_bridge

pytestmark = pytest.mark.full

#: Of the digits.
TRAIN, TEST = 1442, 355
SMALL: dict[str, Any] = {
    "protocol": "rounds",
    "clients": 4,
    "subsets": 6,
    "rounds": 9,
    "epochs": 2,
    "seeds": [5],
    "cfl_core": {"size": 20},
    "cfl_gen": {"size": 5, "steps": 1},
}
#: At a pointer without overlaps nothing is drawn that changes a number.
POINTER = {"visits": "pointer"}
STATELESS = [name for name in CFL_NAMES if name not in ("cfl_core", "cfl_gen")]
EXACT: dict[str, dict[str, Any]] = {
    "all methods": {"methods": CFL_NAMES},
    "fewer rounds than data sets": {"methods": ["cfl_core", "cfl_gen"], "rounds": 4},
    "core sets larger than data sets": {"methods": ["cfl_core"], "cfl_core": {"size": 100}},
    "generated samples, overlaps": {"methods": ["cfl_gen"], "overlap": 0.5},
    "data sets of another size": {"methods": ["fedavg", "cfl_core"], "subset_size": 30},
    "stateless": {"methods": STATELESS, "stateless": True, "visits": "random"},
    "fisher": {"methods": ["cfl_reg"], "cfl_reg": {"hessian": "fisher"}},
    "squared gradient": {"methods": ["cfl_reg_prox"], "cfl_reg_prox": {"hessian": "squared-gradient"}},
    "three probes": {"methods": ["cfl_reg"], "cfl_reg": {"probes": 3}},
    "running statistics": {"methods": ["mimelite", "cfl_gen"], "model": "cnn", "rounds": 3},
}
#: Means over ten seeds of what is drawn, and how far they may be from the formula's.
DRAWN: dict[str, tuple[dict[str, Any], float]] = {
    "core sets at random": ({"methods": ["cfl_core"]}, 0.02),
    "generated samples at random": ({"methods": ["cfl_gen"]}, 0.01),
    "core sets, overlaps at a pointer": ({"methods": ["cfl_core"], "overlap": 0.5, **POINTER}, 0.01),
    "core sets, overlaps at random": ({"methods": ["cfl_core"], "overlap": 0.5}, 0.02),
}


@pytest.fixture(autouse=True)
def _one_thread():
    pytest.importorskip("sklearn")
    with threads(1):
        yield


def ran(tmp_path: Path, changes: dict[str, Any]) -> tuple[RunSettings, BridgeResult]:
    settings = run_settings(SMALL | changes)
    return settings, run_bridge(settings, out=tmp_path)


@pytest.mark.parametrize("changes", EXACT.values(), ids=EXACT)
def test_where_nothing_is_drawn_they_are_what_runs_count(tmp_path: Path, changes: dict[str, Any]) -> None:
    settings, result = ran(tmp_path, POINTER | changes)
    counted = {run.method: run.gradients for run in result.runs}
    assert counted == {name: evaluated(settings, name, TRAIN) for name in settings.methods}


@pytest.mark.parametrize(("changes", "share"), DRAWN.values(), ids=DRAWN)
def test_where_something_is_drawn_they_are_means(tmp_path: Path, changes: dict[str, Any], share: float) -> None:
    settings, result = ran(tmp_path, {**changes, "seeds": list(range(10)), "epochs": 1})
    (method,) = settings.methods
    counted = [run.gradients for run in result.runs]
    assert sum(counted) / len(counted) == pytest.approx(evaluated(settings, method, TRAIN), rel=share)


@pytest.mark.parametrize("name", ["finetune", "ewc", "er_ring", "nccl", "lwf", "icarl", "target"])
def test_whole_runs_of_the_other_protocol(tmp_path: Path, name: str) -> None:
    """With the ends of tasks; every client has one minibatch, so that it does not matter how many samples it has."""
    settings = run_settings(
        heads="growing",
        methods=[name],
        clients=2,
        zeta=1e5,
        rounds=2,
        epochs=2,
        batch=1000,
        memory_size=10,
        memory_sample=10,
        seeds=[5],
        ewc={"fisher_samples": 1000},
        target={"images": 400, "batch": 150, "steps": 1},
    )
    (run,) = run_bridge(settings, out=tmp_path).runs
    assert run.gradients == pytest.approx(evaluated(settings, name, TRAIN), abs=1e-6)


@pytest.mark.parametrize("method", ["fedavg", "cfl_core", "cfl_gen"])
def test_gradients_of_meters_and_test_images(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str) -> None:
    """`past_every` in rounds 1, 5 and 9."""
    metered, shown = [0], [0]
    both, one, logits = round_numbers.full_gradients, evaluation.full_gradient, FlatModel.logits

    def several(model: Any, state: Any, data: Any, *more: Any) -> Any:
        metered[0] += sum(each.n for each in data)
        return both(model, state, data, *more)

    def single(model: Any, state: Any, data: Any, *more: Any) -> Any:
        metered[0] += data.n
        return one(model, state, data, *more)

    def forward(self: FlatModel, state: Any, images: Any, task: int) -> Any:
        shown[0] += len(images)
        return logits(self, state, images, task)

    monkeypatch.setattr(round_numbers, "full_gradients", several)
    monkeypatch.setattr(evaluation, "full_gradient", single)
    monkeypatch.setattr(FlatModel, "logits", forward)
    settings, _ = ran(tmp_path, {**POINTER, "methods": [method], "past_every": 4})
    assert metered[0] == cfl_images.metered(settings, method, TRAIN) > 0
    assert shown[0] == cfl_images.shown(settings, TEST)


def test_what_meters_take_where_windows_are_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Figure 6, with overlaps: within 3 % over ten seeds."""
    found, both = [0], round_numbers.full_gradients

    def several(model: Any, state: Any, data: Any, *more: Any) -> Any:
        found[0] += sum(each.n for each in data)
        return both(model, state, data, *more)

    monkeypatch.setattr(round_numbers, "full_gradients", several)
    changes = {"methods": ["fedavg"], "past_every": 1, "overlap": 0.25, "seeds": list(range(10)), "epochs": 1}
    settings, _ = ran(tmp_path, changes)
    assert found[0] / 10 == pytest.approx(cfl_images.metered(settings, "fedavg", TRAIN), rel=0.03)


#: Those of the page.
RATES = {"resnet18": 1000.0, "mlp": 50000.0}


class TestHours:
    def test_every_preset_but_those_on_digits(self) -> None:
        names = [need.preset for need in cfl_needs(RATES)]
        assert {"cfl-table4", "cfl-table5-fashion-mnist", "cfl-table9-random", "cfl-figure7-cifar10"} < set(names)
        assert not any("digits" in name for name in names)
        assert names[-1] == ALL
        assert not set(names[:-1]) & {need.preset for need in needs(RATES)}

    def test_a_preset_is_its_runs(self) -> None:
        """Table 7: 500 rounds of 7 clients with 238 samples, three seeds."""
        need = next(one for one in cfl_needs(RATES) if one.preset == "cfl-table7")
        # Passes of FedAvg, FedProx, MimeLite, and both regularizations with one probe.
        images = 3 * 500 * 7 * 238 * (5 + 5 + 6 + 8 + 8)
        assert need.runs == 15
        assert need.images == {"resnet18": images}
        assert need.shown == 15 * 502 * 10000
        assert need.hours == pytest.approx((images + need.shown / 3) / 1000 / 3600)

    def test_meters_count(self) -> None:
        (settings,) = (one.settings() for one in preset("cfl-figure6").variations)
        need = next(one for one in cfl_needs(RATES) if one.preset == "cfl-figure6")
        assert need.metered == cfl_images.metered(settings, "fedavg", 50000)
        images = need.images["resnet18"] + need.metered + need.shown / 3
        assert need.hours == pytest.approx(images / 1000 / 3600)

    def test_an_mlp_needs_a_rate_of_its_own(self) -> None:
        assert seconds_an_image({"resnet18": 1000.0}, "mlp", 28) is None
        assert seconds_an_image({"mlp": 50000.0}, "resnet18", 32) is None
        with_it, without = ({one.preset: one for one in cfl_needs(rates)} for rates in (RATES, {"resnet18": 1e3}))
        fashion = without["cfl-table5-fashion-mnist"]
        assert fashion.hours is None
        assert fashion.note == "without the 12 runs of mlp, which has no rate"
        whole = with_it["cfl-table5-fashion-mnist"]
        assert whole.hours == pytest.approx((whole.images["mlp"] + whole.shown / 3) / 50000 / 3600)
        rest = with_it[ALL].hours, without[ALL].hours, whole.hours, with_it["cfl-figure7-fashion-mnist"].hours
        assert rest[0] == pytest.approx(rest[1] + rest[2] + rest[3])
        assert without[ALL].note == "without the 14 runs of mlp, which has no rate"
        assert not any(one.note for one in with_it.values())
        rows = {row[0]: row for row in cfl_sheet(list(without.values()), {"resnet18": 1e3}, "as given").rows}
        assert rows["cfl-table5-fashion-mnist"][-2:] == ("", fashion.note)
        assert all(one.hours is None for one in needs({"mlp": 50000.0}))

    def test_the_page_has_these_hours(self) -> None:
        """`docs/gpu.md`, whose second table is that of the command at these rates."""
        page = (Path(__file__).parents[2] / "docs" / "gpu.md").read_text()
        for line in markdown([cfl_sheet(cfl_needs(RATES), RATES, "as given")]):
            assert not line.startswith("|") or line in page

    def test_the_command(self) -> None:
        done = CliRunner().invoke(command.app, ["bridge-gpu", "--rate", "mlp=50000", "--format", "json"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["hours"][-1]["hours"] is None
        assert {one["preset"]: one["hours"] is None for one in found["cfl_hours"]} == {
            one.preset: "resnet18" in one.images and one.preset != ALL for one in cfl_needs(RATES)
        }

    def test_the_speed_of_an_mlp(self) -> None:
        assert FASHION.samples == 60000 // (7 * 30)
        case = BridgeCase("small", "mlp", (1, 4, 4), 2, 3, 8, 2, 4, 1, 2)
        speed = mlp_speed(torch.device("cpu"), case=case, repeats=2)
        assert speed.method == "FedAvg"
        assert len(speed.values) == 2
        assert min(speed.values) > 0
