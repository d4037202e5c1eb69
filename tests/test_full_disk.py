"""Whatever is stored, on a disk that fails at each call in turn: what was there, or what should be, nothing else."""

from __future__ import annotations

import shutil
from fractions import Fraction

import pytest
from failing_disk import every_failure
from needs import quick

from cflag_theory.cli import report
from cflag_theory.errors import OutputError
from cflag_theory.falsify import Conjecture, Range
from cflag_theory.falsify.falsifying import falsify
from cflag_theory.falsify.saving import save
from cflag_theory.files import MARKER, write_text
from cflag_theory.kernels import make_problem, simulate, uniform, write_trace
from cflag_theory.studies.sweeps import check
from cflag_theory.verify import read_results, sweep


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MARKER}


def trace(folder, rounds):
    problem = make_problem("quadratic", clients=2, components=2, dimension=2)
    run = {"alpha": 0.1, "beta": 0.01, "local_steps": 1, "rounds": rounds, "memory": uniform(1)}
    made = simulate(problem, "c_flag", **run, engine="reference")
    return lambda: write_trace(folder / "run.npz", made)


def counterexample(folder, bound):
    claim = Conjecture(name="false", ranges={"x": Range(0, 1)}, left=lambda x: x, right=Fraction(bound, 5))
    found = falsify(claim, budget=50)
    return lambda: save(found, folder)


def page(folder, number):
    def write():
        with pytest.MonkeyPatch.context() as patched:
            # Drawing and typesetting take long, and store nothing but what they return.
            patched.setattr(report, "_figures", lambda draft, *_: write_text(draft / "rate.svg", f"{number}") or [])
            patched.setattr(report, "_rendered", lambda *_, **__: f"page {number}")
            report.write_report(folder, (), notes=(), rates=[{"number": number}], cfl_rates=[{"number": number}])

    return write


@pytest.mark.parametrize("stored", quick([trace, counterexample, page], page))
def test_files_are_old_or_new(tmp_path, stored):
    old, new = stored(tmp_path, 1), stored(tmp_path, 2)
    new()
    after = content(tmp_path)
    old()
    before, seen = content(tmp_path), set()
    assert all(before[name] != after[name] for name in ("run.npz", "false.json", "index.html") if name in before)
    for _, error in every_failure(new):
        assert isinstance(error, OutputError)
        found = content(tmp_path)
        assert set(found) == set(before)
        assert all(found[name] in (before[name], after[name]) for name in found)
        # The page names the other files, and so it is never newer than they.
        assert found.get("index.html", b"page 1") == b"page 1" or found == after
        seen.add(found == after)
        old()
    # Only the folder's own fsync comes after the last rename.
    assert seen == {False, True}
    assert content(tmp_path) == after


def test_sweeps_go_on_from_every_failure(tmp_path, study, monkeypatch):
    monkeypatch.setattr(check, "LEAST_WORK", 1)
    text = study.read_text(encoding="utf-8").replace("count = 3", "count = 1").replace("T = [1, 8]", "T = [1]")
    study.write_text(text.replace("m = [0, 0.25]", "m = 0"), encoding="utf-8")
    sweep(study, out=tmp_path / "all", jobs=1)
    after, out = content(tmp_path / "all"), tmp_path / "out"
    assert len(after) > 2
    remedies = set()
    for number, error in every_failure(lambda: sweep(study, out=out, jobs=1)):
        assert isinstance(error, OutputError)
        remedies.add(str(error).rpartition("(No space left on device): ")[2])
        assert content(out).items() <= after.items()
        if number % 5 == 0:
            sweep(study, out=out, jobs=1)
            assert content(out) == after
            assert read_results(out).num_rows
        shutil.rmtree(out)
    assert content(out) == after
    assert len(remedies) == 2
    assert any(words.endswith("chunks that are complete are kept") for words in remedies)
