"""The command line's words as problems, memories and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.errors import DataError, InvalidInput, UnknownName
from cflag_theory.kernels import class_balanced, default_memory, everything, rotation_bias, sign_bias, uniform
from cflag_theory.studies.inputs import DATA_MEMORY, integers, read_memory, read_problem


@pytest.mark.parametrize(
    ("words", "expected"),
    [("0-4", (0, 1, 2, 3, 4)), ("16,32", (16, 32)), (" 3 , 5-6 ", (3, 5, 6)), ("7", (7,)), ("2-2", (2,))],
)
def test_integers(words, expected):
    assert integers(words, "classes") == expected


@pytest.mark.parametrize("words", ["", "a", "1,,2", "1-", "-1", "5-2", "1.5", "1-2-3"])
def test_words_that_are_no_integers(words):
    with pytest.raises(InvalidInput, match=r"classes '.*' is not understood: write 0-4 or 16,32,64"):
        integers(words, "classes")


def test_a_problem_with_its_dials():
    found = read_problem(problem="separable", dials=["clients=2", "potential=cosine", "past=3", "conflict=0.5"], seed=4)
    assert found.clients == 2
    assert found.past.counts.tolist() == [3, 3]
    assert found.start.tolist() != read_problem(problem="separable", dials=["clients=2"], seed=5).start.tolist()
    assert read_problem(problem="default").name == "default"


@pytest.mark.parametrize("dial", ["clients", "=3", "clients=", ""])
def test_a_dial_that_is_no_pair(dial):
    with pytest.raises(InvalidInput, match=r"is not understood: write KEY=VALUE"):
        read_problem(problem="glm", dials=[dial])


@pytest.mark.parametrize(
    ("problem", "dials", "message"),
    [
        ("nosuch", [], "problem 'nosuch' is unknown: use one of default, glm, separable, quadratic"),
        ("glm", ["nosuch=1"], "has no dial 'nosuch': use one of clients"),
        ("glm", ["potential=nosuch"], "potential 'nosuch' is unknown"),
    ],
)
def test_names_that_do_not_exist(problem, dials, message):
    with pytest.raises(UnknownName, match=message):
        read_problem(problem=problem, dials=dials)


@pytest.mark.parametrize("dial", ["clients=0", "clients=2.5", "clients=many", "dimension=-1"])
def test_a_dial_outside_its_range(dial):
    with pytest.raises(InvalidInput, match=rf"^{dial.partition('=')[0]} is "):
        read_problem(problem="glm", dials=[dial])


def test_data_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    file = tmp_path / "rows.npz"
    np.savez(file, features=rng.normal(size=(60, 3)), labels=np.arange(60) % 6)
    found = read_problem(problem="default", data=str(file), clients=1, past_classes="0-2", current_classes="3-5")
    assert found.clients == 1
    assert found.past.counts.sum() == found.current.counts.sum() == 30
    with pytest.raises(DataError, match=r"nosuch\.csv does not exist"):
        read_problem(problem="default", data=str(tmp_path / "nosuch.csv"))
    with pytest.raises(InvalidInput, match="past classes 'zero' is not understood"):
        read_problem(problem="default", data=str(file), past_classes="zero")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clients": 7}, "clients = 7 is about real data: add --data, such as --data digits"),
        ({"zeta": 0.1}, "zeta = 0.1 is about real data"),
        ({"past_classes": "0-2"}, "past classes = 0-2 is about real data"),
        ({"current_classes": "3-5"}, "current classes = 3-5 is about real data"),
        ({"problem": "glm", "data": "digits"}, "problem 'glm' and data 'digits' cannot be used together"),
    ],
)
def test_no_option_is_ignored(options, message):
    with pytest.raises(InvalidInput, match=message):
        read_problem(**{"problem": "default", **options})


NOTHING = {"size": None, "m": None, "redraw": False, "data": False}


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        (None, {}, default_memory()),
        (None, {"data": True}, uniform(DATA_MEMORY)),
        (None, {"size": 3}, uniform(3)),
        (None, {"redraw": True}, uniform(default_memory().size, redraw=True)),
        ("all", {}, everything()),
        ("uniform", {"size": 7, "redraw": True}, uniform(7, redraw=True)),
        ("uniform", {"data": True}, uniform(DATA_MEMORY)),
        ("balanced", {"size": 4}, class_balanced(4)),
        ("sign", {"m": 0.25, "redraw": True}, sign_bias(m=0.25, redraw=True)),
        ("rotation", {"m": 0.25}, rotation_bias(m=0.25)),
    ],
)
def test_memory(kind, options, expected):
    assert read_memory(kind, **{**NOTHING, **options}) == expected


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("nosuch", {}, "memory 'nosuch' is unknown: use all, uniform, balanced, sign or rotation"),
        (None, {"m": 0.5}, "needs a memory whose bias is a dial"),
        ("sign", {}, "memory 'sign' is set by m alone"),
        ("rotation", {"m": 0.5, "size": 3}, "memory 'rotation' is set by m alone"),
        ("uniform", {"m": 0.5}, "m = 0.5 is not a dial of memory 'uniform'"),
        ("uniform", {"size": 0}, "size is 0"),
        ("sign", {"m": -1.0}, "m is -1.0"),
    ],
)
def test_a_memory_that_cannot_be(kind, options, message):
    with pytest.raises(InvalidInput, match=message):
        read_memory(kind, **{**NOTHING, **options})
