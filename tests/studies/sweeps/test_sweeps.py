"""Sweeps: rows are what `simulate` says, on any number of workers, however often they are stopped."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import Executor, Future

import numpy as np
import pytest
from joblib import Parallel, delayed

from cflag_theory.errors import CflagError, InvalidInput, MissingExtra
from cflag_theory.kernels import algorithm, default_memory, default_problem, make_problem, sign_bias, simulate
from cflag_theory.studies.sweeps import check as sweep_check
from cflag_theory.studies.sweeps import run as sweep_run
from cflag_theory.studies.sweeps import sweep as sweeping
from cflag_theory.verify import read_results, sweep

pytest.importorskip("pyarrow")


def test_rows_are_what_simulate_says(whole):
    rows = whole.to_pylist()
    assert len(rows) == 2 * 2 * 2 * 2 * 3 * 3
    assert [(row["run"], row["replica"]) for row in rows] == [(i // 3, i % 3) for i in range(len(rows))]
    problem = default_problem()
    L = problem.constants["L"].value
    for row in rows[::3]:
        m, T = row["memory.m"], row["T"]
        flag = row["algorithm"] == "c_flag"
        assert row["alpha"] == (1 / (L * (1 + m)) if flag else 0.0)
        assert row["beta"] == (0.05 / np.sqrt(T) if row["beta_law"] else 0.01)
        trace = simulate(
            problem,
            algorithm("c_flag") if flag else algorithm("scaffold", server_rate=0.5),
            alpha=row["alpha"],
            beta=row["beta"],
            local_steps=2,
            rounds=T,
            memory=sign_bias(m=m),
            replicas=3,
            seed=row["seed"],
        )
        f2 = trace.column("grad_f2")
        assert row["min_of_mean_grad_f2"] == pytest.approx(f2.mean(axis=0).min(), rel=1e-13)
        for replica, mine in enumerate(rows[3 * row["run"] : 3 * row["run"] + 3]):
            assert mine["min_grad_f2"] == f2[replica].min()
            assert mine["mean_grad_g2"] == pytest.approx(trace.column("grad_g2")[replica].mean(), rel=1e-13)
            assert mine["last_grad_h2"] == trace.at_end("grad_h2")[replica]
            assert (mine["first_f"], mine["last_g"]) == (trace.column("f")[replica, 0], trace.at_end("g")[replica])
            assert mine["sum_Gamma"] == pytest.approx(trace.column("Gamma")[replica].sum(), rel=1e-12)
            assert mine["m_met"] == trace.column("m_met")[replica].max()
            assert mine["r2_met"] == trace.column("r2_met")[replica].max()
            assert mine["ifo_calls"] == trace.column("ifo_calls")[replica].sum()
            assert mine["communicated"] == trace.column("communicated")[replica].sum()
            assert mine["curve.grad_f2"] == f2[replica, ::3].tolist()
            assert mine["curve.drift2_max"] == trace.column("drift2_max")[replica, ::3].tolist()
            assert (mine["status"], mine["rounds_done"]) == ("ok", T)
            assert mine["problem_digest"] == trace.config["problem_digest"]


def test_columns_are_described(whole):
    assert whole.schema.field("min_grad_f2").metadata == {b"holds": b"min over t < T of grad_f2"}
    assert {"problem", "memory", "algorithm.server_rate", "beta_law", "E", "L", "N", "d"} <= set(whole.schema.names)
    assert whole.column("algorithm.server_rate").null_count == whole.num_rows // 2


def test_one_chunk_holds_runs_whose_coordinates_differ(study, whole, tmp_path, monkeypatch):
    """The second algorithm has a server rate, the first one does not."""
    monkeypatch.setattr(sweep_check, "LEAST_WORK", 1e8)
    sweep(study, out=tmp_path / "one", jobs=1)
    assert len(list((tmp_path / "one").glob("runs-*.parquet"))) == 1
    assert read_results(tmp_path / "one").equals(whole)


def test_two_processes_give_the_same_rows(study, whole, tmp_path):
    shares = []
    done = sweep(study, out=tmp_path / "two", jobs=2, progress=lambda share, words: shares.append(share))
    assert (done.runs, done.rows, done.before) == (48, 144, 0)
    assert len(list((tmp_path / "two").glob("runs-*.parquet"))) > 3
    assert read_results(tmp_path / "two").equals(whole)
    # Progress adds up to the whole.
    assert sum(shares) == pytest.approx(1)
    # Joblib works after a sweep as before.
    assert Parallel(n_jobs=2)(delayed(abs)(k) for k in (-1, -2)) == [1, 2]


def test_a_cluster_gives_the_same_rows(study, whole, tmp_path, caplog):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        sweep(study, out=tmp_path / "cluster", backend="dask", scheduler=cluster.scheduler_address)
    assert read_results(tmp_path / "cluster").equals(whole)
    assert "is not encrypted, and whoever reaches it can run code: use tls://" in caplog.text


def test_a_cluster_that_is_not_there(study, tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="give both or neither"):
        sweep(study, out=tmp_path / "out", backend="dask")
    with pytest.raises(InvalidInput, match="backend 'slurm' is unknown: use one of loky, dask"):
        sweep(study, out=tmp_path / "out", backend="slurm")
    with pytest.raises(InvalidInput, match="jobs is 0"):
        sweep(study, out=tmp_path / "out", jobs=0)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"cflag-theory\[cluster\]"):
        sweep(study, out=tmp_path / "out", backend="dask", scheduler="tcp://127.0.0.1:1")


def test_replicas_in_parts_are_the_same_replicas(study, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_run, "_PIECE", 16)
    sweep(study, out=tmp_path / "parts", jobs=1)
    parts = read_results(tmp_path / "parts")
    shared = [name for name in parts.schema.names if not name.startswith("min_of_mean_")]
    assert parts.select(shared).equals(whole.select(shared))
    for name in ("min_of_mean_grad_f2", "min_of_mean_grad_h2"):
        assert parts.column(name).to_numpy() == pytest.approx(whole.column(name).to_numpy(), rel=1e-13)


def test_runs_that_diverge_are_rows_and_spare_their_neighbours(tmp_path):
    """With the sign +, alpha is beyond 2 / L on a quadratic and the run diverges; with the sign - it does not."""
    path = tmp_path / "study.toml"
    path.write_text(
        'record = ["f"]\n[problem]\nname = "quadratic"\n[memory]\nkind = "sign"\nm = 0.81\n'
        '[algorithm]\nname = "c_flag"\n[run]\nalpha = "1.9/L"\nbeta = 1e-6\nE = 1\nT = 2000\nreplicas = 6\n',
        encoding="utf-8",
    )
    sweep(path, out=tmp_path / "out", jobs=1)
    rows = read_results(tmp_path / "out").to_pylist()
    lost = [row for row in rows if row["status"] == "diverged"]
    kept = [row for row in rows if row["status"] == "ok"]
    assert lost
    assert kept
    assert all(row["rounds_done"] < 2000 and len(row["curve.f"]) == row["rounds_done"] for row in lost)
    assert all(row["rounds_done"] == len(row["curve.f"]) == 2000 for row in kept)
    assert {row["min_of_mean_grad_f2"] for row in rows} == {None}
    problem = make_problem("quadratic")
    alone = simulate(
        problem, "c_flag", alpha=kept[0]["alpha"], beta=1e-6, local_steps=1, rounds=2000, memory=sign_bias(m=0.81),
        first_replica=kept[0]["replica"],
    )  # fmt: skip
    assert kept[0]["last_f"] == alone.at_end("f")[0]


def test_columns_that_cost_much_are_recorded_in_their_rounds(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        'record = ["iag_error2_max", "f"]\nevery = 3\n[algorithm]\nname = "fedtrack"\n'
        "[run]\nbeta = 0.1\nE = 3\nT = 8\nreplicas = 2\n",
        encoding="utf-8",
    )
    sweep(path, out=tmp_path / "out", jobs=1)
    rows = read_results(tmp_path / "out").to_pylist()
    trace = simulate(
        default_problem(), "fedtrack", beta=0.1, local_steps=3, rounds=8, replicas=2, diagnostics="all",
        memory=default_memory(),
    )  # fmt: skip
    for replica, row in enumerate(rows):
        assert row["curve.iag_error2_max"] == trace.column("iag_error2_max")[replica, ::3].tolist()
        assert row["curve.f"] == trace.column("f")[replica, ::3].tolist()


def test_fast_mode_agrees_up_to_rounding(study, whole, tmp_path):
    study.write_text(f'mode = "fast"\n{study.read_text(encoding="utf-8")}', encoding="utf-8")
    sweep(study, out=tmp_path / "fast", jobs=1)
    fast = read_results(tmp_path / "fast")
    for name in ("min_grad_f2", "last_g", "sum_Gamma"):
        assert fast.column(name).to_numpy() == pytest.approx(whole.column(name).to_numpy(), rel=1e-10, abs=1e-13)


def test_mode_and_number_type_reach_every_call(study, tmp_path, monkeypatch):
    """Without compiling the loop for another number type."""
    seen = []

    def call(*arguments, mode, dtype, **options):
        seen.append((mode, dtype))
        return simulate(*arguments, **options)

    monkeypatch.setattr(sweep_run, "simulate", call)
    monkeypatch.setattr(sweep_check, "simulate", call)
    study.write_text(f'mode = "fast"\ndtype = "float32"\n{study.read_text(encoding="utf-8")}', encoding="utf-8")
    sweep(study, out=tmp_path / "out", jobs=1)
    assert len(seen) > 48
    assert set(seen) == {("fast", "float32")}


@pytest.mark.full
def test_memory_does_not_grow_with_the_grid(tmp_path):
    """Peak memory of 3000 runs against that of 200."""
    pytest.importorskip("resource")
    script = (
        "import resource, sys; from cflag_theory.verify import sweep; sweep(sys.argv[1], jobs=1);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (200, 3000):
        path = tmp_path / f"study{count}.toml"
        path.write_text(
            f'[algorithm]\nname = "fedavg"\n[run]\nbeta = 0.1\nE = 1\nT = 1\nseed = {{first = 0, count = {count}}}\n',
            encoding="utf-8",
        )
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    # Kibibytes, or bytes on macOS.
    assert peaks[1] < 1.15 * peaks[0]


def test_a_cluster_that_fails_is_one_sentence_and_complete_chunks_stay(study, whole, tmp_path, monkeypatch):
    class Failing(Executor):
        """Runs two calls and then cancels what it is given."""

        def __init__(self, count):
            self.done = 0

        def submit(self, function, /, *words):
            future = Future()
            if self.done == 2:
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_result(function(*words))
                self.done += 1
            return future

        def shutdown(self, wait=True, *, kill_workers=False):
            assert kill_workers

    out = tmp_path / "out"
    monkeypatch.setattr(sweep_check, "LEAST_WORK", 2e5)
    with monkeypatch.context() as failing:
        failing.setattr(sweeping, "processes", Failing)
        with pytest.raises(CflagError, match=r"cluster failed .*complete chunks are kept"):
            sweep(study, out=out, jobs=2)
    done = sweep(study, out=out, jobs=1)
    assert 0 < done.before < done.runs
    assert read_results(out).equals(whole)


@pytest.mark.full
def test_processes_end_with_the_sweep_that_breaks_off():
    """loky gave up over work that it had dropped and not yet handed out, and its processes could go on."""
    processes = []

    def break_off():
        with sweeping._workers(2, "loky", None) as (executor, _):
            assert executor.submit(abs, -1).result() == 1
            processes.extend(executor._processes.values())
            results = sweeping._results(executor, 40, slow_twice, range(40))
            assert next(results)[1] in range(0, 80, 2)
            results.close()
            # While loky drops this, the processes make room for work to be handed out.
            executor.submit(slow_twice, 40).add_done_callback(lambda future: time.sleep(0.5))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    for process in processes:
        process.join(timeout=20)
        assert not process.is_alive()


def slow_twice(number):
    time.sleep(0.05)
    return number, 2 * number
