"""Runs over seeds: means and bands of what was stored, and curves over one setting at a time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cflag_theory.bridge.settings.run_settings import HOW, RULES, WHERE, run_settings
from cflag_theory.cli.tables.bridge import pair_table
from cflag_theory.studies.bridge_results.summary import ANYWHERE, AXES, holm, levels, same_but_for_zeta, summarise

ONE = [[80.0, 50.0], [60.0, 90.0]]
TWO = [[90.0, None], [50.0, 70.0]]


def run(method, seed, accuracy, **more):
    cost = {"seconds": 2.0, "gradients": 10, "communicated": 30}
    return {"method": method, "seed": seed, "accuracy": accuracy, "status": "OK", "columns": {}} | cost | more


def stored(runs, **changes):
    return {"settings": run_settings({"tasks": 2, "zeta": 1e5, **changes}).to_json(), "runs": runs, "notes": ["a note"]}


def test_means_and_bands_over_seeds():
    summary = summarise(
        stored(
            [run("ewc", 1, ONE), run("ewc", 2, TWO, seconds=4.0, gradients=20, communicated=50), run("c_flag", 1, ONE)]
        )
    )
    assert summary.title == "Split-Digits: 2 tasks, 5 clients, zeta = 100000, mlp, one head for all"
    assert summary.notes == ("a note",)
    ewc, flag = summary.methods
    assert (ewc.method, ewc.seeds, flag.seeds, ewc.seconds) == ("ewc", 2, 1, 3.0)
    assert (ewc.gradients, ewc.communicated) == (15.0, 40.0)
    assert ewc.accuracy == ((85.0, None), (55.0, 80.0))
    assert ewc.metrics["average_accuracy"].mean == pytest.approx((75 + 60) / 2)
    assert ewc.metrics["forgetting"].mean == pytest.approx((20 + 40) / 2)
    assert ewc.metrics["learning_accuracy"].mean == pytest.approx((85 + 80) / 2)
    assert ewc.accuracy_by_task.at == (1, 2)
    assert ewc.accuracy_by_task.mean == pytest.approx((85, 67.5))
    deviation = np.std([80, 90], ddof=1)
    assert ewc.accuracy_by_task.high[0] == pytest.approx(85 + deviation)
    assert flag.accuracy_by_task.low == flag.accuracy_by_task.mean == flag.accuracy_by_task.high == (80.0, 75.0)
    assert flag.metrics["forgetting"].deviation is None
    assert ewc.metrics["forward_transfer"] is None
    (ewc,) = summarise(stored([run("ewc", 1, ONE, before=[49.0, 45.0])])).methods
    assert ewc.metrics["forward_transfer"].mean == 50.0 - 45.0
    assert (ewc.mode, flag.mode) == ("", summary.to_json()["methods"][1]["mode"])
    json.dumps(summary.to_json(), allow_nan=False)


def test_a_seed_that_did_not_end_leaves_no_final_number():
    half = [[80.0, 50.0], [None, None]]
    stopped = [run("ewc", 2, half, status="DIVERGED"), run("ewc", 3, half, status="RUNNING")]
    (ewc,) = summarise(stored([run("ewc", 1, ONE), *stopped])).methods
    assert ewc.metrics["average_accuracy"] is None
    assert ewc.metrics["forgetting"] is None
    assert ewc.accuracy_by_task.mean == (80.0, None)
    assert (ewc.diverged, ewc.unfinished) == (1, 1)


def of(accuracy):
    return [[50.0, 50.0], [accuracy, accuracy]]


def test_every_pair_is_compared_over_the_seeds_that_both_have():
    """Gains of 1, 3 and 5 have t = 3 / (2 / sqrt 3), and p = 1 - t / sqrt(2 + t^2) with 2 degrees of freedom."""
    by_method = {"c_flag": (51, 53, 55), "ewc": (50, 50, 50), "nccl": (60, 60.5, 61.5, 99)}
    runs = [run(name, seed, of(value)) for name, values in by_method.items() for seed, value in enumerate(values)]
    summary = summarise(stored(runs))
    pairs = {(pair.first, pair.second): pair for pair in summary.pairs}
    assert list(pairs) == [("c_flag", "ewc"), ("c_flag", "nccl"), ("ewc", "nccl")]
    t = 3 / (2 / np.sqrt(3))
    first = pairs["c_flag", "ewc"]
    assert (first.gain.mean, first.gain.seeds) == (3.0, 3)
    assert first.p_value == pytest.approx(1 - t / np.sqrt(2 + t * t))
    # Holm: the least of three counts three times, the next one twice, and none less than the one before.
    p = sorted(pair.p_value for pair in summary.pairs)
    assert sorted(pair.adjusted for pair in summary.pairs) == pytest.approx([3 * p[0], max(3 * p[0], 2 * p[1]), p[2]])
    assert holm([0.04, None, 0.03, 0.9]) == [pytest.approx(0.09), None, pytest.approx(0.09), 0.9]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    head, (row, other) = pair_table(summary)
    assert head == ["", "ewc", "nccl"]
    assert row[:2] == ["c_flag", f"3.0 ({first.adjusted:.2g})"]
    assert other[:2] == ["ewc", ""]
    # A seed that did not end is in no pair.
    runs[2]["status"] = "DIVERGED"
    assert summarise(stored(runs)).pairs[0].gain.seeds == 2
    assert summarise(stored(runs[:1])).pairs == ()


def test_runs_beside_each_other_differ_in_zeta_alone():
    runs = [run("c_flag", 1, ONE)]
    changes = [{"zeta": 5.0}, {"zeta": 0.1, "seeds": [1]}, {"zeta": 1.0, "clients": 7}, {"batch": 3, "zeta": 9.0}]
    found = [stored(runs, **one) for one in changes]
    (several,) = same_but_for_zeta(found)
    assert [results["settings"]["zeta"] for results in several] == [0.1, 5.0]
    # Equal settings make one column.
    assert same_but_for_zeta([found[0], found[0]]) == []


def test_terms_beyond_all_sense_make_no_point():
    """Rounds before a run diverges, in float64: finite numbers whose squares are not."""
    columns = {"Gamma": [1.0, 1e200, -1e308], "Lambda": [[1.0, -1.0]] * 3}
    runs = [run("c_flag", seed, ONE, columns=columns, status="DIVERGED") for seed in (1, 2)]
    (flag,) = summarise(stored(runs, clients=2)).methods
    assert (flag.Gamma.at, flag.Gamma.mean) == ((0,), (1.0,))


def test_forgetting_terms_at_the_rounds_that_have_them():
    columns = {"Gamma": [None, 1.0, -2.0], "Lambda": [[None, None], [1.0, -1.0], [0.0, 3.0]]}
    other = {"Gamma": [None, 3.0, -2.0], "Lambda": [[None, None], [2.0, -5.0], [4.0, -3.0]]}
    (flag,) = summarise(stored([run("c_flag", 1, ONE, columns=columns), run("c_flag", 2, TWO, columns=other)])).methods
    assert flag.Gamma.at == (1, 2)
    assert flag.Gamma.mean == (2.0, -2.0)
    assert flag.Gamma.high == pytest.approx((2 + np.sqrt(2), -2))
    # Client by client, round by round: zero interferes.
    assert flag.interfering == ((0.0, 0.5), (1.0, 0.5))


@pytest.mark.parametrize("columns", [{}, {"Gamma": []}, {"Gamma": [None, None], "Lambda": [[None], [None]]}])
def test_without_a_forgetting_term_there_is_no_curve(columns):
    (found,) = summarise(stored([run("finetune", 1, ONE, columns=columns)])).methods
    assert found.Gamma is found.interfering is None


def at(changes, *runs):
    return stored(list(runs), **changes)


def test_curves_over_one_setting_hold_the_others_fixed():
    runs = run("c_flag", 1, ONE), run("c_flag", 2, TWO), run("ewc", 1, ONE)
    found = levels([at({"zeta": 1.0}, *runs), at({"zeta": 0.1}, *runs), at({"zeta": 0.1, "clients": 3}, runs[0])])
    by_axis = {one["axis"]: one for one in found}
    assert set(by_axis) == {"zeta", "clients"}
    zeta, clients = by_axis["zeta"], by_axis["clients"]
    assert [(group["label"], group["x"]) for group in zeta["groups"]] == [("c_flag", [0.1, 1.0]), ("ewc", [0.1, 1.0])]
    assert zeta["groups"][0]["accuracy"]["mean"] == pytest.approx([67.5, 67.5])
    assert zeta["groups"][0]["forgetting"]["mean"] == pytest.approx([30, 30])
    assert zeta["groups"][1]["accuracy"]["low"] == zeta["groups"][1]["accuracy"]["mean"] == [75.0, 75.0]
    assert [(group["label"], group["x"]) for group in clients["groups"]] == [("c_flag", [3, 5])]


def test_the_size_of_memory_with_a_fixed_share_of_it_and_the_share_by_itself():
    one = run("c_flag", 1, ONE)

    def sized(size, sample, zeta=0.1):
        return at({"memory_size": size, "memory_sample": sample, "zeta": zeta}, one)

    found = levels([sized(*one) for one in ((100, 50), (200, 100), (200, 50), (100, 50, 10.0), (200, 100, 10.0))])
    by_axis = {each["axis"]: [(group["label"], group["x"]) for group in each["groups"]] for each in found}
    assert by_axis["memory_size"] == [
        ("c_flag, zeta = 0.1", [100, 200]),
        ("c_flag, zeta = 10.0", [100, 200]),
    ]
    assert by_axis["memory_sample"] == [("c_flag", [50, 100])]
    # Two curves whose other settings differ say so, whatever the methods.
    other = run("ewc", 1, ONE)
    few = [at({"zeta": z, "clients": c}, r) for c, r in ((5, one), (7, other)) for z in (0.1, 1.0)]
    (zeta,) = levels(few)
    assert [group["label"] for group in zeta["groups"]] == ["c_flag, clients = 5", "ewc, clients = 7"]
    few = [at({"zeta": z, "c_flag": {"clamp": c}}, one) for c in (0.0, 0.5) for z in (0.1, 1.0)]
    assert [group["label"] for group in levels(few)[0]["groups"]] == ["c_flag, clamp = 0.0", "c_flag, clamp = 0.5"]
    assert len(by_axis["zeta"]) == 2


def test_no_curve_without_two_levels_and_no_point_without_an_end():
    half = run("c_flag", 1, [[80.0, 50.0], [None, None]])
    assert levels([]) == []
    assert levels([at({"zeta": 1.0}, run("c_flag", 1, ONE)), at({"zeta": 0.1}, half)]) == []
    # Another data set is not another level, and one that only ran elsewhere is no other curve.
    assert levels([at({}, run("c_flag", 1, ONE)), at({"data": "cifar10", "tasks": 2}, run("c_flag", 1, ONE))]) == []
    several = levels([at({"zeta": z, "device": d}, run("c_flag", 1, ONE)) for z, d in ((0.1, "cpu"), (1.0, "cuda"))])
    assert [group["x"] for group in several[0]["groups"]] == [[0.1, 1.0]]
    # Nor one that only wrote more.
    assert {*HOW, *WHERE, "tf32"} <= set(ANYWHERE)
    kept = [at({"zeta": z, "export_models": z == 1}, run("c_flag", 1, ONE)) for z in (0.1, 1.0)]
    assert [group["label"] for group in levels(kept)[0]["groups"]] == ["c_flag"]
    assert len(same_but_for_zeta(kept)[0]) == 2


@pytest.mark.parametrize("name", sorted({*AXES, *ANYWHERE}))
def test_settings_that_are_named_exist(name):
    assert name in RULES
