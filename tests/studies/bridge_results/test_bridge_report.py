"""Measured beside printed: what counts, what is reproduced, and that nothing is filled in."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cflag_theory.bridge.data.formats import differences
from cflag_theory.bridge.measures.results import changed
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.errors import InvalidInput
from cflag_theory.studies.bridge_results.published import PUBLISHED
from cflag_theory.studies.bridge_results.report import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED, compare
from cflag_theory.studies.bridge_results.summary import margin, spread


def matrix(accuracy, forgetting, tasks=5):
    """An accuracy matrix of which both metrics are these: all tasks lose the same, the last loses nothing."""
    a = np.zeros((tasks, tasks))
    a[-1] = accuracy
    for task in range(tasks - 1):
        a[task, task] = accuracy + forgetting
    return a.tolist()


def stored(runs, *, data="cifar10", zeta=1e5, clients=5, **changes):
    given = {"data": data, "zeta": zeta, "clients": clients, "class_order": "shuffled"}
    settings = run_settings(given, **changes).to_json()
    listed = [{"method": method, "seed": seed, "accuracy": a} for method, seed, a in runs]
    return {"settings": settings, "runs": listed, "notes": []}


def seeds(method, pairs):
    return [(method, 1234 + place, matrix(*pair)) for place, pair in enumerate(pairs)]


def cells(report, method, setting="iid", data="cifar10", table="table3"):
    return {
        (cell.number.metric, cell.variant): cell
        for cell in report.cells
        if cell.number.key[:4] == (table, data, setting, method)
    }


def test_without_runs_every_number_is_not_run_and_stays_empty():
    report = compare([])
    assert report.counts() == {REPRODUCED: 0, NOT_REPRODUCED: 0, UNDECIDED: 0, NOT_RUN: 30 + 36 + 64 + 20}
    assert all(cell.measured is None and cell.margin is None for cell in report.cells)
    assert {cell.number.table for cell in report.cells} == {"table2", "table3", "table7", "table8"}
    plain = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert {cell["measured"] for cell in plain["cells"]} == {None}
    assert any(finding["kind"] == "repeated" for finding in plain["findings"])


def test_reproduced_or_not_by_welchs_interval():
    report = compare([("a", stored(seeds("c_flag", [(89.0, 7.0), (90.0, 2.5), (92.5, 0.0)])))])
    found = cells(report, "c_flag")
    accuracy, lost = found["accuracy", ""], found["forgetting", ""]
    assert accuracy.verdict == REPRODUCED
    assert accuracy.measured.mean == pytest.approx((89 + 90 + 92.5) / 3)
    assert (accuracy.measured.seeds, accuracy.number.value) == (3, Fraction("89.28"))
    agrees_with_scipy(accuracy, 89.28, 4.98)
    agrees_with_scipy(lost, 7.23, 5.14)
    # Two of Table 3, and the same run is the column of 5 clients of Table 8.
    assert report.counts()[NOT_RUN] == 150 - 4


def agrees_with_scipy(cell, mean, deviation):
    """Welch's test on the measured values and the printed mean and deviation over three seeds."""
    own = cell.measured
    test = stats.ttest_ind_from_stats(own.mean, own.deviation, own.seeds, mean, deviation, 3, equal_var=False)
    assert (cell.verdict == REPRODUCED) == (test.pvalue >= 0.05)
    # At the end of the margin the test is exactly at its level.
    edge = stats.ttest_ind_from_stats(own.mean, own.deviation, own.seeds, own.mean + cell.margin, deviation, 3, False)
    assert edge.pvalue == pytest.approx(0.05)


def test_what_lies_outside_is_not_reproduced():
    report = compare([("a", stored(seeds("ewc", [(50.0, 22.0), (50.5, 22.1), (49.5, 22.2)]), data="cifar100"))])
    found = cells(report, "ewc", data="cifar100")
    assert found["accuracy", ""].verdict == REPRODUCED
    assert found["forgetting", ""].verdict == NOT_REPRODUCED
    agrees_with_scipy(found["accuracy", ""], 50.48, 1.10)
    agrees_with_scipy(found["forgetting", ""], 30.16, 0.81)


def test_one_seed_decides_nothing():
    report = compare([("a", stored(seeds("ewc", [(75.98, 22.34)])))])
    found = cells(report, "ewc")
    assert {cell.verdict for cell in found.values()} == {UNDECIDED}
    assert all(cell.margin is None and cell.measured.half is None for cell in found.values())


