"""`cflag forgetting` and `cflag tasks`: tables, JSON and files agree, one sentence for what can be fixed."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter

import numpy as np
import pytest

from cflag_theory.files import MARKER
from cflag_theory.kernels.algorithms import ADAPTIONS

FORGETTING = ("forgetting", "--T", "6", "--E", "2", "--replicas", "2")
GLM = (*FORGETTING, "--problem", "glm", "--dial", "clients=2", "--dial", "components=4", "--dial", "dimension=3")
TASKS = ("tasks", "--T", "4", "--E", "2", "--replicas", "2")
SYNTHETIC = (*TASKS, "--dial", "tasks=3", "--dial", "clients=2", "--dial", "components=4", "--dial", "dimension=3")


def test_forgetting_json_and_files_agree(cflag, tmp_path):
    code, out, err = cflag(*GLM, "--memory-size", "2", "--out", tmp_path, "--format", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found == json.loads((tmp_path / "forgetting.json").read_text(encoding="utf-8"))
    assert {path.name for path in tmp_path.iterdir()} == {
        MARKER,
        "forgetting.json",
        *(f"{name}.{ending}" for name in ("forgetting_glm", "adaptive_rates") for ending in ("png", "svg")),
    }
    assert [one["level"] for one in found["forgetting"]] == ["low", "low", "medium", "medium", "high", "high"]
    assert len(found["forgetting"][0]["Gamma"]["mean"]) == 6
    assert [rule["adaptive"] for rule in found["adaptive_rates"][0]["rules"]] == list(ADAPTIONS)
    # The rules are compared at the medium level, on the runs above.
    assert found["adaptive_rates"][0]["rules"][0]["values"]["total_Gamma"] == found["forgetting"][2]["total"]
    assert len(found["sentences"]) == 2 + 3


def test_forgetting_prints_both_tables(cflag):
    code, out, err = cflag(*GLM, "--dial", "heterogeneity=0.5", "--details")
    assert (code, err) == (0, "")
    assert "as given:" in out
    assert "minus constant rates, same draws" in out
    assert "Algorithm 3 as printed" in out
    assert "low" not in {line.split(":")[0] for line in out.splitlines()}


@pytest.mark.full
@pytest.mark.parametrize("arguments", [GLM, (*TASKS, "--learner", "c_flag/ring/4", "--dial", "tasks=9")])
@pytest.mark.parametrize("width", [70, 80, 90, 120])
def test_no_number_is_lost_or_broken_on_a_narrow_screen(cflag, monkeypatch, arguments, width):
    arguments = (*arguments, "--details")
    _, wide, _ = cflag(*arguments)
    # A terminal of this width, without colours.
    for name, value in (("COLUMNS", width), ("LINES", 25), ("TERM", "dumb"), ("FORCE_COLOR", 1)):
        monkeypatch.setenv(name, str(value))
    code, narrow, _ = cflag(*arguments)
    assert code == 0
    assert max(map(len, narrow.splitlines())) <= width
    intervals = re.compile(r"\[[-+.e0-9]+, [-+.e0-9]+\]")
    assert len(found := Counter(intervals.findall(narrow))) > 5
    assert found == Counter(intervals.findall(wide))


@pytest.mark.full
def test_only_what_was_written_is_named(cflag, tmp_path):
    for name in (MARKER, "old.png", "tasks_old.png"):
        (tmp_path / name).write_bytes(b"")
    _, out, _ = cflag(*GLM, "--dial", "heterogeneity=0.5", "--out", tmp_path)
    assert "old.png" not in out
    assert f"{tmp_path / 'forgetting_glm.png'}" in out.replace("\n", "")
    _, out, _ = cflag(*SYNTHETIC, "--learner", "fedtrack", "--out", tmp_path)
    assert "old.png" not in out
    assert f"{tmp_path / 'tasks_random_tasks_cauchy.svg'}" in out.replace("\n", "")


def test_missing_digits_are_told_beside_the_json(cflag, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    for arguments in (FORGETTING, (*TASKS, "--learner", "fedtrack")):
        code, out, err = cflag(*arguments, "--format", "json")
        assert code == 0
        assert json.loads(out)
        assert err.startswith("Without real data: the digits come with scikit-learn")


@pytest.mark.full
def test_by_default_forgetting_runs_the_default_problem_and_the_digits(cflag):
    code, out, _ = cflag("forgetting", "--T", "2", "--E", "2", "--replicas", "2", "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert [one["study"] for one in found["forgetting"]] == ["default"] * 6 + ["digits"] * 6
    assert len(found["adaptive_rates"]) == 2


def test_step_sizes_and_one_split_are_taken_as_given(cflag):
    code, out, _ = cflag(
        *FORGETTING, "--data", "digits", "--zeta", "2", "--alpha", "0.01", "--beta", "0.001", "--format", "json"
    )
    assert code == 0
    found = json.loads(out)["forgetting"]
    assert [(one["words"], one["alpha"], one["beta"]) for one in found] == [("zeta = 2", 0.01, 0.001)] * 2


def test_tasks_json_and_files_agree(cflag, tmp_path):
    code, out, err = cflag(
        *SYNTHETIC, "--learner", "fedtrack", "--learner", "c_flag/ring/3", "--out", tmp_path, "--format", "json"
    )
    assert (code, err) == (0, "")
    (study,) = json.loads(out)
    assert [study] == json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert {path.name for path in tmp_path.iterdir()} == {
        MARKER,
        "tasks.json",
        "tasks_random_tasks_cauchy.png",
        "tasks_random_tasks_cauchy.svg",
    }
    assert [run["learner"] for run in study["runs"]] == ["fedtrack", "c_flag, ring of 3"]
    assert study["runs"][0]["ends"] == [0, 4, 8, 12]
    last = study["runs"][1]["forgetting"][-1]
    assert study["runs"][1]["average"][-1]["mean"] == pytest.approx(np.mean([value["mean"] for value in last]))


def test_tasks_prints_forgetting_and_costs(cflag):
    code, out, err = cflag(*SYNTHETIC, "--learner", "c_flag/reservoir/2", "--first-rounds", "0", "--details")
    assert (code, err) == (0, "")
    for words in ("average forgetting after", "component gradients", "numbers sent", "components remembered", "(0 on"):
        assert words in out


def test_tasks_of_data_are_named_in_order(cflag):
    code, out, _ = cflag(
        *TASKS, "--data", "digits", "--task", "0-1", "--task", "7,8", "--learner", "c_flag/all", "--format", "json"
    )
    assert code == 0
    (study,) = json.loads(out)
    assert (study["title"], study["tasks"]) == ("digits", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*GLM, "--replicas", "1"), "replicas is 1"),
        ((*GLM, "--alpha", "-1"), "alpha is -1"),
        ((*FORGETTING, "--problem", "glmm"), "problem 'glmm' is unknown"),
        ((*GLM, "--dial", "heat=1"), "no dial 'heat'"),
        ((*GLM, "--dial", "heterogeneity=low"), "heterogeneity is 'low': use a finite number that is not negative"),
        ((*FORGETTING, "--data", "digits", "--dial", "conflict=1"), "is only for synthetic problems"),
        ((*FORGETTING, "--data", "digits", "--problem", "glm"), "leave out --problem or --data"),
        ((*GLM, "--zeta", "1"), "zeta = 1"),
        ((*FORGETTING, "--data", "digits", "--zeta", "0"), "zeta is 0"),
        ((*FORGETTING, "--data", "none.npz"), "none.npz does not exist"),
        ((*GLM, "--memory", "ring"), "memory 'ring' is unknown"),
        ((*SYNTHETIC, "--learner", "c_flag"), "give it a buffer"),
        ((*TASKS, "--dial", "task=3"), "no dial 'task'"),
        ((*TASKS, "--dial", "tasks=1"), "tasks is 1"),
        ((*TASKS, "--dial", "tasks=few"), "tasks is 'few': use an integer"),
        ((*TASKS, "--data", "digits", "--task", "0-1"), "at least two"),
        ((*TASKS, "--data", "digits", "--dial", "tasks=3"), "is only for synthetic problems"),
        ((*SYNTHETIC, "--task", "0-1"), "task '0-1' is only for real data"),
        ((*SYNTHETIC, "--zeta", "1"), "zeta = 1"),
        ((*SYNTHETIC, "--first-rounds", "-1"), "first_rounds is -1"),
    ],
)
def test_bad_input_is_one_sentence(cflag, arguments, message):
    code, out, err = cflag(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [GLM, SYNTHETIC])
def test_a_folder_that_cannot_be_written_is_refused_before_the_study(cflag, tmp_path, arguments):
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, out, err = cflag(*arguments, "--out", tmp_path / "file" / "deeper")
    assert (code, out) == (2, "")
    assert err.startswith("cflag: cannot write")
