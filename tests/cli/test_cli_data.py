"""`--data` of `cflag simulate` and `cflag rate`: what they print about a file; docs/data.md has all options."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from cflag_theory.cli.main import app

DOCUMENT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
OPTIONS = (
    *("--label-column", "--positive", "--potential", "--task-column", "--past-classes", "--current-classes"),
    *("--client-column", "--clients", "--zeta", "--features", "--missing", "--scale", "--describe", "--read"),
)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    lines = ["a,b,ill,year,site"]
    for row in range(24):
        a, b = random.normal(size=2)
        lines.append(f"{a:.3f},{b:.3f},{int(a + b > 0)},{2021 + row % 2},{row // 8}")
    path = tmp_path / "hospital.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


RUNS = {
    "simulate": ("--beta", "0.01", "--alpha", "0.1", "--T", "2", "--E", "2"),
    "rate": ("--horizons", "16,32", "--replicas", "2", "--E", "2"),
}
COLUMNS = ("--label-column", "ill", "--task-column", "year", "--client-column", "site", "--potential", "logistic")


@pytest.mark.parametrize("command", RUNS)
def test_what_was_done_with_a_file_is_printed(command, cflag, table):
    code, out, err = cflag(command, "--data", table, *COLUMNS, *RUNS[command])
    assert code == 0, err
    for line in (
        "  loss logistic, log(1 + exp(-y z)), of z = a.x, a = (2 features, 1)",
        "  y = +1 for the labels 1, y = -1 for 0",
        "  year = 2021 is the past task, year = 2022 the current one: 12 and 12 samples",
        "  3 clients, one for each value of 'site'",
    ):
        assert line in out.splitlines()


def test_defaults_are_printed_too(cflag, table):
    code, out, err = cflag(
        "simulate", "--data", table, "--label-column", "ill", "--clients", "2", "--zeta", "10", *RUNS["simulate"]
    )
    assert code == 0, err
    for line in (
        "  loss cauchy, log(1 + (z - y)^2/2), of z = a.x, a = (4 features, 1)",
        "  the first half of the file is the past task, the second half the current one: 12 and 12 samples",
        "  2 clients, drawn with zeta = 10",
    ):
        assert line in out.splitlines()
    code, out, err = cflag("simulate", "--data", table, "--label-column", "ill", *RUNS["simulate"], "--format", "json")
    assert "y = +1 for the labels 1, y = -1 for 0" in json.loads(out)["notes"]


@pytest.mark.parametrize("command", RUNS)
def test_the_page_on_data_has_every_option(command):
    known = {name for option in get_command(app).commands[command].params for name in option.opts}
    assert set(OPTIONS) <= known
    for name in OPTIONS:
        assert f"`{name}`" in DOCUMENT, name


def test_a_missing_label_column_names_the_columns(cflag, table):
    code, _, err = cflag("simulate", "--data", table, *RUNS["simulate"])
    assert code == 2
    assert "has no column 'label': its columns are a, b, ill, year, site; name the column of the labels" in err
    # The command to copy is the one that was typed, with the column that is proposed.
    assert (
        err.split("; try: ")[1]
        == f"cflag simulate --data {table} --beta 0.01 --alpha 0.1 --T 2 --E 2 --label-column=site\n"
    )


LEARN = ("--T", "2", "--E", "1", "--replicas", "2", "--clients", "1")
WORDS = {
    **{command: (*words, "--clients", "1", "--past-classes", "b") for command, words in RUNS.items()},
    "forgetting": (*LEARN, "--past-classes", "b"),
    "tasks": (*LEARN, "--task", "b", "--task", "a", "--learner", "fedtrack"),
}


@pytest.mark.parametrize("command", WORDS)
def test_the_command_that_a_message_proposes_runs(command, cflag, tmp_path):
    path = tmp_path / "leaves.csv"
    path.write_text("\n".join(["kind;width;", *(f"{'ab'[k % 2]};{k * k % 7},5;{k}" for k in range(16))]))
    code, _, err = cflag(command, "--data", path, *WORDS[command])
    assert code == 2
    proposed = shlex.split(err.partition("; try: ")[2])
    assert proposed[-1] == "--label-column=kind"
    code, _, err = cflag(*proposed[1:])
    assert code == 0, err


@pytest.mark.parametrize("command", ["forgetting", "tasks"])
def test_studies_of_forgetting_read_tables_too(command, cflag, table):
    options = ("--data", table, "--label-column", "a", "--read", "target=classes", "--clients", 1, "--scale")
    tasks = ("--task", "0,1", "--task", "2,3", "--task", "4-9") if command == "tasks" else ()
    table.write_text("a,b,c\n" + "\n".join(f"{k % 10},{k * k % 7},{k % 3}" for k in range(60)))
    code, out, err = cflag(command, *options, *tasks, "--describe")
    assert code == 0, err
    assert "features are scaled to mean 0 and variance 1 (--scale)" in out
    code, out, err = cflag(command, *options, *tasks, "--T", 2, "--E", 1, "--replicas", 2)
    assert code == 0, err
    assert "features are scaled to mean 0 and variance 1 (--scale)" in out
    dial = "heterogeneity=0.5" if command == "forgetting" else "tasks=3"
    code, _, err = cflag(command, "--dial", dial, "--potential", "logistic")
    assert (code, err.count("\n")) == (2, 1)
    assert "potential = logistic is about real data: add --data" in err


@pytest.mark.parametrize("command", RUNS)
def test_data_are_described_and_nothing_runs(command, cflag, table):
    lines = table.read_text().replace("ill", "y").splitlines()
    table.write_text("\n".join(f"{k or ''},{line}" for k, line in enumerate(lines)))
    options = ("--read", "target=classes", "--scale", "--features", "a,b", *RUNS[command])
    code, out, err = cflag(command, "--data", table, "--describe", *options)
    assert code == 0, err
    for words in ("proposed: --label-column=y", "all columns that --features does not name are left out", "(--scale)"):
        assert words in out
    assert "at x_0" not in out
    code, out, err = cflag(command, "--data", table, "--describe", *options, "--format", "json")
    assert json.loads(out)["notes"][0] == "proposed: --label-column=y"
    assert json.loads(out)["constants"]["L"]


def test_an_unknown_way_to_read_lists_what_there_is(cflag, table):
    for option, words in (
        (("--read", "colour=red"), "no option 'colour': use one of encoding, delimiter"),
        (("--read", "header=maybe"), "header is 'maybe': use first or none"),
        (("--missing", "median"), "missing is 'median': use drop or mean"),
    ):
        code, _, err = cflag("simulate", "--data", table, *RUNS["simulate"], *option)
        assert code == 2
        assert words in err
    code, _, err = cflag("simulate", *RUNS["simulate"], "--scale")
    assert code == 2
    assert "scale = True is about real data: add --data" in err


def test_a_sweep_takes_the_same_options(cflag, table):
    pytest.importorskip("pyarrow")
    sweep = table.with_name("sweep.toml")
    options = 'label_column = "ill"\ntask_column = "year"\nclient_column = "site"\npositive = "0"\n'
    sweep.write_text(
        f'[problem]\ndata = "{table.name}"\n{options}potential = ["logistic", "huber"]\n'
        '[algorithm]\nname = "fedavg"\n[run]\nbeta = 0.01\nE = 2\nT = 2\n',
        encoding="utf-8",
    )
    code, out, err = cflag("sweep", sweep, "--jobs", "1", "--dry-run")
    assert code == 0, err
    assert "2 runs" in out
