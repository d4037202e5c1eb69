"""What describes a run: defaults, files, words, and the one sentence that every mistake meets."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from cflag_theory.bridge.settings.file import changes_from_words, read_changes, read_settings_file
from cflag_theory.bridge.settings.options import MODES, OPTIONS, FlagOptions
from cflag_theory.bridge.settings.rules import OWN, WrongSetting
from cflag_theory.bridge.settings.run_settings import RULES, RunSettings, differing_key, run_settings
from cflag_theory.errors import DataError, InvalidInput


def test_settings_need_no_torch():
    code = (
        "import sys; from cflag_theory.bridge.settings import file, options, presets, rules, run_settings;"
        "from cflag_theory.bridge.measures import results; from cflag_theory.bridge.training import checkpoints;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_defaults_of_a_data_set_are_the_papers():
    for data, model, batch, tasks in (
        ("cifar10", "resnet18", 128, 5),
        ("cifar100", "resnet18", 128, 5),
        ("tinyimagenet", "resnet50", 32, 10),
    ):
        found = run_settings(data=data)
        assert (found.model, found.batch, found.tasks) == (model, batch, tasks)
        assert (found.rounds, found.epochs, found.lr, found.L, found.optimizer) == (20, 2, 1e-4, 5.0, "adam")
        assert (found.memory_kind, found.memory_size, found.memory_sample) == ("ring", 400, 200)
        assert found.options["c_flag"] == FlagOptions(mode="paper")


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_sets_what_it_implies_and_gives_way_to_what_is_said(mode):
    found = run_settings(mode=mode)
    assert {options.mode for options in found.options.values() if hasattr(options, "mode")} == {mode}
    assert found.optimizer == {"theory": "plain"}.get(mode, "adam")
    assert found.partition == {"released": "balanced"}.get(mode, "class-over-clients")
    assert found.memory_kind == {"released": "by-task"}.get(mode, "ring")
    assert found.old_logits == {"released": "masked"}.get(mode, "kept")
    said = run_settings(mode=mode, partition="client-over-classes", memory_kind="reservoir", optimizer="plain", lr=0.3)
    assert (said.partition, said.memory_kind, said.optimizer, said.lr) == (
        "client-over-classes",
        "reservoir",
        "plain",
        0.3,
    )
    mixed = run_settings(mode=mode, c_flag={"mode": "paper", "adaptive": "average"})
    assert mixed.options["c_flag"] == FlagOptions(mode="paper", adaptive="average")
    assert mixed.options["fedtrack"].mode == mode
    # The record made by hand is the same where it says the same.
    assert RunSettings(mode="theory") == run_settings()


def test_released_runs_see_other_images():
    changed = ("crop", "flip", "jitter", "image_size", "weights", "rounds")
    for data, wanted in (
        ("digits", (False, False, False, None, "equal", 10)),
        ("cifar100", (True, True, True, None, "equal", 10)),
        ("tinyimagenet", (True, True, True, 224, "equal", 10)),
    ):
        found = run_settings(data=data, mode="released")
        assert tuple(getattr(found, name) for name in changed) == wanted
        assert tuple(getattr(run_settings(data=data, mode="paper"), name) for name in changed[:5]) == (
            *(False, False, False, None),
            "samples",
        )
    assert not run_settings(data="cifar10", mode="released", crop=False).crop


@pytest.mark.parametrize(
    ("protocol", "name", "value"),
    [
        *(("tasks", name, True) for name in ("crop", "flip", "jitter")),
        ("tasks", "image_size", 32),
        ("tasks", "partition", "balanced"),
        ("tasks", "weights", "equal"),
        ("tasks", "class_order", "shuffled"),
        ("tasks", "old_logits", "masked"),
        ("tasks", "memory_kind", "herding"),
        ("tasks", "memory_size", 30),
        ("tasks", "memory_sample", 3),
        ("rounds", "subsets", 3),
        ("rounds", "subset_size", 10),
        ("rounds", "inner_zeta", 0.5),
        ("rounds", "overlap", 0.25),
        ("rounds", "visits", "pointer"),
        ("rounds", "split", "printed"),
        ("rounds", "stateless", True),
    ],
)
def test_what_one_protocol_does_not_look_at_is_refused(protocol, name, value):
    other = "rounds" if protocol == "tasks" else "tasks"
    with pytest.raises(WrongSetting, match=f"{name} is for protocol = '{protocol}': leave it out with '{other}'"):
        run_settings({"protocol": other, name: value})
    assert getattr(run_settings({"protocol": protocol, name: value, "methods": own_of(protocol)}), name) == value
    assert name in OWN[protocol]


def own_of(protocol):
    return ["finetune"] if protocol == "tasks" else ["fedavg"]


def test_mode_released_changes_no_images_of_rounds():
    assert run_settings(protocol="rounds", data="cifar10", mode="released").rounds == 500


def test_a_rate_follows_the_kind_of_step():
    assert run_settings(optimizer="plain").lr > run_settings(optimizer="adam").lr
    assert run_settings(mode="paper").lr == run_settings(optimizer="adam").lr


def test_settings_survive_json():
    said = run_settings(
        data="cifar100",
        root="data",
        mode="released",
        c_flag={"clamp": 0.25},
        ewc={"penalty": 3.0},
        alpha=0.5,
        seeds=[7, 8],
        methods=["ewc", "c_flag"],
    )
    plain = json.loads(json.dumps(said.to_json()))
    assert run_settings(plain) == said
    assert (said.seeds, said.methods, said.total_rounds) == ((7, 8), ("ewc", "c_flag"), 50)
    # Every key counts, and none is forgotten.
    assert set(plain) == set(RULES) | set(OPTIONS)


def test_runs_differ_by_what_they_compute_only():
    plain = run_settings().to_json()
    for other in ({"root": "elsewhere"}, {"seeds": [5]}, {"methods": ["ewc"]}, {"download": True}):
        assert differing_key(plain, run_settings(other).to_json()) is None
    assert differing_key(plain, run_settings(rounds=3).to_json()) == "rounds"
    assert differing_key(plain, run_settings(c_flag={"adaptive": "none"}).to_json()) == "c_flag.adaptive"
    assert differing_key({"a": 1}, {}) == "a"


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("data", ["mnist", 3]),
        ("tasks", [0, 2.0, "5", True, 3]),
        ("clients", [0, None]),
        ("zeta", [0, -1.0, float("nan"), 1e13, "iid", True]),
        ("partition", ["dirichlet"]),
        ("model", ["resnet34"]),
        ("heads", ["one"]),
        ("mode", ["best"]),
        ("methods", [[], ["c_flag", "c_flag"], ["fedsgd"], "c_flag", [3]]),
        ("rounds", [0, 1.5]),
        ("lr", [0, -1, float("inf"), "small", 5e-324, 1e200]),
        ("alpha", [0, "lr"]),
        ("L", [0, 1e-300, 1e300]),
        ("seeds", [[], [1, 1], [-1], 3, [True], [1 << 63]]),
        ("dtype", ["float16"]),
        ("past_every", [-1, 0.5]),
        ("threads", [0, 1 << 30]),
        ("device", ["", "gpu", "meta", "cuda:x", 0]),
        ("autocast", ["yes", 1]),
        ("weights", ["p", 1]),
        ("crop", [1, "yes"]),
        ("image_size", [0, 7, 64.0, 1 << 20]),
    ],
)
def test_values_out_of_range_are_refused(key, values):
    for value in values:
        with pytest.raises(WrongSetting, match=rf"^{key} is .*: use ") as caught:
            run_settings({key: value})
        assert caught.value.place == (key,)
    # And by the record itself.
    with pytest.raises(WrongSetting, match=rf"^{key} is"):
        replace(run_settings(), **{key: values[0]})


@pytest.mark.parametrize(
    ("changes", "place", "sentence"),
    [
        ({"epoch": 2}, ("epoch",), "the key 'epoch' is unknown: use data, .* or a table \\[c_flag\\]"),
        ({"nccl": {"x": 1}}, ("nccl",), "the key 'nccl' is unknown"),
        ({"c_flag": 3}, ("c_flag",), r"c_flag is 3: write a table \[c_flag\] of its options"),
        ({"c_flag": {"clam": 1}}, ("c_flag", "clam"), r"the key 'clam' is unknown in \[c_flag\]: use mode, "),
        ({"c_flag": {"clamp": "no"}}, ("c_flag", "clamp"), "c_flag.clamp: clamp is 'no': use a finite number"),
        ({"c_flag": {"shuffle": 1}}, ("c_flag", "shuffle"), "c_flag.shuffle: shuffle is 1: use true or false"),
        ({"ewc": {"fisher_samples": 1.5}}, ("ewc", "fisher_samples"), "is 1.5: use an integer"),
        ({"c_flag": {"adaptive": "mean"}}, ("c_flag", "adaptive"), "c_flag.adaptive: adaptive 'mean' is unknown: use"),
    ],
)
def test_unknown_keys_and_wrong_options_are_named(changes, place, sentence):
    with pytest.raises(WrongSetting, match=sentence) as caught:
        run_settings(changes)
    assert caught.value.place == place


def test_options_of_another_method_are_refused():
    with pytest.raises(WrongSetting, match=r"options of 'c_flag' are .*: use FlagOptions for c_flag"):
        RunSettings(options={"c_flag": OPTIONS["ewc"]()})


FILE = """\
# A run.
data = "cifar10"
root = "data"

