"""The page of several runs: every method in every setting, what it gains, seed by seed, and what it costs."""

from __future__ import annotations

import pytest

from cflag_theory.bridge.settings.cfl_presets import Preset, Variation
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.cli.commands import bridge_actions
from cflag_theory.cli.tables.comparison import page
from cflag_theory.studies.bridge_results.evolving import summarise_rounds
from cflag_theory.studies.bridge_results.summary import summarise


def part(method, seed, accuracy, **more):
    a = [[90.0, 50.0], [accuracy, accuracy]]
    cost = {"seconds": 1.0, "gradients": 1000, "communicated": 2000 + seed}
    return {"method": method, "seed": seed, "accuracy": a, "status": "OK", "columns": {}} | cost | more


def stored(runs, **changes):
    return summarise({"settings": run_settings({"tasks": 2} | changes).to_json(), "runs": runs, "notes": ["a note"]})


FIRST = stored(
    [part(*each) for each in (("c_flag", 1, 80), ("c_flag", 2, 84), ("finetune", 1, 71), ("finetune", 2, 73))]
)
LIST = stored([part(*each) for each in (("finetune", 1, 90), ("ewc", 1, 91))], heads="list")
OTHER = stored([part("c_flag", 1, 79), part("c_flag", 2, 79)], mode="paper")


def rows_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_methods_by_setting_and_what_they_gain_and_cost():
    text = page([("first", FIRST), ("list", LIST), ("paper", OTHER)])
    rows = rows_of(text)
    assert ["run", "c_flag", "finetune", "ewc"] in rows
    assert ["first", "82.00 +- 2.83", "72.00 +- 1.41", ""] in rows
    assert ["list", "", "90.00", "91.00"] in rows
    # Forgetting of the first task.
    assert ["first", "8.00 +- 2.83", "18.00 +- 1.41", ""] in rows
    # Gains of 9 and 11: t = 10 / (sqrt 2 / sqrt 2) = 10 with one degree of freedom, p = 2 atan(1 / 10) / pi.
    cells = ["82.00 +- 2.83", "8.00 +- 2.83", "10.00 +- 1.41 (0.063)", "1e+03", "2e+03", "2", "1.0"]
    assert ["c_flag (theory)", *cells] in rows
    assert ["finetune", "72.00 +- 1.41", "18.00 +- 1.41", "", "1e+03", "2e+03", "2", "1.0"] in rows
    assert ["c_flag", "10.0 (0.063)"] in rows
    # C-FLAG alone in a run is in the table of its variants only, against the first.
    assert ["paper", "c_flag (paper)", "79.00 +- 0.00", "11.00 +- 0.00", "-3.00 +- 2.83 (0.37)"] in [
        r[:5] for r in rows
    ]
    assert "### paper" not in text
    assert "a head a task" in text
    assert text.count("- a note") == 2


def test_a_method_that_did_not_end_has_no_number():
    half = part("ewc", 1, 80, status="DIVERGED") | {"accuracy": [[80.0, 50.0], [None, None]]}
    text = page([("run", stored([half, part("finetune", 1, 70)]))])
    assert ["ewc", "1 diverged, 0 not finished"] in [row[:2] for row in rows_of(text)]


def test_one_task_has_no_forgetting():
    """An empty cell: nothing diverged, and nothing is unfinished."""
    alone = stored([part(name, 1, 80) | {"accuracy": [[80.0]]} for name in ("c_flag", "finetune")], tasks=1)
    rows = rows_of(page([("run", alone)]))
    assert ["finetune", "80.00", ""] in [row[:3] for row in rows]
    assert not any("diverged" in cell for row in rows for cell in row)


def test_a_run_with_one_method_has_its_numbers():
    alone = stored([part("c_flag", 1, 80)])
    assert ["c_flag (theory)", "80.00", "10.00"] in [row[:3] for row in rows_of(page([("run", alone)]))]


def test_runs_of_both_protocols_stand_on_one_page():
    columns = {"test_accuracy": [10.0, 20.0], "test_loss": [1.0, 1.0], "f": [None, None]}
    one = {"settings": run_settings(protocol="rounds").to_json(), "runs": [part("fedavg", 1, 0, columns=columns)]}
    text = page([("tasks", LIST), ("a", summarise_rounds(one)), ("b", summarise_rounds(one))])
    assert text.index("## Tasks one after another") < text.index("## Data that change") < text.index("### b")
    assert ["a", "15.00"] in rows_of(text)
    assert "## Tasks" not in page([("a", summarise_rounds(one))])


@pytest.mark.full
def test_small_runs_share_the_cores_and_leave_one_page(cflag, monkeypatch, tmp_path):
    """Processes give what this one does, in the order of the preset."""
    changes = {"data": "digits", "rounds": 1, "seeds": [1, 2], "methods": ["finetune", "c_flag"]}
    small = Preset("small", "", tuple(Variation(f"zeta{zeta}", changes | {"zeta": zeta}) for zeta in (1.0, 9.0)))
    monkeypatch.setattr("cflag_theory.bridge.settings.presets.preset", lambda name: small)
    code, out, err = cflag("bridge", "--preset", "small", "--out", tmp_path / "all")
    assert (code, err) == (0, "")
    assert str(tmp_path / "all" / "small.md") in out.replace("\n", "")
    text = (tmp_path / "all" / "small.md").read_text(encoding="utf-8")
    assert text.index("### zeta1.0") < text.index("### zeta9.0")
    assert (tmp_path / "all" / "zeta9.0" / "accuracy.png").exists()
    alone, _ = bridge_actions._alone(tmp_path / "alone", small.variations[1].settings().to_json(), None, False)
    assert f"| zeta9.0 | {summarise(alone).methods[0].metrics['average_accuracy']} |" in text


def test_digits_all_has_every_setting_once():
    runs = [variation.settings() for variation in preset("digits-all").variations]
    assert runs[0] == run_settings()
    kinds = [(each.mode, each.options["c_flag"].adaptive) for each in runs if each.methods == ("c_flag",)]
    whole = [each for each in runs if len(each.methods) == 6]
    kinds += [(each.mode, "worst") for each in whole if each.heads == "shared" and each.zeta == 1][:3]
    assert len(kinds) == len(set(kinds)) == 3 * 4
    assert {(each.heads, each.zeta) for each in whole} == {(h, z) for h in ("shared", "list") for z in (0.1, 1.0, 1e5)}
    assert all(each.threads == 1 and each.device == "cpu" for each in runs)
    assert len({each.name for each in preset("digits-all").variations}) == len(runs)
