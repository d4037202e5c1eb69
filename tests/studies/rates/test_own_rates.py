"""Rate studies of a user's loss, potential and algorithm: what is claimed of them, and what is kept."""

from __future__ import annotations

import math

import numpy as np

from cflag_theory.figures import rate_figure
from cflag_theory.kernels import everything, finite_sum, own_algorithm, random_glm, uniform
from cflag_theory.studies.rates.families import RateCase
from cflag_theory.studies.rates.past_task import rate
from cflag_theory.studies.rates.store import FILE

RUN = dict(horizons=(16, 32), replicas=2, local_steps=2)
DATA = np.random.default_rng(2).standard_normal((2, 2, 4, 2))


def value(x, row):
    return math.log(1 + (row @ x - 1) ** 2 / 2)


def gradient(x, row):
    z = row @ x - 1
    return z / (1 + z**2 / 2) * row


def loss(**stated):
    return finite_sum((value, gradient), past=list(DATA[0]), current=list(DATA[1]), start=np.ones(2), lower=0, **stated)


def test_nothing_is_proved_with_a_measured_constant():
    measured = rate(loss(), everything(), **RUN)
    L = {name: one.value * 1.2 for name, one in loss().constants.items() if name != "lower"}
    stated = rate(loss(**L), everything(), **RUN)
    assert any(one.proved for one in stated.bounds)
    assert not any(one.proved for one in measured.bounds)
    doubted = [one for one in measured.bounds if any(v is not None for v in one.values)]
    assert doubted
    assert all("L and L_component measured, a lower bound" in one.why for one in doubted)


def test_another_algorithm_has_no_bounds_of_c_flag():
    found = rate(
        loss(), uniform(2), row=own_algorithm(lambda x, gradient, beta: x - beta * gradient, name="mine"), **RUN
    )
    assert (found.title, found.alpha, found.bounds, found.theorem2) == ("own problem, mine", 0, (), (None, None))
    assert found.curves["g"].min_mean[1] < found.curves["g"].min_mean[0]
    # It never sees the past task, so g is what is followed, drawn and said.
    assert (found.objective, found.min_mean, found.band) == ("g", found.curves["g"].min_mean, found.curves["g"].band)
    assert "min ||grad g||^2" in found.sheet().line
    (axes,) = rate_figure(found).axes
    assert [*axes.lines[0].get_ydata()] == list(found.min_mean)
    assert "current task" in axes.get_ylabel()
    assert rate(loss(), uniform(2), **RUN).objective == "f"


def test_a_store_tells_algorithms_and_potentials_apart(tmp_path):
    def study(problem, **more):
        calls = []
        rate(problem, uniform(2), store=tmp_path / FILE, progress=calls.append, **RUN, **more)
        return len((tmp_path / FILE).read_text().splitlines())

    steps = [own_algorithm(lambda x, gradient, beta, c=c: x - beta * c * gradient) for c in (1, 2)]
    problem = loss()
    assert [study(problem), study(problem), study(problem, row=steps[0]), study(problem, row=steps[1])] == [2, 2, 4, 6]
    glms = [random_glm(clients=2, components=4, dimension=2, potential=name) for name in ("cauchy", "cosine")]
    assert [study(one) for one in glms] == [8, 10]


def test_a_setting_of_the_algorithm_may_be_varied(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def step(x, gradient, beta, mu=0.5):\n    return x - beta * (gradient + mu * x)\n")
    case = RateCase(algorithm=f"{path}:step").with_value("mu", 0.25)
    assert case.settings == ("mu=0.25",)
    assert case.problem == "default"