zeta = 0.1
seeds = [
    1,
    2,
]

[c_flag]
mode = "released"
clamp = 0.25
"""


def test_a_file_describes_a_run(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(FILE)
    found = read_settings_file(path)
    # The data lie beside the file.
    assert found.root == str(tmp_path / "data")
    assert found == run_settings(
        data="cifar10", root=found.root, zeta=0.1, seeds=[1, 2], c_flag={"mode": "released", "clamp": 0.25}
    )
    assert read_changes(path)["c_flag"] == {"mode": "released", "clamp": 0.25}


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("zeta = 0.1", "zeta = 0", 5, "zeta is 0: use a number above 0 and at most 1e12"),
        ("zeta = 0.1", "zetta = 0.1", 5, "the key 'zetta' is unknown"),
        ("    2,\n", "    1,\n", 6, r"seeds is \[1, 1\]: use a list of different integers"),
        ("clamp = 0.25", "clamp = true", 13, "c_flag.clamp: clamp is True: use a finite number"),
        ("clamp = 0.25", 'klamp = "x"', 13, "the key 'klamp' is unknown in"),
        ("clamp = 0.25", "clamp = -1.0", 13, "c_flag.clamp: clamp is -1.0: use a finite number that is not negative"),
        ('data = "cifar10"', "tasks = 4", 2, "tasks is 4, and the 10 classes of digits cannot be shared out evenly"),
        ('data = "cifar10"', "data = 2024-01-01", 2, "data is datetime.date"),
    ],
)
def test_a_mistake_in_a_file_has_its_line(tmp_path, old, new, line, sentence):
    path = tmp_path / "run.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(DataError, match=rf"^run.toml, line {line}: {sentence}"):
        read_settings_file(path)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*none.toml .*: pass a TOML file"):
        read_settings_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("data = ")
    with pytest.raises(DataError, match=r"bad.toml is not TOML"):
        read_settings_file(tmp_path / "bad.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="cannot read"):
        read_settings_file(tmp_path / "binary.toml")


def test_words_of_a_command_line():
    words = [
        "rounds=3",
        "lr = 1e-3",
        "seeds=7,8",
        "methods=ewc",
        "root=a b",
        "c_flag.adaptive=none",
        "c_flag.shuffle=false",
    ]
    assert changes_from_words(words) == {
        "rounds": 3,
        "lr": 1e-3,
        "seeds": [7, 8],
        "methods": ["ewc"],
        "root": "a b",
        "c_flag": {"adaptive": "none", "shuffle": False},
    }
    assert changes_from_words(['root="x"', "device=cuda:1", "data=[1"]) == {
        "root": "x",
        "device": "cuda:1",
        "data": "[1",
    }
    for wrong in ("rounds", "=3", "a.b.c=1", ".x=1"):
        with pytest.raises(InvalidInput, match="is not a setting: write KEY=VALUE"):
            changes_from_words([wrong])
    for twice in (["lr=1", "lr=2"], ["c_flag.clamp=1", "c_flag.clamp=2"], ["c_flag=1", "c_flag.clamp=2"]):
        with pytest.raises(InvalidInput, match="is given twice: name each once"):
            changes_from_words(twice)
