import json
import stat
from fractions import Fraction

import numpy as np
import pytest
from worlds import differing, exact_world, world

from cflag_theory.errors import DataError, InvalidInput, OutputError, UnknownName
from cflag_theory.kernels import COLUMNS, Status, everything, read_trace, rotation_bias, simulate, uniform, write_trace
from cflag_theory.kernels.trace.trace import SQUARED, ratio

RUN = {"beta": 0.05, "local_steps": 3, "rounds": 4, "replicas": 2}


@pytest.fixture(scope="module")
def trace():
    return simulate(world(0), "c_flag", alpha=0.1, memory=uniform(2), **RUN, iterates=True)


def test_absent_columns_say_why(trace):
    with pytest.raises(InvalidInput, match=r"'rho_sum2' was not measured: .* diagnostics='all'"):
        trace.column("rho_sum2")
    with pytest.raises(UnknownName, match="'loss' is unknown: use one of f, g"):
        trace.column("loss")
    bare = simulate(world(0), "fedtrack", **RUN)
    for name in ("Gamma", "Lambda", "m_met", "b2"):
        with pytest.raises(InvalidInput, match="no memory, pass one"):
            bare.column(name)
    with pytest.raises(InvalidInput, match="no memory"):
        bare.at_end("h")
    turned = simulate(world(0), "c_flag", alpha=0.1, memory=rotation_bias(m=0.5), **RUN)
    with pytest.raises(InvalidInput, match="gradient of no f_memory"):
        turned.column("h")
    assert turned.column("Gamma").shape == (2, 4)
    with pytest.raises(InvalidInput, match="diagnostics='none'"):
        simulate(world(0), "fedtrack", **RUN, diagnostics="none").column("f")


def test_shapes_and_frozen_arrays(trace):
    assert (trace.replicas, trace.rounds, trace.ok) == (2, 4, True)
    assert trace.column("f").shape == (2, 4)
    assert trace.column("Lambda").shape == (2, 4, 3)
    assert trace.at_end("grad_f2").shape == (2,)
    assert trace.iterates.shape == (2, 5, 3)
    assert set(trace.columns) | set(trace.absent) == set(COLUMNS)
    with pytest.raises(ValueError, match="read-only"):
        trace.column("f")[0, 0] = 1.0
    with pytest.raises(AttributeError):
        trace.status = None


def test_roots(trace):
    assert np.array_equal(trace.root("drift2_max"), np.sqrt(trace.column("drift2_max")))
    with pytest.raises(UnknownName, match="no squares"):
        trace.root("Gamma")
    with pytest.raises(UnknownName, match="'nothing' is unknown"):
        trace.root("nothing")
    assert "r2_met" in SQUARED
    assert "m_met" not in SQUARED


def test_status_messages_say_what_happened():
    assert Status.OK.message == "all rounds done"
    assert "smaller alpha" in Status.DIVERGED.message


def test_ratio_conventions():
    out = ratio(np.array([0.0, 1.0, 1.0, 1e300]), np.array([0.0, 0.0, 4.0, 1e-300]))
    assert out.tolist() == [0.0, np.inf, 0.25, np.inf]
    numbers = np.array([Fraction(0), Fraction(1), Fraction(1)], dtype=object)
    exact = ratio(numbers, np.array([Fraction(0), Fraction(0), Fraction(4)], dtype=object))
    assert exact.tolist() == [0, np.inf, Fraction(1, 4)]
    assert type(exact[2]) is Fraction


def test_config_replays_the_run(trace):
    assert json.loads(json.dumps(trace.config)) == trace.config
    config = trace.config
    again = simulate(
        world(0),
        config["algorithm"]["name"],
        alpha=float(config["alpha"]),
        beta=float(config["beta"]),
        local_steps=config["local_steps"],
        rounds=config["rounds"],
        replicas=config["replicas"],
        seed=config["seed"],
        memory=uniform(config["memory"]["size"]),
    )
    assert again.config == config
    assert np.array_equal(again.column("f"), trace.column("f"))
    assert simulate(world(1), "fedtrack", **RUN).config["problem_digest"] != config["problem_digest"]


