"""Finished horizons on disk: read back to the last bit, for the same settings only, and never half written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from failing_disk import every_failure

from cflag_theory.errors import OutputError
from cflag_theory.files import MARKER, own_folder
from cflag_theory.kernels import random_separable, uniform
from cflag_theory.studies.rates import past_task as rates
from cflag_theory.studies.rates.store import FILE
from cflag_theory.verify import rate

SMALL = {"horizons": (8, 16, 32), "replicas": 3, "local_steps": 2}


@pytest.fixture(scope="module")
def problem():
    return random_separable(clients=2, past=3, current=3, dimension=2, seed=1)


@pytest.fixture
def counted(monkeypatch):
    """The numbers of rounds of every run that is started."""
    started = []
    whole = rates.simulate

    def simulate(*arguments, **options):
        started.append(options["rounds"])
        return whole(*arguments, **options)

    monkeypatch.setattr(rates, "simulate", simulate)
    return started


@pytest.mark.parametrize("power", [0.5, 0.0])
def test_a_second_run_reads_what_the_first_one_wrote(problem, tmp_path, counted, power):
    store = tmp_path / FILE
    first = rate(problem, uniform(1), **SMALL, power=power, store=store)
    counted.clear()
    told = []
    assert rate(problem, uniform(1), **SMALL, power=power, store=store, progress=told.append) == first
    assert counted == []
    assert told == [8, 16, 32]
    assert first == rate(problem, uniform(1), **SMALL, power=power)


@pytest.mark.parametrize("power", [0.5, 0.0])
def test_an_interrupted_study_ends_as_an_unbroken_one(problem, tmp_path, counted, power):
    store = tmp_path / FILE

    def stop(T):
        if T == 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate(problem, uniform(1), **SMALL, power=power, store=store, progress=stop)
    counted.clear()
    found = rate(problem, uniform(1), **SMALL, power=power, store=store)
    assert counted == ([32] if power else [])
    assert found == rate(problem, uniform(1), **SMALL, power=power)


def test_more_horizons_add_to_those_that_are_there(problem, tmp_path, counted):
    store = tmp_path / FILE
    rate(problem, uniform(1), **SMALL, store=store)
    counted.clear()
    rate(problem, uniform(1), **{**SMALL, "horizons": (8, 16, 32, 64)}, store=store)
    assert counted == [64]
    assert [json.loads(line)["horizon"]["T"] for line in store.read_text(encoding="utf-8").splitlines()] == [
        8,
        16,
        32,
        64,
    ]


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"replicas": 4}, {"local_steps": 1}, {"c": 0.01}, {"power": 1.0}, {"alpha_factor": 0.5}]
)
def test_other_settings_are_run_and_kept_beside(problem, tmp_path, counted, changes):
    store = tmp_path / FILE
    first = rate(problem, uniform(1), **SMALL, store=store)
    counted.clear()
    rate(problem, uniform(1), **{**SMALL, **changes}, store=store)
    assert counted == [8, 16, 32]
    counted.clear()
    assert rate(problem, uniform(1), **SMALL, store=store) == first
    assert counted == []


def test_another_problem_or_memory_is_another_study(problem, tmp_path, counted):
    store = tmp_path / FILE
    rate(problem, uniform(1), **SMALL, store=store)
    counted.clear()
    rate(problem, uniform(2), **SMALL, store=store)
    rate(random_separable(clients=2, past=3, current=3, dimension=2, seed=2), uniform(1), **SMALL, store=store)
    assert counted == [8, 16, 32] * 2


def test_an_infinite_ratio_survives(tmp_path):
    from cflag_theory.studies.rates.instances import instance_rate

    options = {"horizons": (4, 8), "replicas": 2, "store": tmp_path / FILE}
    first = instance_rate("no-assumption-3", **options)
    assert instance_rate("no-assumption-3", **options) == first
    assert first.r_met == float("inf")
    assert "Infinity" not in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["not json\n", "[1]\n", "{}\n", "\xff"])
def test_a_file_of_something_else(problem, tmp_path, text):
    store = own_folder(tmp_path) / FILE
    store.write_bytes(text.encode("latin-1"))
    with pytest.raises(OutputError, match="delete it or choose another --out"):
        rate(problem, uniform(1), **SMALL, store=store)
    assert store.read_bytes() == text.encode("latin-1")


def test_lines_of_another_study_stay(problem, tmp_path):
    store = own_folder(tmp_path) / FILE
    store.write_text('{"settings": "other"}\n', encoding="utf-8")
    rate(problem, uniform(1), **SMALL, store=store)
    assert store.read_text(encoding="utf-8").startswith('{"settings": "other"}\n')


def test_horizons_stay_whichever_call_of_the_system_fails(problem, tmp_path):
    store = tmp_path / FILE
    first = rate(problem, uniform(1), **SMALL, store=store)
    for _, error in every_failure(lambda: rate(problem, uniform(1), **(SMALL | {"horizons": (8, 64)}), store=store)):
        assert "No space left on device" in str(error)
        assert {path.name for path in tmp_path.iterdir()} == {MARKER, FILE}
        assert rate(problem, uniform(1), **SMALL, store=store) == first


def test_a_value_that_was_changed_is_not_averaged(problem, tmp_path):
    store = tmp_path / FILE
    rate(problem, uniform(1), **SMALL, store=store)
    lines = store.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[1])
    record["horizon"]["Gamma"] = 123456.0
    changed = "\n".join([lines[0], json.dumps(record), lines[2]])
    store.write_text(changed, encoding="utf-8")
    with pytest.raises(OutputError, match=r"line 2 of .* is not what was written: delete that line"):
        rate(problem, uniform(1), **SMALL, store=store)
    assert store.read_text(encoding="utf-8") == changed


@pytest.mark.parametrize("what", ["kernels.engines.codegen.cache.source_hash", "kernels.engines.codegen.cache.version"])
def test_numbers_of_other_code_or_libraries_are_not_served(problem, tmp_path, counted, monkeypatch, what):
    store = tmp_path / FILE
    rate(problem, uniform(1), **SMALL, store=store)
    counted.clear()
    monkeypatch.setattr(f"cflag_theory.{what}", lambda *_: "other")
    rate(problem, uniform(1), **SMALL, store=store)
    assert counted == [8, 16, 32]


OTHER = """
import sys
from pathlib import Path
from cflag_theory.files import alone_in
with alone_in(Path(sys.argv[1]), "study"):
    print("taken", flush=True)
    sys.stdin.read()
"""


def test_two_studies_do_not_share_a_folder(problem, tmp_path):
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", OTHER, tmp_path], **streams) as other:
        assert other.stdout.readline() == b"taken\n"
        with pytest.raises(OutputError, match="another study is writing to"):
            rate(problem, uniform(1), **SMALL, store=tmp_path / FILE)
        other.communicate()
    rate(problem, uniform(1), **SMALL, store=tmp_path / FILE)
