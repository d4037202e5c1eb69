"""Timings, ceilings, goals, tables and RESULTS.md, on made-up numbers."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from benchmarks import machine, measure, results_file, sheets
from benchmarks.cases import CASES, Case
from benchmarks.kernels import goals, roofline
from benchmarks.kernels import sheets as kernel_sheets
from benchmarks.kernels.contest import PEERS, Contest, Row, disagreements
from benchmarks.kernels.costs import Cost
from benchmarks.kernels.growth import Growth
from benchmarks.measure import Timing

pytestmark = pytest.mark.full

CEILINGS = {"fma": 2e9, "dgemm": 1e9, "sgemm": 2e9, "triad": 1e8} | {f"read {size}": 1e8 for size in machine.READ_SIZES}


class Clock:
    """Time that passes only where somebody works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Worker:
    """Takes `call` seconds a call and `a_round` seconds a round of all its replicas."""

    def __init__(self, clock, call, a_round, replicas=1):
        self.clock, self.call, self.a_round, self.replicas, self.name = clock, call, a_round, replicas, "worker"
        self.rounds = []

    def run(self, rounds):
        self.rounds.append(rounds)
        self.clock.now += self.call + rounds * self.a_round


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(measure.time, "perf_counter", clock)
    return clock


def test_a_round_is_timed_without_its_call(clock):
    workers = [Worker(clock, 0.5, 0.01, replicas=4), Worker(clock, 0.0, 0.02)]
    batch, single = measure.interleaved(workers, repeats=3, seconds=1.0)
    assert batch.seconds == pytest.approx([0.01 / 4] * 3)
    assert batch.call == pytest.approx(0.5)
    assert single.median == pytest.approx(0.02)
    assert single.call == pytest.approx(0, abs=1e-12)
    assert measure.ratio(single, batch) == pytest.approx((8, 8, 8))


def test_contestants_take_turns(clock):
    seen = []
    workers = [Worker(clock, 0.0, 0.1) for _ in range(3)]
    for place, worker in enumerate(workers):
        worker.run = lambda rounds, worker=worker, place=place: (seen.append(place), Worker.run(worker, rounds))
    measure.interleaved(workers, repeats=3, seconds=0.4)
    timed = seen[-18:]
    assert timed == [0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 0, 0, 2, 2, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("call", "a_round", "expected"),
    [
        (0.0, 0.01, 100),
        (0.1, 0.01, 100),
        (0.9, 0.01, 720),
        (0.0, 5.0, measure.LEAST_ROUNDS),
        (0.0, 1e-6, measure.MOST_ROUNDS),
    ],
)
def test_a_run_is_about_as_long_as_asked(clock, call, a_round, expected):
    """Or eight times as long as what a call costs beside its rounds."""
    assert measure.rounds_for(Worker(clock, call, a_round), 1.0) == pytest.approx(expected, abs=1)


def test_spread_and_ratio_of_noisy_repetitions():
    noisy, ours = Timing((2.0, 4.0, 3.0), 0.0, 10), Timing((1.0, 1.0, 3.0), 0.0, 10)
    assert noisy.median == 3.0
    assert noisy.spread == pytest.approx(1 / 3)
    assert measure.ratio(noisy, ours) == (2.0, 1.0, 4.0)


def test_flops_of_a_round_by_hand():
    case = Case("by hand", N=2, n=10, d=3, E=4, R=5)
    # 22 rows of 16 flops (6 products and 6 sums, a slope of 4); 8 steps of 25.
    needs = roofline.work(case)
    assert needs.gradient_flops == 5 * 22 * 16
    assert needs.flops == 5 * (22 * 16 + 8 * 25)
    # All of g's rows, the expected share of past rows that somebody keeps, the vectors and tables.
    kept = 2 * 10 * 3 * (1 - 0.9**5)
    assert needs.bytes == pytest.approx(8 * (60 + kept + 5 * (6 + 6 + 20)))
    assert roofline.work(case, size=4).bytes == pytest.approx(needs.bytes / 2)


