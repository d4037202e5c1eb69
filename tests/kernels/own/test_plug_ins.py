"""FILE.py:name: what it may stand for, and one sentence for what it may not."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.errors import CflagError, DataError
from cflag_theory.kernels import algorithm, make_problem, random_glm, simulate
from cflag_theory.studies.sweeps.check import plan_sweep
from cflag_theory.studies.sweeps.file import read_sweep_file

TEXT = """\
from dataclasses import dataclass
import numpy as np
from cflag_theory.kernels import own_algorithm, random_glm


@dataclass
class Dials:
    size: int = 3


three = 3
fixed = random_glm(clients=2, components=3, dimension=3)
def world(dimension, seed=0):
    return random_glm(clients=2, components=3, dimension=dimension, seed=seed)
def step(x, gradient, beta, mu=0.5):
    return x - beta * (gradient + mu * x)
def server(x_t, displacement):
    return x_t + displacement
made = own_algorithm(step, mu=0.25)
def maker(mu=1.0):
    return own_algorithm(step, mu=mu)
def broken():
    raise RuntimeError("boo")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_name_stands_for_a_problem_or_what_makes_one(mine):
    assert make_problem("mine.py:fixed").dimension == 3
    made = make_problem("mine.py:world", dimension=2, seed=4)
    assert (made.start == random_glm(clients=2, components=3, dimension=2, seed=4).start).all()


@pytest.mark.parametrize(("name", "mu"), [("step", 0.5), ("made", 0.25), ("maker", 1.0), ("server", None)])
def test_a_name_stands_for_an_algorithm_or_its_step(mine, name, mu):
    row = algorithm(f"mine.py:{name}")
    assert dict(row.settings) == ({} if mu is None else {"mu": mu})
    run = dict(beta=0.1, local_steps=2, rounds=3, iterates=True)
    trace = simulate(make_problem("mine.py:fixed"), f"mine.py:{name}", **run)
    if mu is None:
        other = simulate(make_problem("mine.py:fixed"), "fedavg", engine="reference", **run)
        np.testing.assert_array_equal(trace.iterates, other.iterates)
    else:
        assert dict(algorithm(f"mine.py:{name}", mu=2.0).settings) == {"mu": 2.0}


def test_a_file_that_changes_is_read_again(mine):
    assert make_problem("mine.py:fixed").dimension == 3
    mine.write_text(TEXT.replace("dimension=3)", "dimension=5)"), encoding="utf-8")
    assert make_problem("mine.py:fixed").dimension == 5


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (make_problem, "gone.py:fixed", "there is no file 'gone.py'"),
        (make_problem, "mine.py:fixd", "mine.py has no 'fixd': use one of .*fixed"),
        (make_problem, "mine.py:three", "mine.py:three is int: let it name a Problem"),
        (make_problem, "mine.py:broken", r"mine.py:broken raised RuntimeError \(boo\) in line 23 of mine.py"),
        (make_problem, "mine.py:maker", "returned OwnAlgorithm: return a Problem"),
        (make_problem, "mine.py:world", "needs the dial 'dimension'"),
        (algorithm, "mine.py:fixed", "mine.py:fixed is not an algorithm"),
        (algorithm, "mine.py:three", "mine.py:three is not an algorithm"),
        (make_problem, "bad.py:fixed", "bad.py, line 1: "),
        (make_problem, "raising.py:fixed", "raising.py, line 2: ZeroDivisionError: division by zero"),
        (make_problem, "refused.py:fixed", "refused.py, line 2: clients is 0: use an integer of at least 1"),
    ],
)
def test_a_wrong_file_or_name_is_told(mine, make, name, message):
    mine.with_name("bad.py").write_text("def (\n")
    mine.with_name("raising.py").write_text("a = 0\nb = 1 / a\n")
    mine.with_name("refused.py").write_text(
        "from cflag_theory.kernels import random_glm\nfixed = random_glm(clients=0)\n"
    )
    with pytest.raises(CflagError, match=message):
        make(name)
    with pytest.raises(CflagError, match=r"has no dial 'colour'|has no setting 'colour'"):
        make("mine.py:fixed" if make is make_problem else "mine.py:step", colour=1)


SWEEP = """\
[problem]
name = "mine.py:world"
dimension = [2, 3]

[[algorithm]]
name = ["mine.py:step", "mine.py:maker"]
mu = [0, 0.5]

[run]
beta = 0.1
E = 1
T = 2
"""


def test_a_sweep_finds_files_beside_its_own(mine, tmp_path, monkeypatch):
    (tmp_path / "study").mkdir()
    path = tmp_path / "study" / "grid.toml"
    mine.rename(path.with_name("mine.py"))
    path.write_text(SWEEP, encoding="utf-8")
    before = plan_sweep(read_sweep_file(path))
    assert len(before.grid) == 8
    assert [dict(point.algorithm) for point in before.grid.points()][:2] == [
        {"name": "mine.py:step", "mu": 0},
        {"name": "mine.py:step", "mu": 0.5},
    ]
    path.with_name("mine.py").write_text(TEXT + "\n# other\n", encoding="utf-8")
    assert plan_sweep(read_sweep_file(path)).identity != before.identity
    path.write_text(SWEEP.replace("mu = ", "nu = "), encoding="utf-8")
    with pytest.raises(DataError, match=r"grid.toml, line 7: the key 'nu' is unknown"):
        read_sweep_file(path)
    path.write_text(SWEEP.replace("mine.py:world", "mine.py:word"), encoding="utf-8")
    with pytest.raises(DataError, match=r"grid.toml, line 2: .*has no 'word'"):
        read_sweep_file(path)