def same(a, b):
    assert dict(a.config) == dict(b.config)
    assert dict(a.absent) == dict(b.absent)
    assert a.columns.keys() == b.columns.keys()
    assert all(a.column(name).dtype == b.column(name).dtype for name in a.columns)
    assert differing(a, b) == []
    assert np.array_equal(a.status, b.status)
    assert np.array_equal(a.rounds_done, b.rounds_done)
    assert (a.iterates is None) == (b.iterates is None)


def test_written_and_read_back(trace, tmp_path):
    path = write_trace(tmp_path / "run.npz", trace)
    same(trace, read_trace(path))
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR
    # A second write replaces the first.
    other = simulate(world(1), "fedtrack", **RUN)
    write_trace(path, other)
    same(other, read_trace(path))


def test_fractions_survive(tmp_path):
    exact = simulate(
        exact_world(0),
        "c_flag",
        alpha=Fraction(1, 8),
        beta=Fraction(1, 8),
        memory=everything(),
        local_steps=2,
        rounds=2,
        engine="reference",
        iterates=True,
    )
    back = read_trace(write_trace(tmp_path / "exact.npz", exact))
    same(exact, back)
    assert type(back.column("f")[0, 0]) is Fraction


def test_a_run_that_diverged_at_once_survives(tmp_path):
    trace = simulate(world(0, potential=3), "fedtrack", **(RUN | {"beta": 1e160}), throw=False)
    assert trace.rounds == 0
    same(trace, read_trace(write_trace(tmp_path / "short.npz", trace)))


def test_unwritable_places_leave_nothing_behind(trace, tmp_path):
    with pytest.raises(OutputError, match="choose another folder"):
        write_trace(tmp_path / "missing" / "run.npz", trace)
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OutputError, match="choose another folder"):
        write_trace(tmp_path / "file" / "run.npz", trace)
    with pytest.raises(OutputError, match="choose another folder"):
        write_trace(tmp_path / "taken", trace)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "taken"]


def test_a_write_that_breaks_off_keeps_the_old_file(trace, tmp_path, monkeypatch):
    path = write_trace(tmp_path / "run.npz", trace)

    def full_disk(file, **arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        write_trace(path, simulate(world(1), "fedtrack", **RUN))
    same(trace, read_trace(path))
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_damaged_files_are_refused(trace, tmp_path):
    path = write_trace(tmp_path / "run.npz", trace)
    with np.load(path) as file:
        good = dict(file)
    with pytest.raises(DataError, match="not a trace"):
        read_trace(tmp_path / "absent.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(DataError, match="not a trace"):
        read_trace(tmp_path / "text.npz")
    (tmp_path / "short.npz").write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match="not a trace"):
        read_trace(tmp_path / "short.npz")

    def changed(**changes):
        bad = tmp_path / "bad.npz"
        np.savez(bad, **{name: array for name, array in (good | changes).items() if array is not None})
        return bad

    for changes in ({"column f": good["column f"][:, :2]}, {"column f": None}, {"end loss": good["end f"]}):
        with pytest.raises(DataError, match="is damaged"):
            read_trace(changed(**changes))
    with pytest.raises(DataError, match="is damaged, see iterates"):
        read_trace(changed(iterates=good["iterates"][:, 1:]))
    with pytest.raises(DataError, match="is damaged, see status"):
        read_trace(changed(status=good["status"] + 7))
    with pytest.raises(DataError, match="not a trace"):
        read_trace(changed(header=None))
    with pytest.raises(DataError, match="not a trace"):
        read_trace(changed(**{"column f": np.array([[object()]])}))
    header = json.loads(str(good["header"])) | {"format": "cflag-theory trace 0"}
    with pytest.raises(DataError, match="this version reads"):
        read_trace(changed(header=np.array(json.dumps(header))))
