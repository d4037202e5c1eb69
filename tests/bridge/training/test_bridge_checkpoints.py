"""A folder of a run: whole files only, one writer, and one run."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from failing_disk import every_failure

from cflag_theory.bridge.measures.results import FORMAT, plain, read_results
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import HEADER, Checkpoint, Folder, read_checkpoint, read_header
from cflag_theory.bridge.training.parts import Record
from cflag_theory.errors import DataError, OutputError
from cflag_theory.files import MARKER, own_folder

HERE = {"torch": "2", "threads": "1"}
DATA = {"images": "abc"}
ONE = {"format": FORMAT, "settings": run_settings(tasks=2).to_json(), "notes": [], "complete": True}
RUN = {"method": "ewc", "seed": 7, "accuracy": [[1, 2], [3, None]], "before": [1, 2], "options": {}, "columns": {}}
RUN |= {"rounds_done": 0, "status": "OK", "message": "", "seconds": 0.5, "gradients": 0, "communicated": 0}
WHERE = Checkpoint({"task": 1, "columns": {"Gamma": [0.1, float("nan"), 1e-300]}}, {"state": np.arange(3.0)})


def folder(path, *, settings=None, environment=HERE, data=DATA, anyway=False, **changes):
    return Folder(path, settings or run_settings(changes), environment, data, anyway=anyway)


def test_what_is_written_is_read(tmp_path):
    one = folder(tmp_path / "new")
    one.begin()
    assert one.read("ewc", 7) is None
    one.write("ewc", 7, WHERE)
    found = one.read("ewc", 7)
    assert found.plain["columns"]["Gamma"][::2] == [0.1, 1e-300]
    assert np.isnan(found.plain["columns"]["Gamma"][1])
    assert found.arrays["state"].tobytes() == WHERE.arrays["state"].tobytes()
    assert one.read_plain("ewc", 7)["task"] == 1
    # Nothing half-written is left beside it, and nothing is a pickle.
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        MARKER,
        f".{HEADER}.lock",
        "ewc-7.npz",
        HEADER,
    ]
    with np.load(tmp_path / "new" / "ewc-7.npz", allow_pickle=False) as file:
        assert set(file.files) == {"header", "state"}


def test_parts_are_listed_by_seed_and_method(tmp_path):
    one = folder(tmp_path)
    one.begin()
    for method, seed in (("ewc", 10), ("c_flag", 10), ("ewc", 9)):
        one.write(method, seed, WHERE)
    (tmp_path / "ewc-9-task0.npz").write_bytes(b"a Trace")
    assert one.parts(("c_flag", "ewc")) == [(9, "ewc"), (10, "c_flag"), (10, "ewc")]


def test_methods_and_seeds_may_be_added_and_data_moved(tmp_path):
    folder(tmp_path, methods=["ewc"], seeds=[1]).begin()
    folder(tmp_path, methods=["c_flag"], seeds=[2], root="elsewhere").begin()
    assert read_header(tmp_path)["settings"]["seeds"] == [2]


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ({"rounds": 3}, r"holds a run with rounds = 10, and this one has 3: choose another with --out, or make them"),
        ({"c_flag": {"adaptive": "none"}}, r"holds a run with c_flag.adaptive = worst, and this one has none"),
        ({"environment": HERE | {"torch": "3"}}, r"holds a run elsewhere \(torch was 2 and is 3\)"),
        ({"data": {"images": "abd"}}, r"holds a run with other data \(images was abc and is abd\)"),
    ],
)
def test_another_run_is_refused(tmp_path, now, sentence):
    folder(tmp_path).begin()
    before = (tmp_path / HEADER).read_bytes()
    with pytest.raises(DataError, match=sentence):
        folder(tmp_path, **now).begin()
    assert (tmp_path / HEADER).read_bytes() == before


def test_parts_without_a_header_are_refused(tmp_path):
    (own_folder(tmp_path) / "ewc-1.npz").write_bytes(b"")
    with pytest.raises(DataError, match=r"holds results and no run.json"):
        folder(tmp_path).begin()


def test_two_processes_share_a_folder_and_no_part(tmp_path):
    code = (
        "import sys; from cflag_theory.bridge.training.checkpoints import Folder;"
        "from cflag_theory.bridge.settings.run_settings import run_settings;"
        "from pathlib import Path\n"
        f"other = Folder(Path(sys.argv[1]), run_settings(), {HERE!r}, {DATA!r})\n"
        "other.begin()\n"
        "for seed in (7, 8):\n"
        "    with other.part('ewc', seed) as mine: print(mine)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    one = folder(tmp_path)
    one.begin()
    with one.part("ewc", 7) as mine:
        assert mine
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\nTrue\n"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\nTrue\n"


@pytest.mark.parametrize(
    ("now", "change"),
    [
        ({"environment": {"torch": "2", "threads": "4"}}, ("threads", "1", "4")),
        ({"environment": {"torch": "2", "threads": "1", "processes": "2"}}, ("processes", None, "2")),
        ({"device": "cuda:1"}, ("device", "cpu", "cuda")),
        ({"autocast": True}, ("autocast", False, True)),
    ],
)
def test_a_run_goes_on_elsewhere_if_it_is_told_to(tmp_path, now, change):
    one = folder(tmp_path)
    one.begin()
    one.write("ewc", 7, Checkpoint({"status": "RUNNING", "columns": {"task": [0, 0]}}, {}))
    one.write("ewc", 8, Checkpoint({"status": "OK", "columns": {"task": [0] * 9}}, {}))
    with pytest.raises(DataError, match=rf"elsewhere \({change[0]} was {change[1]} and is .*--resume-anyway"):
        folder(tmp_path, **now).begin()
    changed = folder(tmp_path, **now, anyway=True)
    changed.begin()
    expected = dict(zip(("what", "was", "is"), change, strict=True)) | {"after": {"ewc-7": 2}}
    assert changed.changes == [expected]
    # It is remembered, and the same again is no change.
    again = folder(tmp_path, **now)
    again.begin()
    assert again.changes == read_header(tmp_path)["changes"] == [expected]
    with pytest.raises(DataError, match="holds a run with rounds = 10, and this one has 3"):
        folder(tmp_path, **now, rounds=3, anyway=True).begin()


def test_kernels_in_another_order_are_another_state(tmp_path):
    """Not even if it is told to: a state says nothing of the order in which it is read."""
    one = folder(tmp_path, model="cnn")
    one.begin()
    one.write("ewc", 8, Checkpoint({"status": "OK", "columns": {"task": [0] * 9}}, {}))
    now = {"model": "cnn", "channels_last": True, "autocast": True}
    folder(tmp_path, **now, anyway=True).begin()
    folder(tmp_path, model="cnn", anyway=True).begin()
    one.write("ewc", 7, Checkpoint({"status": "RUNNING", "columns": {"task": [0, 0]}}, {}))
    for anyway in (False, True):
        with pytest.raises(
            DataError, match=r"unfinished parts \(ewc-7\) with channels_last = False, and with True the"
        ):
            folder(tmp_path, **now, anyway=anyway).begin()


def test_which_of_several_gpus_does_not_matter(tmp_path):
    folder(tmp_path, device="cuda:0").begin()
    other = folder(tmp_path, device="cuda:1")
    other.begin()
    assert other.changes == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write to .*file"):
        folder(tmp_path / "file").begin()


def test_a_checkpoint_is_the_old_or_the_new_one_whichever_call_of_the_system_fails(tmp_path):
    one = folder(tmp_path)
    tasks = set()
    one.begin()
    one.write("ewc", 7, WHERE)
    for _, error in every_failure(lambda: one.write("ewc", 7, Checkpoint({"task": 2}, {"x": np.arange(3.0)}))):
        assert "ewc-7.npz' (No space left on device): free some space or give the same command again" in str(error)
        tasks.add(one.read("ewc", 7).plain["task"])
        assert not list(tmp_path.glob(".*.draft"))
    assert tasks == {1, 2}


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "gone"])
def test_a_damaged_checkpoint_is_named(tmp_path, damage):
    one = folder(tmp_path)
    path = tmp_path / "ewc-7.npz"
    one.begin()
    one.write("ewc", 7, WHERE)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        place = content.index(WHERE.arrays["state"].tobytes())
        content[place] ^= 1
        path.write_bytes(content)
    elif damage == "text":
        path.write_text("nothing of the kind")
    else:
        path.unlink()
    with pytest.raises(DataError, match=r"ewc-7.npz is damaged \(.*\): delete it and run again"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    "plain",
    [
        {"accuracy": [[1.0, 2.0], [3.0]]},
        {"accuracy": [["a", 1.0]]},
        {"task": 3},
        {"columns": {"task": [1], "loss": []}},
        {"nothing": 1},
    ],
)
def test_a_record_of_another_shape_is_damage(tmp_path, plain):
    with pytest.raises(DataError, match=r"ewc-7.npz is damaged"), folder(tmp_path).whole("ewc", 7):
        Record(**plain).checked(2)


def test_damage_anywhere_is_seen_or_without_effect(tmp_path):
    """Cut anywhere, or a byte of the zip's directories or of an array's head changed."""
    one = folder(tmp_path)
    path = tmp_path / "ewc-7.npz"
    one.begin()
    one.write("ewc", 7, WHERE)
    content, drawn = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        if drawn.random() < 0.2:
            del damaged[drawn.integers(len(damaged)) :]
        else:
            damaged[drawn.integers(len(damaged))] = drawn.integers(256)
        path.write_bytes(damaged)
        try:
            found = read_checkpoint(path)
        except DataError:
            refused += 1
        else:
            assert json.dumps(found.plain) == json.dumps(WHERE.plain)
            assert found.arrays.keys() == WHERE.arrays.keys()
            assert found.arrays["state"].tobytes() == WHERE.arrays["state"].tobytes()
    assert 200 < refused < 400


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, r"run.json holds no bridge run \(No such file or directory\)"),
        ("{", r"run.json holds no bridge run \(Expecting"),
        ('{"format": "older"}', "run.json is not of the format 'cflag-theory bridge 2', which this version reads"),
        ("[]", "run.json is not of the format"),
        (
            '{"format": "cflag-theory bridge 2"}',
            "is damaged, see settings, which is missing and should be a table; environment, .*; data, .*: choose",
        ),
        ('{"format": "cflag-theory bridge 2", "settings": 3, "environment": {}, "data": {}}', "run.json is damaged"),
    ],
)
def test_a_folder_without_a_run(tmp_path, content, sentence):
    if content is not None:
        (tmp_path / HEADER).write_text(content)
    with pytest.raises(DataError, match=sentence):
        read_header(tmp_path)


def test_results_are_plain_json():
    assert plain({"a": [1, float("nan"), (float("inf"), "x")]}) == {"a": [1, None, [None, "x"]]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, r"results.json holds no results \(No such file"),
        ("{", "results.json holds no results"),
        ("[]", "results.json is not of the format"),
        ('{"format": "older"}', "results.json is not of the format"),
        (
            json.dumps({"format": FORMAT}),
            "is damaged, see settings, which is missing and should be a table; notes, .*: run again, which",
        ),
        (json.dumps({"format": FORMAT, "settings": 3, "runs": 4}), "is damaged"),
        (json.dumps(ONE | {"settings": {"tasks": 3}, "runs": []}), "is damaged .tasks is 3, and"),
        (json.dumps(ONE | {"settings": {}, "runs": []}), "is damaged .settings: see "),
        (json.dumps(ONE | {"runs": [{}]}), r"is damaged, see runs\[0\].method, which is missing"),
        (
            json.dumps(ONE | {"runs": [RUN | {"method": "sgd"}]}),
            r"is damaged, see runs\[0\].method, which should be one of",
        ),
        (
            json.dumps(ONE | {"runs": [RUN | {"accuracy": [[1]], "before": [1]}]}),
            "is damaged .the accuracies of ewc are not 2 x 2",
        ),
        (json.dumps(ONE | {"runs": [RUN | {"accuracy": [[1, 2], [3, 400]]}]}), "is damaged .an accuracy of 400 is"),
        (
            json.dumps(ONE | {"runs": [RUN | {"before": 3}]}),
            r"is damaged, see runs\[0\].before, which should be a list",
        ),
    ],
)
def test_results_that_are_none(tmp_path, content, sentence):
    if content is not None:
        (tmp_path / "results.json").write_text(content)
    with pytest.raises(DataError, match=sentence):
        read_results(tmp_path)
