"""`cflag sweep` and `cflag plot`: a grid is announced, run, continued and drawn; errors are one sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from cflag_theory.files import MARKER
from cflag_theory.studies.sweeps.store import read_results

pytest.importorskip("pyarrow")

STUDY = """\
record = ["grad_f2"]
[algorithm]
name = "c_flag"
[run]
alpha = [0.1, 0.3]
beta = 0.01
E = 2
T = [4, 8, 16]
seed = [0, 1]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_a_sweep_is_announced_run_and_continued(cflag, study, tmp_path):
    code, out, err = cflag("sweep", study, "--jobs", 1)
    assert (code, err) == (0, "")
    first, _, head, *table, last = out.splitlines()
    # A line for every combination of alpha and T; the numbers are those of the files, over both seeds.
    assert head.split() == ["alpha", "T", "mean", "least", "largest", "runs", "diverged"]
    results = read_results(tmp_path / "study-results").to_pylist()
    for line in table:
        alpha, T, mean, *_, runs, diverged = line.split()
        mine = [row["min_grad_f2"] for row in results if (row["alpha"], row["T"]) == (float(alpha), int(T))]
        assert (int(runs), int(diverged)) == (2, 0)
        assert float(mean) == pytest.approx(sum(mine) / len(mine), rel=1e-3)
    assert len(table) == 6
    assert first == f"12 runs, 12 rows, 1 chunks, into {tmp_path / 'study-results'}"
    assert last.startswith("12 runs done, 0 were there, in ")
    code, out, _ = cflag("sweep", study, "--jobs", 1, "--format", "json")
    found = json.loads(out)
    assert (code, found["runs"], found["before"]) == (0, 12, 12)
    assert found["folder"] == str(tmp_path / "study-results")