def test_without_a_printed_deviation_the_measured_interval_decides():
    values = [(90.0, 2.0), (91.0, 2.5), (91.5, 2.2)]
    report = compare([("a", stored(seeds("c_flag", values), clients=50))])
    cell = cells(report, "c_flag", "iid clients=50", table="table8")["accuracy", ""]
    low, high = stats.t.interval(0.95, 2, np.mean([v[0] for v in values]), stats.sem([v[0] for v in values]))
    assert cell.margin == pytest.approx((high - low) / 2)
    assert cell.verdict == (REPRODUCED if low <= 90.67 <= high else NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 3}, "other settings than the paper's, rounds = 3 for 20"),
        ({"lr": 0.01}, "lr = 0.01 for 0.0001"),
        ({"heads": "masked"}, "heads = masked for list"),
        ({"zeta": 1.0}, "prints nothing for cifar10, zeta = 1, 5 clients"),
        ({"data": "digits"}, "prints nothing for digits, zeta = 100000, 5 clients"),
        ({"clients": 7}, "prints nothing for cifar10, zeta = 100000, 7 clients"),
        ({"zeta": 0.1, "method": "fedtrack"}, "prints nothing for fedtrack on non-iid cifar10"),
    ],
)
def test_other_runs_fill_no_cell_and_are_named(changes, words):
    method = changes.pop("method", "c_flag") if "method" in changes else "c_flag"
    report = compare([("folder", stored(seeds(method, [(90.0, 5.0), (89.0, 5.5)]), **changes))])
    assert report.counts()[NOT_RUN] == 150
    assert report.notes[0].startswith("folder: ")
    assert words in report.notes[0]


def test_a_run_that_was_stopped_fills_no_cell():
    a = matrix(89.0, 7.0)
    a[-1] = [None] * 5
    report = compare([("folder", stored([("c_flag", 1234, a)]))])
    assert report.counts()[NOT_RUN] == 150
    assert report.notes == ("folder: c_flag on iid cifar10, 5 clients with seed 1234 is not complete; not compared",)


def test_a_run_on_part_of_the_data_fills_no_cell():
    whole = stored(seeds("c_flag", [(89.0, 7.0), (90.0, 7.5)]))
    (difference,) = differences(49999, 10000, (50000, 10000))
    report = compare([("folder", whole | {"notes": ["a note", f"seed 1234: cifar10 has {difference}"]})])
    assert report.counts()[NOT_RUN] == 150
    (note,) = report.notes
    assert note.startswith("folder: seed 1234: cifar10 has 49999 train images, where")
    assert compare([("folder", whole | {"notes": ["a note"]})]).counts()[NOT_RUN] < 150


def test_what_the_paper_leaves_open_makes_a_row_of_its_own():
    runs = seeds("c_flag", [(89.0, 7.0), (90.0, 7.5)])
    one, two = stored(runs), stored(runs, mode="released", c_flag={"clamp": 0.0}, class_order="given")
    found = cells(compare([("one", one), ("two", two)]), "c_flag")
    assert {variant for _, variant in found} == {"", "mode=released, class_order=given, clamp=0.0"}
    # Plain steps have no published rate; their own is no other setting.
    found = cells(compare([("one", stored(runs, mode="theory"))]), "c_flag")
    assert {variant for _, variant in found} == {"mode=theory"}


def test_class_incremental_runs_are_those_of_table_7():
    runs = seeds("lwf", [(43.0, 32.0), (40.0, 30.0)]) + seeds("er_ring", [(43.0, 32.0)])
    report = compare([("one", stored(runs, heads="growing", old_logits="masked"))])
    found = cells(report, "lwf", "iid class-incremental", table="table7")
    assert {key: cell.verdict for key, cell in found.items()} == {
        ("accuracy", "old_logits=masked"): REPRODUCED,
        ("forgetting", "old_logits=masked"): REPRODUCED,
    }
    assert report.notes == ("one: the paper prints nothing for er_ring on iid cifar10, 5 clients, class-incremental",)
    # They fill no cell of the other tables, where the same methods are.
    assert report.counts()[NOT_RUN] == 150 - 2


def test_a_run_that_was_resumed_anyway_counts_and_says_so():
    whole = stored(seeds("c_flag", [(89.0, 7.0), (90.0, 7.5)]))
    change = changed({"what": "torch", "was": "2", "is": "3", "after": {"c_flag-1234": 7}})
    report = compare([("folder", whole | {"notes": ["a note", change]})])
    assert report.counts()[NOT_RUN] < 150
    (note,) = report.notes
    assert note.startswith("folder: resumed anyway: torch was 2 and became 3 (c_flag-1234 after 7 rounds)")


def test_the_same_seed_counts_once():
    runs = seeds("c_flag", [(89.0, 7.0), (90.0, 7.5)])
    report = compare([("one", stored(runs)), ("two", stored(runs[1:]))])
    assert cells(report, "c_flag")["accuracy", ""].measured.seeds == 2
    assert report.notes == (
        "two: c_flag on iid cifar10, 5 clients with seed 1235 is there twice; the first one counts",
    )


def test_a_printed_number_cannot_be_moved_by_what_is_measured():
    before = dict(PUBLISHED)
    compare([("a", stored(seeds("c_flag", [(1.0, 0.0), (2.0, 0.0)])))])
    assert before == PUBLISHED


def test_intervals_of_means():
    values = [80.0, 82.0, 87.0]
    found = spread(values)
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert (found.mean - found.half, found.mean + found.half) == (pytest.approx(low), pytest.approx(high))
    assert found.deviation == pytest.approx(np.std(values, ddof=1))
    assert str(found) == "83.00 +- 3.61"
    assert str(spread([80.0])) == "80.00"
    assert margin(spread([80.0]), 5.0, 3) is None
    assert margin(spread([80.0, 80.0]), 0.0, 3) == 0.0
    with pytest.raises(InvalidInput, match="one seed"):
        spread([])
