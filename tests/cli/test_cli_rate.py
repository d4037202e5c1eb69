"""`cflag rate` at the command line: laws, instances, families, and going on after an interrupt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cflag_theory.files import MARKER
from cflag_theory.studies.rates import past_task as rates
from cflag_theory.studies.rates.store import FILE

SMALL = ("--horizons", "8,16", "--replicas", 2)
TINY = ("--problem", "separable", "--dial", "past=3", "--dial", "current=3", "--dial", "clients=2", "--E", 1)


def test_everything_that_the_study_varies_has_an_option(cflag):
    options = ("--a", 0, "--alpha-factor", 1.5, "--c", 0.01, "--memory", "sign", "--m", 0.5, "--redraw", "--seed", 3)
    code, out, err = cflag("rate", *TINY, *SMALL, *options, "--mode", "fast", "--format", "json")
    assert (code, err) == (0, "")
    (study,) = json.loads(out)
    assert (study["power"], study["alpha_factor"], study["c"], study["seed"]) == (0, 1.5, 0.01, 3)
    assert study["m"] == pytest.approx(0.5)
    assert "drawn anew every round" in study["memory"]


def test_the_table_names_bounds_and_the_rule(cflag):
    code, out, _ = cflag("rate", *TINY, *SMALL, "--details")
    flat = " ".join(out.split())
    assert code == 0
    for words in ("ours.drawn_once, the mean of |grad f|^2", "longest range of horizons", "cflag.lemma3: none"):
        assert words in flat


def test_an_instance(cflag, tmp_path):
    code, out, err = cflag("rate", "--instance", "one-over-T", *SMALL, "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "ours.drawn_once_rate" in out
    (study,) = json.loads((tmp_path / "rate.json").read_text(encoding="utf-8"))
    assert f"{study['exact']['least'][1]:.4e}" in out
    assert study["exact"]["least"] == pytest.approx(study["min_mean"])


def test_a_family(cflag, tmp_path):
    code, out, err = cflag("rate", *TINY, *SMALL, "--vary", "m=0,0.5,2", "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "m varied" in out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [MARKER, "rate_family.json", "rate_family.png", "rate_family.svg", FILE]
    _, out, _ = cflag("rate", *TINY, *SMALL, "--vary", "m=0,0.5,2", "--format", "json")
    found = json.loads(out)
    assert found == json.loads((tmp_path / "rate_family.json").read_text(encoding="utf-8"))
    assert (found["varied"], found["values"]) == ("m", [0, 0.5, 2])


def test_up_to(cflag):
    _, out, _ = cflag("rate", *TINY, "--up-to", 100, "--replicas", 2, "--format", "json")
    (study,) = json.loads(out)
    assert study["horizons"] == [16, 32, 64]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--instance", "nosuch"), "instance 'nosuch' is unknown: use one of one-over-T"),
        (("--vary", "m"), "vary 'm' is not understood: write a dial and its values"),
        (("--vary", "m=1"), "m is varied over [1.0]: give at least two different values"),
        (("--vary", "nosuch=1,2"), "has no dial 'nosuch'"),
        (("--up-to", 20), "up-to is 20: give a T of at least 32"),
        (("--a", -1, *TINY), "power is -1.0"),
        (("--alpha-factor", 0, *TINY), "alpha_factor is 0.0"),
        (("--mode", "loose", *TINY), "mode 'loose' is unknown"),
        (("--problem", "glm", "--dial", "r=2"), "r = 2 needs tasks with common stationary points"),
    ],
)
def test_what_users_can_mend(cflag, arguments, sentence):
    horizons = () if "--up-to" in arguments else SMALL
    code, out, err = cflag("rate", *arguments, *horizons)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--instance", "floor-m", "--m", 0.5),
        ("--instance", "floor-m", "--vary", "m=0,1"),
        ("--instance", "floor-m", "--a", 0),
        ("--horizons", "8,16", "--up-to", 64),
        ("--paper", "cfl", "--vary", "m=0,1"),
        ("--paper", "cfl", "--instance", "floor-m"),
    ],
)
def test_options_that_exclude_each_other(cflag, arguments):
    code, out, err = cflag("rate", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert len(err.splitlines()) == 1


def test_an_interrupt_says_where_the_horizons_are_and_the_command_goes_on(cflag, tmp_path, monkeypatch):
    whole, started = rates.simulate, []

    def simulate(*arguments, **options):
        started.append(options["rounds"])
        if len(started) == 2:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(rates, "simulate", simulate)
    command = ("rate", *TINY, *SMALL, "--out", tmp_path)
    code, out, err = cflag(*command)
    assert (code, out) == (130, "")
    assert err.startswith("cflag: interrupted; finished horizons are in ")
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {MARKER, FILE}
    code, _, err = cflag(*command)
    assert (code, err) == (0, "")
    assert started == [8, 16, 16]


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_control_c_ends_a_long_study(tmp_path):
    command = "from cflag_theory.cli.main import main; main()"
    arguments = ["rate", *map(str, TINY), "--horizons", "4,100000-100900", "--replicas", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    store = tmp_path / FILE
    try:
        for _ in range(1200):
            if store.exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (130, "")
    # A start that waited for a loop has said how far it is.
    assert err.splitlines()[-1].startswith("cflag: interrupted; finished horizons are in ")
    finished = [json.loads(line)["horizon"]["T"] for line in store.read_text(encoding="utf-8").splitlines()]
    assert finished[0] == 4
    assert len(finished) < 900
