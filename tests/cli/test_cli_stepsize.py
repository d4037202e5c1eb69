"""`cflag stepsize`: tables that fit, JSON, pictures, numbers from a Trace, and words for what cannot be."""

from __future__ import annotations

import json

import pytest

from cflag_theory.files import MARKER
from cflag_theory.kernels import make_problem, simulate, uniform, write_trace

STEPS = ("stepsize", "--L", 2, "--m", 0.25, "--E", 10, "--alpha", 0.4, "--beta", 0.001, "--T", 1000)
NUMBERS = ("--r", 1.5, "--grad-g", 1, "--grad-g0", 1, "--gap-h", 1, "--omega", 0.1, "--epsilon", 0.05)
CFL = ("stepsize", "--paper", "cfl", "--L", 5, "--K", 1, "--eta-l", 0.01, "--T", 100)
ASKED = ("stepsize", "--L", 3, "--m", 0.4, "--E", 8, "--T", 5000)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A short run of C-FLAG on disk."""
    trace = simulate(
        make_problem("default"),
        "c_flag",
        alpha=0.1,
        beta=0.01,
        local_steps=3,
        rounds=20,
        memory=uniform(6),
        engine="reference",
    )
    return write_trace(tmp_path_factory.mktemp("trace") / "run.npz", trace)


BEST = (*CFL, "--K", 4, "--N", 10, "--mu", 1, "--distance", 1, "--gap", 1, "--sigma", 1, "--epsilon", 0.5)


@pytest.mark.parametrize(("columns", "most"), [(60, 60), (80, 80), (130, 100)])
@pytest.mark.parametrize(
    "command", [(*STEPS, *NUMBERS), (*CFL, "--N", 10, "--mu", 1, "--distance", 1, "--G", 1), BEST, ("stepsize",)]
)
def test_tables_fit_the_terminal_and_a_hundred_columns(cflag, monkeypatch, recorded, command, columns, most):
    """A terminal without colours; in a pipe no line is broken."""
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "dumb"), ("COLUMNS", str(columns))):
        monkeypatch.setenv(name, value)
    command = command if len(command) > 1 else ("stepsize", "--from-trace", recorded, "--lowest", 0)
    code, out, err = cflag(*command, "--details")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= most
    assert "Conditions" in out
    assert "Predicted bounds" in out


def test_the_answer_comes_first_and_without_step_sizes(cflag):
    """One sentence with limits that are safe when they are typed again, a short table, no assumed number."""
    code, out, err = cflag(*ASKED)
    assert (code, err) == (0, "")
    first = out.splitlines()[0]
    assert first.startswith("Safe for one memory: alpha <= 0.3333, and beta < 0.03016 at alpha = 0.3333. Theorem 5 of")
    assert "asks for alpha = 0.2381 and beta < 0.003894; it does not hold as printed." in first
    assert len(out.splitlines()) < 15
    assert "0.003265 gap + 7.403 grad_g^2" in out
    assert "give --gap and --grad-g for numbers." in out
    code, out, _ = cflag(*ASKED, "--gap", 1, "--grad-g", 2, "--epsilon", "1/100")
    assert "largest beta for 0.01   0.3333  0.0006243  0.01 at T = 5000" in out
    assert "--gap" not in out
    assert "Conditions" not in out


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        (("--alpha", "1/3", "--beta", "3/100"), "Safe for one memory: alpha <= 0.3333, and beta < "),
        (("--alpha", 0.3333, "--beta", 0.03016), "Safe for one memory"),
        (("--alpha", 0.334, "--beta", 0.001), "Not proved safe for one memory: it needs alpha <= 0.3333."),
        (("--alpha", "1/3", "--beta", 0.0302), "Not proved safe for one memory: it needs beta < 0.03016 at alpha = "),
        (("--alpha", "1/3"), "Safe for one memory"),
        (("--alpha", 1), "Not proved safe for one memory: it needs alpha <= 0.3333."),
        (("--beta", 0.001), "Safe for one memory: 0.008085 < alpha <= 0.3333 at beta = 0.001."),
        (("--beta", 1), "Not proved safe for one memory: it needs beta < 0.03016 at alpha = 0.3333."),
        (("--m", 1.5), "Safe for a memory drawn anew in every round (one memory needs m < 1): alpha < 0.2222, and"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_safe_or_not_is_the_first_word(cflag, steps, first):
    code, out, _ = cflag(*ASKED, *steps)
    assert code == 0
    assert out.startswith(first)
    _, out, _ = cflag(*ASKED, *steps, "--format", "json")
    found = json.loads(out)
    assert found["answer"]["safe"] == first.startswith("Safe")
    # What is proposed where nothing was given meets the conditions of the theorem that answers.
    if "--alpha" not in steps:
        assert {row["condition"]: row["holds"] for row in found["conditions"]}["alpha <= 1/L"]


def test_the_answer_for_the_other_paper(cflag):
    command = ("stepsize", "--paper", "cfl", "--L", 5, "--K", 10, "--T", 100)
    _, out, _ = cflag(*command)
    assert out.startswith(
        "Safe: eta_l <= 0.004472 at eta_g = 1, by ours.cfl_nonconvex. The paper asks for eta <= s/(6L)"
    )
    assert "needs --N, --gap" in out
    _, out, _ = cflag(*command, "--eta-l", "1/100")
    assert out.startswith("Not proved safe: it needs eta_l <= 0.004472")


def test_the_table_says_what_follows(cflag):
    _, out, _ = cflag(*STEPS, *NUMBERS, "--gap", 1, "--details")
    for words in (
        "alpha <= 1/L",
        "proved in another form*: cflag.thm5,",
        "L (alpha + beta E) <= 1",
        "ours.drawn_once",
        "largest beta within T",
        "cflag.lemma3: no local repair, see ours.algorithm1_descent",
    ):
        assert words in out
    _, out, _ = cflag(*STEPS, "--details")
    assert "needs --grad-g, --r" in out
    assert "Best step sizes" not in out


def test_the_same_as_data(cflag):
    code, out, _ = cflag(*STEPS, *NUMBERS, "--gap", 1, "--format", "json", "--N", 3, "--n", 20, "--memory-size", 5)
    found = json.loads(out)
    assert code == 0
    assert found["gradients_per_round"] == 3 * (20 + 9 + 5)
    values = {(row["claim"], row["kind"]): row["value"] for row in found["bounds"]}
    # 2 F / (alpha (1 - sqrt(m)) T) + (reach G / (alpha (1 - sqrt(m))))^2
    assert values["ours.drawn_once", "proved"] == pytest.approx(0.01 + ((1.002**10 - 1) / 0.4) ** 2, rel=1e-9)
    assert {row["claim"] for row in found["best"]} == {"ours.drawn_once", "ours.redrawn", "ours.algorithm1_descent"}
    assert "cflag.thm5" in found["as_printed"]


def test_an_infinite_r(cflag):
    code, out, _ = cflag(*STEPS, "--r", "inf", "--grad-g", 1, "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert found["numbers"]["r"] == "inf"
    assert {row["value"] for row in found["bounds"] if row["claim"] == "ours.forgetting_step"} == {"inf"}


def test_both_papers_at_once(cflag):
    command = ("--paper", "both", *STEPS[1:])
    code, out, _ = cflag("stepsize", *command, "--format", "json", "--mu", 0.5, "--N", 4, "--gap", 2)
    assert code == 0
    found = json.loads(out)
    assert found["c_flag"]["E"] == found["cfl"]["K"] == 10
    assert found["c_flag"]["beta"] == found["cfl"]["eta_l"] == 0.001
    assert found["cfl"]["numbers"]["gap"] == found["c_flag"]["numbers"]["gap"] == 2
    _, out, _ = cflag("stepsize", *command, "--details")
    assert "beta <= 1/(12LE)" in out
    assert "eta <= s/(12L)" in out


@pytest.mark.full
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_plot(cflag, tmp_path, kind):
    code, out, err = cflag(*STEPS, "--plot", tmp_path / f"plane.{kind}")
    assert (code, err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == [f"plane.{kind}"]
    assert f"plane.{kind}" in out.replace("\n", "")


def test_out(cflag, tmp_path):
    code, _, _ = cflag(*STEPS, "--out", tmp_path / "new")
    assert code == 0
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == [MARKER, "step_sizes.json", "step_sizes.png", "step_sizes.svg"]
    found = json.loads((tmp_path / "new" / "step_sizes.json").read_text(encoding="utf-8"))
    assert found["region"]["point"] == [0.4, 0.001]
    assert found["L"] == 2
    code, _, _ = cflag(*CFL, "--out", tmp_path / "cfl")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "cfl").iterdir()) == names
    found = json.loads((tmp_path / "cfl" / "step_sizes.json").read_text(encoding="utf-8"))
    assert found["region"]["point"] == [0.01, 1.0]


@pytest.mark.full
def test_both_planes_at_once(cflag, tmp_path):
    code, out, _ = cflag(*STEPS, "--paper", "both", "--plot", tmp_path / "plane.png", "--out", tmp_path / "new")
    assert code == 0
    assert sorted(path.name for path in tmp_path.glob("*.png")) == ["plane.png", "plane_cfl.png"]
    assert "plane_cfl.png" in out.replace("\n", "")
    found = json.loads((tmp_path / "new" / "step_sizes.json").read_text(encoding="utf-8"))
    assert (found["region"]["axes"][0][0], found["region_cfl"]["axes"][0][0]) == ("alpha", "eta_l")


def test_best_step_sizes_of_cfl(cflag):
    code, out, _ = cflag(*BEST)
    assert code == 0
    for words in ("smallest bound within T", "fewest rounds at this eta_g", "eta_g = inf is the limit"):
        assert words in out
    _, out, _ = cflag(*BEST, "--format", "json")
    found = json.loads(out)
    assert {row["goal"] for row in found["best"]} == {"smallest bound", "fewest rounds", "limit"}


def test_what_cannot_be_drawn_is_said(cflag, tmp_path):
    command = ("stepsize", "--L", 1e-300, "--m", 0, "--E", 1, "--alpha", 1e300, "--beta", 1e-320, "--T", 1)
    code, _, err = cflag(*command, "--plot", tmp_path / "plane.png")
    assert code == 2
    assert "cannot be drawn: choose units in which they lie between" in err
    assert not list(tmp_path.iterdir())
    code, _, _ = cflag(*command)
    assert code == 0


def test_numbers_from_a_trace(cflag, recorded):
    code, out, err = cflag("stepsize", "--from-trace", recorded, "--lowest", 0, "--details")
    assert (code, err) == (0, "")
    assert "No number of samples bounds them from above" in " ".join(out.split())
    assert "L and m: measured along a run, so lower bounds." in " ".join(out.split())
    conditions = out.split("Conditions")[1].split("L and m: measured")[0]
    assert "not refuted" in conditions
    assert " yes " not in conditions.replace("beta = c", "")
    _, out, _ = cflag("stepsize", "--from-trace", recorded, "--lowest", 0, "--E", 7, "--m", 0.5, "--format", "json")
    found = json.loads(out)
    # What is given wins over what the run says.
    assert (found["E"], found["m"], found["T"], found["alpha"], found["beta"]) == (7, 0.5, 20, 0.1, 0.01)
    said = {row["name"]: row for row in found["estimates"]["estimates"]}
    assert found["L"] == said["L"]["value"]
    assert found["numbers"]["r"] == said["r"]["value"]
    assert said["m"]["samples"] == 21


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("stepsize", "--from-trace", "{recorded}", "--lowest", 5), "lowest = 5.0 is above f = "),
        (("stepsize", "--from-trace", "nosuch.npz"), "nosuch.npz is not a trace"),
        ((*STEPS, "--plot", "plane.txt"), "--plot 'plane.txt' is not a picture: use a name that ends in .png, .svg or"),
        ((*STEPS, "--r", "nan"), "r = nan is not allowed"),
        ((*STEPS, "--r", "1/0"), "'1/0' is not a number: write one such as 0.05 or 1/3"),
        ((*STEPS, "--r", "half"), "'half' is not a number"),
        (("stepsize", "--paper", "cfl", "--L", 5, "--K", 1, "--T", 9, "--A", 1), "no eta_l is proved safe"),
        ((*STEPS, "--epsilon", 0), "epsilon = 0.0 is not allowed: give a positive finite number"),
        ((*STEPS, "--N", 3), "need N, n and memory_size: give all three or none"),
        ((*CFL, "--distance", -1), "distance = -1.0 is not allowed"),
        ((*CFL, "--epsilon", "inf"), "epsilon = inf is not allowed"),
    ],
    ids=lambda value: " ".join(map(str, value[-2:])) if isinstance(value, tuple) else "",
)
def test_one_sentence(cflag, recorded, arguments, words):
    code, out, err = cflag(*(str(word).format(recorded=recorded) for word in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--L", 1), "--paper c-flag needs --m"),
        (("--paper", "cfl", "--L", 1, "--T", 3), "--paper cfl needs --K"),
        (("--paper", "cfl", "--from-trace", "a.npz"), "--from-trace is not an option of --paper cfl"),
        (("--paper", "both", "--K", 3), "--K is not an option of --paper both"),
        (("--sigma", 3), "--sigma is not an option of --paper c-flag"),
        (("--lowest", 0), "--lowest is about a recorded run"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_options_that_do_not_go_together(cflag, arguments, words):
    code, out, err = cflag("stepsize", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())
    assert err.startswith("cflag: ")
    assert len(err.splitlines()) == 1


def test_a_trace_without_measurements(cflag, tmp_path):
    problem = make_problem("default")
    given = {"alpha": 0.1, "beta": 0.01, "local_steps": 2, "rounds": 3, "memory": uniform(6), "engine": "reference"}
    file = write_trace(tmp_path / "run.npz", simulate(problem, "c_flag", **given, diagnostics="none"))
    code, _, err = cflag("stepsize", "--from-trace", file)
    assert code == 2
    assert "gives no L (the run had diagnostics='none', use 'cheap' or 'all'): give --L too" in err
    code, out, _ = cflag("stepsize", "--from-trace", file, "--L", 2, "--m", 0.5, "--format", "json")
    assert code == 0
    assert json.loads(out)["T"] == 3


def test_nothing_is_written_where_nothing_can_be(cflag, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("kept", encoding="utf-8")
    code, _, err = cflag(*STEPS, "--out", blocked)
    assert code == 2
    assert "cannot write to the folder" in err
    assert blocked.read_text(encoding="utf-8") == "kept"


@pytest.mark.full
def test_sharp_steps_stand_beside_the_papers(cflag, tmp_path, monkeypatch):
    from cflag_theory.studies.stepsize import sharp_steps

    monkeypatch.setattr(sharp_steps, "_POINTS", 4)
    code, out, _ = cflag("stepsize", "--L", 1, "--m", 0, "--E", 2, "--T", 2, "--sharp", "--out", tmp_path)
    assert code == 0
    assert "sharp: gradient tracking" in out
    kept = json.loads((tmp_path / "step_sizes.json").read_text(encoding="utf-8"))
    assert kept["sharp"]["c-flag"]["largest"][0] == pytest.approx(2, rel=2e-3)
    assert "true" in kept["region"]
    assert cflag("plot", tmp_path, "--out", tmp_path / "again")[0] == 0