def test_a_dry_run_lists_the_runs_and_leaves_nothing(cflag, study, tmp_path):
    code, out, err = cflag("sweep", study, "--dry-run")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (0, "", 13)
    assert lines[0] == "12 runs, 12 rows, 1 chunks"
    assert lines[12].startswith("11: algorithm c_flag, alpha = 0.3, beta = 0.01, E = 2, T = 16, seed = 1")
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
    code, out, _ = cflag("sweep", study, "--dry-run", "--format", "json")
    listed = json.loads(out)
    assert len(listed) == 12
    assert listed[0]["run"]["T"] == 4


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (("beta", "betta"), (), "study.toml, line 6: the key 'betta' is unknown in [run]"),
        (("E = 2", "E = []"), ("--dry-run",), "study.toml, line 7: E is an empty list"),
        (("", ""), ("--backend", "dask"), "give both or neither"),
        (("", ""), ("--backend", "dask", "--scheduler", "nowhere"), "no Dask scheduler answers at nowhere"),
    ],
)
def test_bad_input_is_one_sentence(cflag, study, tmp_path, change, arguments, message):
    if "--scheduler" in arguments:
        pytest.importorskip("distributed")
    study.write_text(STUDY.replace(*change), encoding="utf-8")
    code, _, err = cflag("sweep", study, *arguments)
    assert code == 2
    assert message in err
    assert err.startswith("cflag: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("**/*.parquet"))


@pytest.mark.full
def test_an_interrupted_sweep_says_how_to_go_on(study, tmp_path):
    code = "import sys; from cflag_theory.studies.sweeps import check as sweep_check; sweep_check.MOST_RUNS = 5;" + (
        "sys.argv = ['cflag', 'sweep', *sys.argv[1:]]; from cflag_theory.cli.main import main; main()"
    )
    study.write_text(STUDY.replace("seed = [0, 1]", "seed = {first = 0, count = 500}"), encoding="utf-8")
    command = [sys.executable, "-c", code, str(study), "--jobs", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        folder = tmp_path / "study-results"
        while process.poll() is None and len(list(folder.glob("*.parquet"))) < 2:
            time.sleep(0.01)
        # As a terminal does, to the whole group.
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "cflag: interrupted; complete chunks are kept, and the same command continues\n"
    assert len(list(folder.glob("*.parquet"))) >= 2
    assert not list(folder.glob(".*.draft"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What was run once, to be copied."""
    return tmp_path_factory.mktemp("shared") / "study-results"


@pytest.fixture
def results(cflag, study, shared, tmp_path):
    if not shared.exists():
        assert cflag("sweep", study, "--jobs", 1, "--out", shared)[0] == 0
    return shutil.copytree(shared, tmp_path / "study-results")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((), "series"),
        (("--x", "beta", "--y", "last_g", "--by", "T"), "series"),
        (("--by", "seed,alpha"), "series"),
        (("--figure", "curves", "--by", "seed,T", "--where", "alpha=0.1"), "curves"),
        (("--figure", "curves", "--where", "T=16", "--by", "alpha"), "curves"),
        (("--figure", "map", "--x", "T", "--by", "alpha", "--name", "mine"), "mine"),
    ],
)
def test_figures_of_a_sweep(cflag, results, tmp_path, arguments, name):
    code, out, err = cflag("plot", results, *arguments, "--out", tmp_path / "drawn")
    assert (code, err) == (0, "")
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == {MARKER, f"{name}.png", f"{name}.svg"}
    assert str(tmp_path / "drawn" / f"{name}.png") in out.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--figure", "pie"), "the figure 'pie' is unknown: use one of series, curves, map"),
        (("--y", "grad"), "the column 'grad' is unknown: use one of run, replica"),
        (("--y", "algorithm"), "holds no numbers"),
        (("--figure", "curves", "--y", "Gamma"), "'Gamma' was not recorded along rounds: choose one of grad_f2"),
        (("--figure", "curves", "--by", "alpha"), "runs of different length"),
        (("--figure", "map", "--x", "T"), "a map has one coordinate across"),
        (("--where", "T=5"), "no row of"),
    ],
)
def test_figures_that_cannot_be_drawn(cflag, results, arguments, message):
    code, out, err = cflag("plot", results, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.full
def test_rows_are_chosen_by_numbers_however_they_are_written(cflag, tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(STUDY.replace("seed = [0, 1]", "seed = [1000000, 9007199254740993]"), encoding="utf-8")
    assert cflag("sweep", path, "--jobs", 1)[0] == 0
    for seed in ("1000000", "1e6", "9007199254740993"):
        assert cflag("plot", tmp_path / "large-results", "--where", f"seed={seed}")[0] == 0
    assert cflag("plot", tmp_path / "large-results", "--where", "seed=9007199254740992")[0] == 2


def test_a_file_beside_a_sweep_is_the_file(cflag, results):
    (results / "rate.json").write_text("{", encoding="utf-8")
    code, _, err = cflag("plot", results / "rate.json")
    assert code == 2
    assert "rate.json holds nothing that can be drawn" in err
    assert cflag("plot", results)[0] == 0


def test_a_sweep_that_is_not_complete_is_drawn_on_request(cflag, results):
    next(results.glob("*.parquet")).unlink()
    code, _, err = cflag("plot", results)
    assert code == 2
    assert "holds 0 of 1 chunks" in err
    assert cflag("plot", results, "--partial")[0] == 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("command", "figure"),
    [
        (("rate", "--paper", "cfl", "--horizons", "16,32,64", "--replicas", "4"), "cfl_rate"),
        (("rate", "--problem", "default", "--horizons", "16,32,64", "--replicas", "4"), "rate"),
        (
            ("nqm", "--n", "3", "--N", "2", "--K", "2", "--T", "6", "--grid", "0.01", "--replicas", "2", "--no-search"),
            "nqm",
        ),
    ],
)
def test_stored_studies_are_drawn_as_at_first(cflag, tmp_path, command, figure):
    """What a command writes beside its figure gives the same figure, byte for byte."""
    out = tmp_path / "out"
    assert cflag(*command, "--out", out)[0] == 0
    for source in (out, out / f"{figure}.json"):
        code, words, err = cflag("plot", source, "--out", tmp_path / "again")
        assert (code, err) == (0, "")
        assert f"{figure}.png" in words.replace("\n", "")
        assert (tmp_path / "again" / f"{figure}.svg").read_bytes() == (out / f"{figure}.svg").read_bytes()
    code, _, err = cflag("plot", out, "--by", "m")
    assert code == 2
    assert "--by is only for the results of a sweep" in err


def test_files_that_hold_no_results(cflag, tmp_path):
    for name, text, message in (
        ("else.json", "{}", "holds no results that can be drawn: pass a folder of cflag sweep, or one with rate.json"),
        ("rate.json", "{", "holds nothing that can be drawn ("),
        ("rate.json", '[{"title": 3}]', "holds nothing that can be drawn ("),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        code, _, err = cflag("plot", tmp_path / name)
        assert code == 2
        assert message in err
    assert cflag("plot", tmp_path / "nothing.json")[0] == 2
