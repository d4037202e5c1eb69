"""What is said of runs by round: the metric, paired differences, and which printed numbers belong to which settings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS, PRESETS
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.claims.cfl.published import TABLES
from cflag_theory.cli.tables.comparison import page
from cflag_theory.figures import bridge_rounds_figure
from cflag_theory.studies.bridge_results.evolving import printed, summarise_rounds
from cflag_theory.studies.bridge_results.summary import paired


def run(method, seed, accuracy, status="OK", **columns):
    columns = {"test_accuracy": accuracy, "test_loss": [1.0] * len(accuracy), "f": [None] * len(accuracy)} | columns
    return {
        "method": method,
        "seed": seed,
        "columns": columns,
        "status": status,
        "gradients": 7,
        "communicated": 9,
        "seconds": 1.0,
    }


def results(*runs, notes=(), **settings):
    return {
        "settings": run_settings({"protocol": "rounds"} | settings).to_json(),
        "runs": list(runs),
        "notes": list(notes),
    }


RUNS = (
    run("fedavg", 1, [10.0, 20, 30, 40, 50, 60, 0]),
    run("fedavg", 2, [12.0, 22, 32, 42, 52, 62, 2]),
    run("cfl_core", 1, [11.0, 21, 31, 41, 51, 61, 70], f=[None, 3.0, None, 2.0, None, None, 1.0]),
    run("cfl_core", 2, [13.0, 23, 33, 43, 53, 63, 72], f=[None, 5.0, None, 4.0, None, None, 3.0]),
)


def test_the_five_best_and_what_they_gain():
    first, second = summarise_rounds(results(*RUNS)).methods
    assert (first.best.mean, first.last.mean, first.gain) == (41.0, 1.0, None)
    assert (second.best.mean, second.gain.mean, second.gain.deviation) == (
        51.8,
        pytest.approx(10.8),
        pytest.approx(0, abs=1e-9),
    )
    assert (second.past_loss.at, second.past_loss.mean) == ((1, 3, 6), (4.0, 3.0, 2.0))
    # t = 3 / (2 / sqrt 3) with 2 degrees of freedom: p = 1 - t / sqrt(2 + t^2).
    found, p = paired([1.0, 3.0, 5.0])
    t = 3 / (2 / math.sqrt(3))
    assert (found.mean, p) == (3.0, pytest.approx(1 - t / math.sqrt(2 + t * t)))
    assert paired([2.0])[1] is None


def test_what_is_not_finished_has_no_metric():
    stopped = run("cfl_core", 2, [13.0], status="RUNNING")
    found = summarise_rounds(results(*RUNS[:3], stopped)).methods[1]
    assert (found.best, found.gain, found.unfinished) == (None, None, 1)
    alone = summarise_rounds(results(*RUNS[2:])).methods[0]
    assert alone.gain is None


def test_every_printed_number_belongs_to_a_preset():
    cells = {cell: 0 for cell in TABLES}
    for name in PRESETS.keys() - C_FLAG_PRESETS.keys():
        for variation in PRESETS[name].variations:
            settings = variation.settings()
            for method in settings.methods if settings.protocol == "rounds" else ():
                for cell in printed(settings.to_json(), method):
                    cells[cell] += 1
    assert [cell for cell, count in cells.items() if not count] == []
    usual = run_settings(protocol="rounds", data="cifar10").to_json()
    assert [(cell.table, cell.accuracy) for cell in printed(usual, "fedavg")] == [("5", "70.51"), ("6", "70.51")]
    for change in ({"rounds": 499}, {"zeta": 0.3}, {"split": "printed"}, {"cfl_reg": {"keep": 39}}, {"overlap": 0.25}):
        other = run_settings({"protocol": "rounds", "data": "cifar10"} | change).to_json()
        assert printed(other, "cfl_reg") == []


def test_printed_numbers_stand_beside_whole_data_only():
    one = run("fedavg", 1, [70.0] * 6)
    whole = results(one, data="cifar10")
    assert "70.51 +- 0.19 (Table 5); 70.51 +- 0.19 (Table 6)" in page([("whole", summarise_rounds(whole))])
    part = results(one, data="cifar10", notes=("cifar10 has 9 train images, where the published data set has 50000",))
    assert "70.51" not in page([("part", summarise_rounds(part))])


def test_the_figure_shows_accuracy_loss_and_past_loss():
    figure = bridge_rounds_figure(summarise_rounds(results(*RUNS)).to_json())
    left, right = figure.axes
    assert [line.get_label() for line in left.lines] == ["FedAvg", "CFL-Core-Set"]
    np.testing.assert_allclose(left.lines[0].get_ydata(), [11, 21, 31, 41, 51, 61, 1])
    assert right.lines[-1].get_label() == "CFL-Core-Set, past data"
    np.testing.assert_allclose(right.lines[-1].get_xdata(), [1, 3, 6])