def test_the_slower_ceiling_binds():
    case = CASES["L"]
    needs = roofline.work(case)
    assert roofline.shortest(case, CEILINGS | {"fma": 1.0}) == (needs.flops, "flops")
    seconds, binds = roofline.shortest(case, CEILINGS | {f"read {machine.READ_SIZES[-1]}": 1.0})
    assert (seconds, binds) == (needs.bytes, "bytes")


def made_up(case, ours, peers):
    """A contest in which our round takes `ours` seconds and a peer's `peers[who]`."""
    timing = Timing((ours,) * 3, 0.001, 10)
    rows = [Row("ours bitwise", "bitwise", "", 0.0, timing, (1.0, 1.0, 1.0))]
    for who in PEERS:
        if who in peers:
            theirs = Timing((peers[who],) * 3, 0.0, 10)
            rows.append(Row(who, "a form", "", 1e-15, theirs, measure.ratio(theirs, timing)))
        else:
            rows.append(Row(who, "", note="not installed"))
    bound, binds = roofline.shortest(case, CEILINGS)
    rate = roofline.work(case).flops / case.R / ours
    return Contest(case, tuple(rows), "ours bitwise", ours, bound / case.R, binds, rate)


def test_goals_are_met_at_their_limits_and_not_below():
    batch = made_up(CASES["S x64"], 1.0, {"JAX": 3.0, "PyTorch": 4.99, "NumPy loop": 50.0})
    single = made_up(CASES["S"], 1.0, {"JAX": 1.99, "C": 1.1, "PyTorch": 1.0})
    found = {(goal.name, goal.where): goal for goal in goals.goals([batch, single], [], 1e9)}
    assert {key: goal.met for key, goal in found.items()} == {
        ("JAX over ours", "S x64"): True,
        ("PyTorch over ours", "S x64"): False,
        ("NumPy loop over ours", "S x64"): True,
        ("JAX over ours", "S"): False,
        ("C over ours", "S"): True,
    }
    bound = roofline.work(CASES["S"]).flops / 1e9
    assert found["JAX over ours", "S"].reachable == pytest.approx(1.99 / max(bound, single.bound))


@pytest.mark.parametrize(("share", "met"), [(0.6, True), (0.59, False)])
def test_the_share_of_dgemm_is_a_goal_of_the_largest_case(share, met):
    case = CASES["L x64"]
    seconds = roofline.work(case).flops / case.R / (share * 1e9)
    (goal,) = goals.goals([made_up(case, seconds, {})], [], 1e9)
    assert (goal.name, goal.met) == ("share of dgemm", met)
    assert goal.value == pytest.approx(share)


def test_a_missed_goal_says_by_how_much():
    aims = goals.goals(
        [made_up(CASES["S"], 1.0, {"JAX": 1.5, "C": 1.1})], [Cost("start-up", "", "s", (1.25,), 1.0)], 1e9
    )
    assert [row[4] for row in kernel_sheets.goal_sheet(aims).rows] == ["not met, by 25%", "met", "not met, by 25%"]


def test_costs_with_a_limit_are_goals():
    costs = [
        Cost("two cores", "S", "x", (1.8, 1.9, 2.0), 1.9, at_least=True),
        Cost("start-up", "", "s", (0.9, 1.2, 1.1), 1.0),
        Cost("compilation", "", "s", (9.0,)),
    ]
    assert [(goal.name, goal.met) for goal in goals.goals([], costs, 1.0)] == [("two cores", True), ("start-up", False)]


def test_a_missing_peer_is_a_line_and_no_goal():
    contest = made_up(CASES["S"], 1.0, {"C": 2.0})
    line = kernel_sheets.ratio_sheet([contest]).rows[0]
    assert line[3] == "not installed"
    assert line[-1] == "2.00 (2.00 to 2.00)"
    assert [row[-1] for row in kernel_sheets.time_sheet([contest]).rows].count("not installed") == 4
    assert [goal.name for goal in goals.goals([contest], [], 1.0)] == ["C over ours"]


