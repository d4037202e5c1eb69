"""The bridge's benchmarks: the plain loop takes the same steps, and the tables say what was measured."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

# What follows imports torch.
# ruff: noqa: E402
torch = pytest.importorskip("torch")

from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks.bridge import contest as bridge
from benchmarks.bridge import plain_loop, process
from benchmarks.bridge import speeds as bridge_gpu
from benchmarks.bridge.cases import DIGITS, BridgeCase, Ours, World
from benchmarks.bridge.contest import BridgeRow, agreement, contest, disagreements, over_processes
from benchmarks.bridge.sheets import NO_GPU, rounds_sheet, speed_sheet
from benchmarks.bridge.speeds import Speed, evaluated, fastest, require_device, speeds
from benchmarks.measure import Timing, seconds_of
from cflag_theory.bridge.methods.base import Round
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.settings.rules import METHOD_NAMES
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.environment import threads
from cflag_theory.bridge.training.rounds import one_round
from cflag_theory.errors import InvalidInput

pytestmark = pytest.mark.full

#: Batch normalisation, as in a ResNet, and unequal minibatches.
SMALL = BridgeCase("small", "cnn", (3, 6, 6), 2, 3, 7, 4, 3, 2, 2, lr=0.01)
MLP = replace(SMALL, name="small mlp", network="mlp")


@pytest.fixture(autouse=True)
def _one_thread():
    with threads(1):
        yield


@pytest.mark.parametrize("case", [SMALL, MLP, DIGITS], ids=lambda case: case.name)
@pytest.mark.parametrize("method", ["c_flag", "finetune"])
def test_the_plain_loop_takes_the_same_steps(case, method):
    if case.digits:
        pytest.importorskip("sklearn")
    errors = agreement(case, method)
    assert len(errors) == (1 if case.network == "cnn" else 2)
    assert max(errors.values()) < 1e-12
    world = World(case, torch.float64)
    moved = Ours(world, method).run(2) - world.start
    assert float(moved.abs().max()) > 1e-3


@pytest.mark.parametrize("wrong", ["shares", "order"])
def test_a_wrong_loop_is_told(monkeypatch, wrong):
    if wrong == "shares":
        table = plain_loop.table1_rates
        monkeypatch.setattr(plain_loop, "table1_rates", lambda *rates: tuple(1.01 * rate for rate in table(*rates)))
    else:
        order = plain_loop.component_order
        monkeypatch.setattr(plain_loop, "component_order", lambda *which: order(*which)[::-1])
    rows = [BridgeRow("small", who, 3, error=error) for who, error in agreement(MLP, "c_flag").items()]
    (told,) = disagreements(rows)
    assert told.startswith("small, C-FLAG, plain loop: after 3 rounds ")


@pytest.mark.parametrize("error", [1e-9, float("nan"), float("inf")])
def test_distances_too_large_are_told(error):
    assert disagreements([BridgeRow("case", "ours", 5), BridgeRow("case", "who", 5, error=1e-14)]) == []
    assert len(disagreements([BridgeRow("case", "who", 5, error=error)])) == 1


def test_a_contest_has_all_rows():
    rows = contest(MLP, threads=1, repeats=1, seconds=1e-3, tell=lambda words: None)
    ways = ("one after another", "together", "plain loop")
    assert [row.who for row in rows] == [f"{name}, {way}" for name in ("C-FLAG", "Fine-FL") for way in ways]
    for row in rows:
        assert row.timing.median > 0
        assert (row.error is None) == row.who.endswith("one after another")
        assert row.ratio > 0
    sheet = rounds_sheet(rows)
    assert {cells[0] for cells in sheet.rows} == {"small mlp"}
    assert sheet.rows[0][6] == "1.00"


def test_rounds_a_second_and_speed_ups():
    timing = Timing((0.02, 0.02, 0.03), 0.0, 10)
    (cells,) = rounds_sheet([BridgeRow("case", "who", 50, timing, 3e-16, 0.25)]).rows
    assert cells == ("case", "who", "50", "50.0", "25%", "100%", "4.00", "3e-16", "")


def test_what_cannot_run_is_a_line(monkeypatch):
    monkeypatch.setattr(bridge, "cores", lambda: 1)
    (row,) = over_processes(clients=2, rounds=1, repeats=1, tell=lambda words: None)
    assert rounds_sheet([row]).rows[0][-1] == "this machine gives one core"


def test_a_process_prints_its_time(monkeypatch, capsys):
    monkeypatch.setattr(process, "MANY", MLP)
    process.main("ordered", 2, 2)
    assert json.loads(capsys.readouterr().out)["seconds"] > 0


def test_processes_are_compared_with_one(monkeypatch):
    seconds = {(1, "ordered"): 0.2, (2, "ordered"): 0.125, (2, "reduce"): 0.1}
    monkeypatch.setattr(bridge, "_seconds", lambda processes, how, clients, rounds: seconds[processes, how])
    monkeypatch.setattr(bridge, "cores", lambda: 2)
    rows = over_processes(clients=50, rounds=5, repeats=2, tell=lambda words: None)
    assert [1 / row.ratio for row in rows] == pytest.approx([1, 1.6, 2])


@pytest.mark.parametrize("method", METHOD_NAMES)
@pytest.mark.parametrize("epochs", [1, 3])
def test_the_images_of_a_preset_are_those_that_runs_evaluate(method, epochs):
    """One round of the first task and one of a later one, counted by the rounds themselves."""
    case = replace(SMALL, samples=6, epochs=epochs)
    settings = run_settings(
        data="cifar10", model="cnn", clients=3, rounds=1, epochs=epochs, batch=3, memory_size=4, memory_sample=2
    )
    world = World(case)
    own = make_method(method, lr=0.01, epochs=epochs, batch=3, sample=2, options=settings.options.get(method))
    counts = []
    for task in (0, 1):
        now = Round(world.model, 3, task, 0, task, 1)
        clients = [replace(each, memory=each.past) for each in world.clients] if task == 0 else world.clients
        step = one_round(own, now, clients, world.start, Ours(world, "finetune").communication)
        counts.append(sum(numbers["gradients"] for numbers in step.locals.values()))
    fisher = 5 * 3 * 6 if method == "ewc" else 0
    of_memory = counts[1] - counts[0]
    assert evaluated(settings, method, 5 * 3 * 6) == 5 * counts[0] + (1 + 2 + 3 + 4) * of_memory + fisher


def test_images_a_second_and_projections():
    found = speeds(torch.device("cpu"), case=SMALL, repeats=2, ways=("float32", "bfloat16"))
    assert [(speed.way, speed.method, speed.note) for speed in found] == [
        (way, method, "") for way in ("float32", "bfloat16") for method in ("C-FLAG", "Fine-FL")
    ]
    assert all(len(speed.values) == 2 and min(speed.values) > 0 for speed in found)
    described = bridge_gpu.describe_device(torch.device("cpu"))
    assert speed_sheet(found, described, SMALL).note.startswith(NO_GPU)
    assert not speed_sheet(found, {"device": "a GPU", "threads": 1}, SMALL).note.startswith(NO_GPU)


def test_the_fastest_way():
    found = [
        Speed("float32", "C-FLAG", (90.0, 100.0, 110.0)),
        Speed("compiled", "", note="no compiler"),
        Speed("bfloat16", "C-FLAG", (300.0,)),
        Speed("bfloat16", "Fine-FL", (100.0,)),
    ]
    assert fastest(found) == ("bfloat16", 200.0)
    with pytest.raises(InvalidInput, match="nothing could be timed: no compiler"):
        fastest(found[1:2])


def test_a_way_that_fails_is_a_line():
    (speed,) = speeds(torch.device("cpu"), case=replace(SMALL, network="vgg"), ways=("float32",))
    assert speed.note.startswith("network 'vgg' is unknown")
    assert speed_sheet([speed], {"device": "CPU", "threads": 1}, SMALL).rows[0][2] == ""


@pytest.mark.parametrize(
    ("name", "words"), [("cuda", "no GPU that torch can use"), ("tpu7", "device 'tpu7' is unknown")]
)
def test_a_device_that_is_not_there(monkeypatch, name, words):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidInput, match=words):
        require_device(name)


def once(contestants, *, repeats, seconds):
    """One timed round of everybody."""
    return [Timing((seconds_of(lambda who=who: who.run(1)),) * repeats, 0.0, 1) for who in contestants]


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _tiny(self, monkeypatch):
        monkeypatch.setattr(bridge, "DIGITS", MLP)
        monkeypatch.setattr(bridge, "RESNET", SMALL)
        monkeypatch.setattr(bridge, "MANY", MLP)
        monkeypatch.setattr(bridge, "CLIENTS", (2, 3))
        monkeypatch.setattr(bridge, "cores", lambda: 1)
        monkeypatch.setattr(bridge, "interleaved", once)
        monkeypatch.setattr(bridge_gpu, "ON_CPU", replace(SMALL, samples=4, batch=2))

    # Two methods; a ResNet's clients are not computed together, so that there are two contestants and not three.
    @pytest.mark.parametrize(("quick", "contestants"), [((), 3 + 2 + 3 + 3), (("--quick",), 3 + 3 + 3)])
    def test_rounds(self, quick, contestants):
        more = ("--repeats", "1", "--seconds", "0.001", "--no-processes", "--format", "json")
        done = CliRunner().invoke(command.app, ["bridge", *quick, *more])
        assert done.exit_code == 0, done.output
        rows = json.loads(done.stdout)["rows"]
        assert len(rows) == 2 * contestants
        assert all(row["timing"]["median"] > 0 for row in rows)

    def test_images(self):
        more = ("--device", "cpu", "--way", "float32", "--batch", "2", "--size", "8", "--repeats", "1")
        done = CliRunner().invoke(command.app, ["bridge-gpu", *more, "--format", "json"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["device"]["device"] == "CPU"
        assert [speed["method"] for speed in found["speeds"]] == ["C-FLAG", "Fine-FL"]
        assert found["hours"][-1]["preset"] == "all, shared runs once"
        assert found["rates"]["mlp"] == found["mlp"]["median"] > 0
        assert all(need["hours"] > 0 for need in found["cfl_hours"])

    def test_without_torch_it_says_so(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        for name in ("bridge", "bridge-gpu"):
            done = CliRunner().invoke(command.app, [name])
            assert done.exit_code == 0
            assert done.stdout == "torch is not installed: pip install 'cflag-theory[torch]' for this part\n"

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--way", "int8"), "way 'int8' is unknown"),
            (("--device", "cuda"), "run where nvidia-smi lists one"),
            (("--device", "cpu", "--way", "graphs"), "--way graphs changes nothing on cpu"),
        ],
    )
    def test_a_wrong_argument_is_one_sentence(self, monkeypatch, arguments, words):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        done = CliRunner().invoke(command.app, ["bridge-gpu", *arguments])
        assert done.exit_code == 2
        assert words in done.output
