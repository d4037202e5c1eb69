"""Real data as a glm problem: what is read, how it is dealt out, and every way in which a file can be wrong."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from cflag_theory.errors import DataError, InvalidInput, MissingExtra
from cflag_theory.kernels.problems.data import load_data
from cflag_theory.kernels.problems.objective import values
from cflag_theory.kernels.problems.problem import EXACT

SPLIT = dict(past_classes=[0, 1], current_classes=[2, 3])


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    return random.normal(size=(40, 3)), np.repeat(np.arange(4), 10)


def write_npz(path, table, **arrays):
    np.savez(path, **{"features": table[0], "labels": table[1]} | arrays)
    return path


def write_csv(path, table, label="label"):
    lines = [f"{a!r},{y},{b!r},{c!r}" for (a, b, c), y in zip(table[0].tolist(), table[1], strict=True)]
    path.write_text("\n".join([f"a,{label},b,c", *lines]) + "\n")
    return path


def with_entry(features, row, column, value):
    changed = features.copy()
    changed[row, column] = value
    return changed


def test_digits_are_the_default_experiment():
    pytest.importorskip("sklearn", reason="the extra `digits` is not installed")
    problem = load_data("digits")
    assert problem.name == "digits"
    assert problem.dimension == 65
    assert problem.past.counts.sum() == 901
    assert problem.current.counts.sum() == 896
    assert (problem.past.rows[:, -1] == 1).all()
    assert problem.past.rows.min() == 0
    assert problem.past.rows.max() == 1
    assert set(problem.labels) == {0, 1, 2, 3, 4}
    assert (problem.past.shifts == np.where(problem.labels % 2 == 1, 1, -1)).all()
    assert problem.p == pytest.approx((problem.past.counts + problem.current.counts) / 1797)
    assert problem.constants["L_component"].kind == EXACT
    assert 0 < problem.constants["L"].value < problem.constants["L_component"].value
    assert "r" not in problem.constants


def test_digits_without_scikit_learn_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtra, match=r"cflag-theory\[digits\]"):
        load_data("digits")


def test_npz_and_csv_hold_the_same_problem(tmp_path, table):
    one = load_data(write_npz(tmp_path / "data.npz", table), clients=2, **SPLIT)
    two = load_data(str(write_csv(tmp_path / "data.csv", table, label="kind")), clients=2, label_column="kind", **SPLIT)
    other = tmp_path / "other.npz"
    np.savez(other, x=table[0], y=table[1].astype(float))
    three = load_data(other, clients=2, features_array="x", labels_array="y", **SPLIT)
    for twin in (two, three):
        assert (one.past.rows == twin.past.rows).all()
        assert (one.current.shifts == twin.current.shifts).all()
        assert (one.p == twin.p).all()
    # Every sample of the past classes is there once, with its constant feature and its parity.
    found = sorted(one.past.rows.tolist())
    assert found == sorted([*row, 1.0] for row in table[0][:20].tolist())
    for row, target, label in zip(one.past.rows, one.past.shifts, one.labels, strict=True):
        origin = int(np.flatnonzero((table[0] == row[:3]).all(axis=1))[0])
        assert table[1][origin] == label
        assert target == (1 if label % 2 else -1)


def test_a_byte_order_mark_and_blank_lines_are_fine(tmp_path, table):
    path = write_csv(tmp_path / "data.csv", table)
    plain = load_data(path, clients=2, **SPLIT)
    path.write_text("\ufeff" + path.read_text() + "\n\n", encoding="utf-8")
    assert (load_data(path, clients=2, **SPLIT).past.rows == plain.past.rows).all()


def test_positive_classes_are_a_parameter(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    problem = load_data(path, clients=1, positive=[0, 3], **SPLIT)
    assert (problem.past.shifts == np.where(problem.labels == 0, 1, -1)).all()
    assert sorted(problem.current.shifts) == [-1] * 10 + [1] * 10


def test_one_client_has_everything(tmp_path, table):
    problem = load_data(write_npz(tmp_path / "data.npz", table), clients=1, **SPLIT)
    assert problem.p.tolist() == [1]
    assert problem.past.counts.tolist() == problem.current.counts.tolist() == [20]
    assert problem.notes == (
        "loss cauchy, log(1 + (z - y)^2/2), of z = a.x, a = (3 features, 1)",
        "y = +1 for the labels 1, 3, y = -1 for 0, 2",
        "the classes 0, 1 are the past task, 2, 3 the current one: 20 and 20 samples",
        "1 client, drawn with zeta = 1",
    )


def test_without_classes_or_tasks_a_file_is_halved(tmp_path, table):
    """Only the digits have classes of their own; ten labels in a file are not tasks unless somebody says so."""
    mixed = table[0], np.tile(np.arange(10), 4)
    problem = load_data(write_npz(tmp_path / "data.npz", mixed), clients=1, potential="logistic")
    rows = problem.past.rows[:, :3] * np.where(problem.labels % 2 == 1, 1, -1)[:, None]
    assert sorted(rows.tolist()) == sorted(mixed[0][:20].tolist())
    assert problem.notes[:3] == (
        "loss logistic, log(1 + exp(-y z)), of z = a.x, a = (3 features, 1)",
        "y = +1 for the labels 1, 3, 5, 7, 9, y = -1 for 0, 2, 4, 6, 8",
        "the first half of the file is the past task, the second half the current one: 20 and 20 samples",
    )


def test_one_list_of_classes_leaves_the_others_to_the_other_task(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    for options in ({"past_classes": [1]}, {"current_classes": [0, 2, 3]}):
        problem = load_data(path, clients=1, **options)
        assert problem.notes[2] == "the classes 1 are the past task, 0, 2, 3 the current one: 10 and 30 samples"


def test_notes_say_which_columns_made_tasks_and_clients(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table, when=np.tile([7, 3], 20), site=np.repeat([5, 9], 20))
    problem = load_data(path, task_column="when", client_column="site", positive=[0])
    assert problem.clients == 2
    assert problem.notes[1:] == (
        "y = +1 for the labels 0, y = -1 for 1, 2, 3",
        "when = 3 is the past task, when = 7 the current one: 20 and 20 samples",
        "2 clients, one for each value of 'site'",
    )


@pytest.mark.parametrize("name", ["cauchy", "cosine", "geman_mcclure", "logistic", "quadratic"])
def test_the_loss_is_the_one_that_the_notes_print(tmp_path, table, name):
    problem = load_data(write_npz(tmp_path / "data.npz", table), clients=1, potential=name, **SPLIT)
    (formula,) = re.findall(rf"loss {name}, (.*), of z = a\.x", problem.notes[0])
    for pattern, python in ((r"\^2", "**2"), (r"(\d) \(", r"\1 * ("), ("-y z", "-y * z"), ("(log|exp|cos)", r"np.\1")):
        formula = re.sub(pattern, python, formula)
    x = np.array([0.4, -0.3, 0.2, 0.1])
    z, y = table[0][:20] @ x[:3] + x[3], np.where(table[1][:20] % 2 == 1, 1, -1)
    expected = np.mean(eval(formula, {"np": np, "z": z, "y": y}))
    assert values(problem.potential, problem.past, x)[0] == pytest.approx(expected)


def test_clients_without_data_are_dropped_and_the_problem_says_so(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    problem = load_data(path, clients=10, zeta=0.05, seed=1, **SPLIT)
    assert 1 <= problem.clients < 10
    kept = int(problem.past.counts.sum() + problem.current.counts.sum())
    assert f"{10 - problem.clients} of 10 clients" in problem.notes[-1]
    assert f"their {40 - kept} samples" in problem.notes[-1]
    assert problem.p == pytest.approx((problem.past.counts + problem.current.counts) / kept)


def test_zeta_sets_the_mixture_and_the_seed_the_split(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    even = load_data(path, clients=2, zeta=1e6, **SPLIT)
    for client in range(2):
        start, end = even.past.client_start[client : client + 2]
        assert np.bincount(even.labels[start:end]).tolist() == [5, 5]
    again, other = (load_data(path, clients=2, zeta=1e6, seed=seed, **SPLIT) for seed in (0, 1))
    assert (again.past.rows == even.past.rows).all()
    assert not (other.past.rows == even.past.rows).all()


def test_a_split_that_leaves_nobody_is_an_error(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    with pytest.raises(DataError, match="use fewer clients or a larger zeta"):
        load_data(path, clients=10000, zeta=1e-6, **SPLIT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clients": 0}, "clients is 0"),
        ({"clients": 1.5}, "clients is 1.5"),
        ({"zeta": 0}, "zeta is 0"),
        ({"zeta": float("nan")}, "zeta is nan"),
        ({"zeta": float("inf")}, "zeta is inf"),
        ({"seed": -1}, "seed is -1"),
        ({"past_classes": [1, 2]}, r"\[2\] are in both"),
        ({"current_classes": []}, "name at least one class"),
        ({"positive": "even"}, "positive is 'even'"),
        ({"positive": [0, 11]}, r"positive is \[0, 11\]"),
        ({"current_classes": [2, 7]}, "class 7 has no samples in data.npz: choose among its classes: 0, 1, 2, 3"),
        ({"potential": "hinge"}, "potential 'hinge' is unknown"),
        ({"features_array": "x"}, "no array 'x': it has features, labels"),
    ],
)
def test_bad_options_are_refused(tmp_path, table, options, message):
    with pytest.raises(InvalidInput, match=message):
        load_data(write_npz(tmp_path / "data.npz", table), **SPLIT | options)


@pytest.mark.parametrize("name", ["none.npz", "none.csv"])
def test_a_missing_file_is_an_error(tmp_path, name):
    with pytest.raises(DataError, match=f"{name} does not exist"):
        load_data(tmp_path / name)


def test_an_unknown_source_lists_what_there_is():
    with pytest.raises(DataError, match='use "digits", or a file that ends in'):
        load_data("mnist")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda x, y: {"features": with_entry(x, 2, 1, np.nan)}, "nan in row 2, column 1"),
        (lambda x, y: {"features": with_entry(x, 2, 2, -np.inf)}, "-inf in row 2, column 2"),
        (lambda x, y: {"labels": y[:-1]}, r"labels of shape \(39,\)"),
        (lambda x, y: {"features": x[:, 0]}, r"features of shape \(40,\)"),
        (lambda x, y: {"labels": y + 0.5}, "the label 0.5 in row 0"),
        (lambda x, y: {"labels": np.where(y == 1, np.nan, y)}, "the label nan in row 10"),
        (lambda x, y: {"labels": y * 1e300}, "the label 1e.300 in row 10"),
        (lambda x, y: {"labels": y.astype(str)}, "array 'labels' of .* holds <U21 values"),
        (lambda x, y: {"features": x.astype(object)}, "'features.npy' holds objects: store plain numbers"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, table, changes, message):
    with pytest.raises(DataError, match=message):
        load_data(write_npz(tmp_path / "data.npz", table, **changes(*table)), **SPLIT)


def test_corrupt_archives_are_refused(tmp_path, table):
    path = write_npz(tmp_path / "data.npz", table)
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[200] ^= 0xFF
    for content in (b"", b"not an archive", whole[: len(whole) // 2], bytes(damaged)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"data\.npz"):
            load_data(path, **SPLIT)
    with path.open("wb") as file:
        np.save(file, table[0])
    with pytest.raises(DataError, match="holds a single array"):
        load_data(path, **SPLIT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has no column 'label': its columns are a, b"),
        ("a,label,label\n1,2,3\n", "has 2 columns 'label'"),
        ("", "its columns are none"),
        ("a,label\n1,0\n2,0\nnan,1\n", "class 1 has no samples"),
        ("a,label\n1,0\n1,inf\n", "has 'inf' in line 3, column 'label'"),
        ("a,label\n1,0\n2,0\n,1\n", "class 1 has no samples"),
        ("a,label\n1,0\n2,1\n3,zero\n", "has 'zero' in line 4, column 'label'"),
        ("a,label\n1,0\n1\n", "line 3 of .* has 1 values and the header 2"),
        ("a,label\n", "has a header and no rows: .* its columns are a, label"),
        ("a,label\n1,0\n", "class 1 has no samples"),
    ],
)
def test_bad_tables_are_refused(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load_data(path, **SPLIT)


def test_a_table_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,label\n\xff\xfe\0,1\n")
    with pytest.raises(DataError, match="cannot be read"):
        load_data(path)
