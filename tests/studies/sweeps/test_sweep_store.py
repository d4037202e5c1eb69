"""What is written stays: sweeps that were stopped, killed or damaged end with the rows of an unbroken one."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time

import pytest

from cflag_theory.errors import DataError, InvalidInput, MissingExtra, OutputError
from cflag_theory.studies.sweeps import store as sweep_store
from cflag_theory.studies.sweeps.check import plan_sweep
from cflag_theory.studies.sweeps.file import read_sweep_file
from cflag_theory.verify import read_results, sweep

pytest.importorskip("pyarrow")


def chunks(folder):
    return sorted(folder.glob("runs-*.parquet"))


def test_a_sweep_that_fails_goes_on_where_it_was(study, whole, tmp_path):
    out = tmp_path / "out"
    seen = []

    def stop(share, words):
        seen.append(share)
        if len(seen) == 4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sweep(study, out=out, jobs=1, progress=stop)
    there = {path: path.stat().st_mtime_ns for path in chunks(out)}
    assert len(there) == 3
    with pytest.raises(DataError, match=r"holds 3 of \d+ chunks"):
        read_results(out)
    some = read_results(out, partial=True)
    assert some.equals(whole.slice(0, some.num_rows))
    done = sweep(study, out=out, jobs=1)
    assert 0 < done.before < done.runs
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert read_results(out).equals(whole)
    assert sweep(study, out=out, jobs=1).before == done.runs


@pytest.mark.full
def test_a_sweep_that_is_killed_at_random_points_ends_with_the_same_rows(study, whole, tmp_path):
    out = tmp_path / "out"
    script = (
        "import sys; from cflag_theory.verify import sweep; from cflag_theory.studies.sweeps import check;"
        "check.LEAST_WORK = 2e5;"
        "sweep(sys.argv[1], out=sys.argv[2], jobs=int(sys.argv[3]))"
    )
    draw = random.Random(0)
    total = len(chunks(tmp_path / "whole"))
    for jobs in (1, 2, 1):
        with subprocess.Popen([sys.executable, "-c", script, str(study), str(out), str(jobs)]) as process:
            # Some way further, and then anywhere within the next chunk.
            goal = min(len(chunks(out)) + draw.randint(1, total // 4), total)
            while process.poll() is None and len(chunks(out)) < goal:
                time.sleep(0.002)
            time.sleep(draw.random() * 0.05)
            process.kill()
        read_results(out, partial=True)
    sweep(study, out=out, jobs=1)
    assert read_results(out).equals(whole)
    assert {path.name for path in out.iterdir()} == {path.name for path in (tmp_path / "whole").iterdir()}


def test_another_grid_in_the_same_folder_is_refused(study, whole, tmp_path):
    text = study.read_text(encoding="utf-8")
    study.write_text(text.replace("0.05", "0.06"), encoding="utf-8")
    with pytest.raises(DataError, match="holds the results of another grid"):
        sweep(study, out=tmp_path / "whole", jobs=1)
    study.write_text("# said differently\n" + text.replace("E = 2\n", "E = [2]\n"), encoding="utf-8")
    assert sweep(study, out=tmp_path / "whole", jobs=1).before == 48


def test_other_versions_are_refused(study, whole, tmp_path, monkeypatch):
    monkeypatch.setattr("cflag_theory.kernels.engines.codegen.cache.source_hash", lambda: "other")
    with pytest.raises(DataError, match=r"was started with kernels \w+ and this is other"):
        sweep(study, out=tmp_path / "whole", jobs=1)


def test_a_changed_data_file_is_another_grid(tmp_path):
    data = tmp_path / "data.csv"
    lines = [f"{i % 3},{i % 5},{i % 10}" for i in range(60)]
    data.write_text("\n".join(["a,b,label", *lines]), encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(
        '[problem]\ndata = "data.csv"\nclients = 2\n[algorithm]\nname = "fedavg"\n[run]\nbeta = 0.1\nE = 1\nT = 2\n',
        encoding="utf-8",
    )
    sweep(path, jobs=1)
    assert read_results(tmp_path / "study-results").column("problem").to_pylist() == ["data.csv"]
    data.write_text("\n".join(["a,b,label", *lines[1:], lines[0]]), encoding="utf-8")
    with pytest.raises(DataError, match="another grid"):
        sweep(path, jobs=1)


@pytest.mark.parametrize("left", [0.5, 0.99, 0.0])
def test_a_truncated_chunk_is_named_and_run_again_once_deleted(study, whole, tmp_path, left):
    path = chunks(tmp_path / "whole")[1]
    os.truncate(path, int(left * path.stat().st_size))
    for use in (lambda: sweep(study, out=tmp_path / "whole", jobs=1), lambda: read_results(tmp_path / "whole")):
        with pytest.raises(DataError, match="delete it and run the sweep again") as raised:
            use()
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)
    path.unlink()
    assert sweep(study, out=tmp_path / "whole", jobs=1).before < 48
    assert read_results(tmp_path / "whole").equals(whole)


def test_a_flipped_bit_is_noticed_wherever_it_is(study, whole, tmp_path):
    """In values, in the headers of pages, in the footer."""
    path = chunks(tmp_path / "whole")[0]
    content = path.read_bytes()
    for place in range(0, len(content), len(content) // 200):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DataError, match="is damaged"):
            read_results(tmp_path / "whole")
    with pytest.raises(DataError, match="is damaged"):
        sweep(study, out=tmp_path / "whole", jobs=1)
    path.write_bytes(content)
    assert read_results(tmp_path / "whole").equals(whole)


def test_folders_that_cannot_be_used(study, whole, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"cannot write to .*file.*: choose another with --out"):
        sweep(study, out=tmp_path / "file", jobs=1)
    (tmp_path / "whole" / "sweep.json").unlink()
    with pytest.raises(DataError, match=r"holds chunks and no sweep.json"):
        sweep(study, out=tmp_path / "whole", jobs=1)
    with pytest.raises(DataError, match="holds no results of a sweep"):
        read_results(tmp_path / "whole")


def test_two_sweeps_do_not_write_to_one_folder(study, tmp_path):
    pytest.importorskip("fcntl")
    store = sweep_store.Store(tmp_path / "out", plan_sweep(read_sweep_file(study)), "")
    with store.lock(), pytest.raises(OutputError, match="another sweep is writing"):
        sweep(study, out=tmp_path / "out", jobs=1)
    header = (tmp_path / "out" / "sweep.json").read_bytes()
    other = tmp_path / "other.toml"
    other.write_text(study.read_text(encoding="utf-8").replace("0.05", "0.06"), encoding="utf-8")
    with store.lock(), pytest.raises(OutputError, match="another sweep is writing"):
        sweep(other, out=tmp_path / "out", jobs=1)
    assert (tmp_path / "out" / "sweep.json").read_bytes() == header
    sweep(study, out=tmp_path / "out", jobs=1)


def test_a_folder_without_locks_can_be_used(study, whole, tmp_path, monkeypatch):
    """Some file systems of clusters have none."""
    fcntl = pytest.importorskip("fcntl")

    def refuse(file, operation):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert sweep(study, out=tmp_path / "whole", jobs=1).before == 48


def test_without_pyarrow_one_sentence_says_what_to_install(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for use in (lambda: sweep(study, out=tmp_path / "out"), lambda: read_results(tmp_path)):
        with pytest.raises(MissingExtra, match=r"pip install 'cflag-theory\[sweep\]'"):
            use()
    assert not (tmp_path / "out").exists()


def test_no_thread_of_arrows_outlives_reading(whole, tmp_path):
    """One that does aborts the process while Python ends, about every tenth time on a busy machine."""
    code = (
        "import os, sys; from cflag_theory.verify import read_results; import pyarrow.parquet\n"
        "before = len(os.listdir('/proc/self/task')); read_results(sys.argv[1])\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "whole"], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_some_columns(whole, tmp_path):
    few = read_results(tmp_path / "whole", columns=["T", "min_grad_f2"])
    assert few.equals(whole.select(["T", "min_grad_f2"]))
    with pytest.raises(InvalidInput, match="no column 'min_grad_f3': use one of run, replica"):
        read_results(tmp_path / "whole", columns=["min_grad_f3"])