def test_a_peer_that_disagrees_is_named():
    contest = made_up(CASES["S"], 1.0, {"C": 2.0})
    assert disagreements(contest) == []
    for error in (1e-9, math.nan):
        wrong = [Row("C", "a form", "", error), Row("ours fast, float32", "", "", 1e-6)]
        found = Contest(contest.case, tuple(wrong), "ours bitwise", 1.0, 1.0, "flops", 1.0)
        assert disagreements(found) == [f"S: C differs by {error:.1e}"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00"), (12.345, "12.3"), (1234.5, "1234"), (0.012345, "0.0123"), (1.5e6, "1.50e+06"), (2e-7, "2.00e-07")],
)
def test_numbers_have_three_digits(value, text):
    assert sheets.number(value) == text


def all_sheets():
    contests = [made_up(CASES["S"], 1e-5, {"C": 2e-5}), made_up(CASES["L x64"], 1e-3, {"JAX": 1e-2})]
    costs = [Cost("start-up", "a | b", "s", (0.9, 1.2), 1.0)]
    grown = [Growth("N", (5, 10, 20), {"ours": (1e-5, 2e-5, 4e-5)})]
    aims = goals.goals(contests, costs, 1e9)
    made = [
        kernel_sheets.ratio_sheet(contests),
        kernel_sheets.time_sheet(contests),
        kernel_sheets.roofline_sheet(contests, CEILINGS),
        kernel_sheets.goal_sheet(aims),
        kernel_sheets.growth_sheet(grown),
        kernel_sheets.cost_sheet(costs),
    ]
    return made, {"contests": contests, "costs": costs, "growth": grown, "goals": aims, "ceilings": CEILINGS}


def test_every_row_of_every_sheet_has_all_columns(capsys):
    made, _ = all_sheets()
    for sheet in made:
        assert sheet.rows
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
        assert sheet.text <= set(sheet.columns)
    sheets.show(made)
    shown = capsys.readouterr().out
    assert all(sheet.title in shown for sheet in made)
    for line in sheets.markdown(made):
        if line.startswith("| "):
            assert line.count("|") in {len(sheet.columns) + 1 for sheet in made}


def test_growth_finds_the_power():
    assert Growth("N", (5, 10, 20), {"ours": (1.0, 4.0, 16.0)}).powers["ours"] == pytest.approx(2)


def test_json_is_plain():
    _, results = all_sheets()
    text = json.dumps(sheets.as_json(results | {"nan": math.nan}), allow_nan=False)
    found = json.loads(text)
    assert found["nan"] is None
    assert found["contests"][0]["rows"][0]["timing"]["median"] == 1e-5
    assert found["contests"][1]["case"]["name"] == "L x64"
    assert found["growth"][0]["powers"]["ours"] == pytest.approx(1)
    assert {goal["met"] for goal in found["goals"]} <= {True, False}


def test_a_part_of_the_results_is_replaced_and_the_others_stay():
    text = results_file.rewritten("# Benchmarks\n", "gpu", ["by hand"])
    text = results_file.rewritten(text, "cpu", ["first"])
    text = results_file.rewritten(text, "rate", ["a rate"])
    assert text.index("first") < text.index("a rate") < text.index("by hand")
    again = results_file.rewritten(text, "cpu", ["second"])
    assert "first" not in again
    assert again == text.replace("first", "second")


def test_the_results_have_a_part_of_every_command():
    text = results_file.FILE.read_text(encoding="utf-8")
    for part in ("cpu", "rate", "sweep"):
        begin, end = results_file.marks(part)
        assert 0 <= text.find(begin) < text.find(end)


def test_results_are_written_whole(tmp_path):
    file = tmp_path / "RESULTS.md"
    results_file.write_part("sweep", ["| a |"], file=file)
    results_file.write_part("cpu", ["| b |"], file=file)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# Benchmarks")
    assert text.index("| b |") < text.index("| a |")
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]


def test_the_machine_is_described_without_names_or_paths():
    words = json.dumps(machine.describe())
    for place in (Path.home(), Path.cwd(), Path(sys.executable)):
        assert str(place) not in words
    assert machine.platform.node() not in words
    assert "python -m benchmarks" in "".join(results_file.preamble(machine.describe(), "python -m benchmarks"))
