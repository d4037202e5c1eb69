"""`cflag bridge`: what is asked for reaches the run, its results reach tables and files; errors are one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cflag_theory.bridge.measures.results import BridgeResult, PartResult
from cflag_theory.bridge.settings.presets import PRESETS
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.cli.commands import bridge_actions
from cflag_theory.cli.commands.bridge_actions import method_lines
from cflag_theory.studies.bridge_results.published import PUBLISHED
from cflag_theory.studies.bridge_results.report import NOT_RUN, compare


def result(settings, folder):
    """What a run gives whose accuracies can be told from its method and seed."""
    tasks, rounds = settings.tasks, settings.total_rounds
    parts = []
    for seed in settings.seeds:
        for name in settings.methods:
            a = np.full((tasks, tasks), 50.0)
            for s in range(tasks):
                a[s, : s + 1] = 80.0 + len(name) + seed % 7
            terms = [None] * settings.rounds + [0.5] * (rounds - settings.rounds)
            products = [[None] * settings.clients if term is None else [1.0] * settings.clients for term in terms]
            columns = {"Gamma": terms, "Lambda": products} if name == "c_flag" else {}
            parts.append(
                PartResult(
                    method=name,
                    seed=seed,
                    options={},
                    before=(50.0,) * tasks,
                    accuracy=a,
                    columns=columns,
                    rounds_done=rounds,
                    status="OK",
                    message="",
                    seconds=1.5,
                    gradients=10,
                    communicated=20,
                )
            )
    return BridgeResult(settings.to_json(), tuple(parts), True, {}, ("client 3 has no samples of task 2",), str(folder))


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The settings and folders of every run that was asked for; nothing is computed."""
    monkeypatch.chdir(tmp_path)
    calls = []

    def run_bridge(settings, *, out, preset=None, progress=None, reading=None, anyway=False):
        reading(1, 2)
        calls.append(SimpleNamespace(settings=settings, out=out, preset=preset, anyway=anyway))
        for place, name in enumerate(settings.methods):
            total = settings.total_rounds
            progress(method=name, seed=settings.seeds[0], task=0, round=place + 1, overall=place + 1, total=total)
        out.mkdir(parents=True, exist_ok=True)
        found = result(settings, out)
        (out / "results.json").write_text(json.dumps(found.to_json(), allow_nan=False), encoding="utf-8")
        return found

    monkeypatch.setattr(bridge_actions, "_runner", lambda: run_bridge)
    return calls


def test_a_run_goes_on_elsewhere_only_when_it_is_told_to(cflag, asked):
    for words, wanted in ((), False), (("--resume-anyway",), True):
        assert cflag("bridge", "--method", "ewc", *words)[0] == 0
        assert asked[-1].anyway is wanted
    code, _, err = cflag("bridge", "--list-presets", "--resume-anyway")
    assert (code, "so --resume-anyway has no effect" in err) == (2, True)


@pytest.mark.full
def test_without_arguments_split_digits_with_all_methods(cflag, asked):
    code, _, err = cflag("bridge")
    assert (code, err) == (0, "")
    assert asked.pop().settings == run_settings()
    code, out, err = cflag("bridge", "--seeds", 7, "--details")
    (call,) = asked
    assert (code, err) == (0, "")
    assert (call.settings.data, call.settings.clients, str(call.out), call.preset) == (
        "digits",
        5,
        "bridge-digits",
        None,
    )
    lines = [line.split() for line in out.splitlines()]
    # 80 + the letters of the name + 7 % 7, in accuracy and learning accuracy.
    assert ["ewc", "83.00", "0.00", "83.00", "10", "20", "1", "1.5"] in lines
    # Along tasks, the two other forgettings, and both transfers: unseen tasks have 50, as at the start.
    assert ["ewc", "83.00", "0.00", "0.00", "0.00", "0.00"] in lines
    assert "client 3 has no samples of task 2" in out
    assert ["5", "83.0", "83.0", "83.0", "83.0", "83.0"] in lines
    figures = out.splitlines()[-1]
    for name in ("accuracy.png", "accuracy.svg", "gamma.png", "gamma.svg"):
        assert f"bridge-digits/{name}" in out.replace("\n", "")
        assert (call.out / name).stat().st_size > 1000
    assert figures
    assert json.loads((call.out / "summary.json").read_text(encoding="utf-8"))["methods"][0]["seeds"] == 1


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ("list", "a head a task"),
        ("masked", "one masked head"),
        ("shared", "one head for all"),
        ("growing", "a head that grows"),
    ],
)
def test_the_title_says_what_the_heads_are(cflag, asked, monkeypatch, heads, words):
    # Pictures that no word of the title stands in.
    monkeypatch.setattr(bridge_actions, "keep_study", lambda *_, **__: [])
    code, out, _ = cflag("bridge", "--heads", heads, "--method", "c_flag")
    assert code == 0
    assert out.splitlines()[0] == f"Split-Digits: 5 tasks, 5 clients, zeta = 1, mlp, {words}"


def test_flags_set_and_a_file_reach_the_run(cflag, asked, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('zeta = 0.5\nrounds = 9\nclients = 3\nmethods = ["ewc"]\n', encoding="utf-8")
    flags = ["--rounds", 2, "--method", "c_flag", "--method", "finetune", "--adaptive", "average", "--L", 2]
    more = ["--seeds", "3,5", "--set", "c_flag.clamp=0.25", "--set", "threads=1", "--memory-size", 7, "--lr", 0.5]
    code, _, err = cflag("bridge", file, *flags, *more)
    assert (code, err) == (0, "")
    settings = asked[0].settings
    assert (settings.zeta, settings.rounds, settings.clients) == (0.5, 2, 3)
    assert settings.methods == ("c_flag", "finetune")
    assert (settings.options["c_flag"].adaptive, settings.options["c_flag"].clamp) == ("average", 0.25)
    assert (settings.L, settings.seeds, settings.threads) == (2.0, (3, 5), 1)
    assert (settings.memory_size, settings.lr, str(asked[0].out)) == (7, 0.5, "bridge-mine")


def test_json_holds_results_and_metrics(cflag, asked):
    code, out, _ = cflag("bridge", "--method", "ewc", "--seeds", 7, "--out", "here", "--format", "json")
    (found,) = json.loads(out)
    assert (code, found["settings"]["methods"]) == (0, ["ewc"])
    assert found["runs"][0]["accuracy"][0][0] == 83.0
    assert found["metrics"][0]["metrics"]["average_accuracy"]["mean"] == 83.0
    assert str(asked[0].out) == "here"


@pytest.mark.full
def test_a_preset_runs_all_its_variations_and_draws_them_together(cflag, asked, tmp_path):
    code, out, err = cflag("bridge", "--preset", "figure3-cifar10", "--device", "cpu", "--root", tmp_path)
    assert (code, err) == (0, "")
    assert [call.settings.zeta for call in asked] == [0.1, 1.0, 1e5]
    assert {call.preset for call in asked} == {"figure3-cifar10"}
    assert {call.settings.root for call in asked} == {str(tmp_path)}
    names = [each.name for each in PRESETS["figure3-cifar10"].variations]
    assert [str(call.out) for call in asked] == [f"bridge-paper/{name}" for name in names]
    assert "figure3-cifar10-cifar10-zeta.png" in out.replace("\n", "")
    assert (tmp_path / "bridge-paper" / "figure3-cifar10-cifar10-gamma-1.svg").exists()


def test_a_run_in_this_folder_has_a_name(cflag, asked, monkeypatch, tmp_path):
    cflag("bridge", "--method", "ewc", "--out", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    assert cflag("bridge", "--report", ".", "--out", tmp_path / "page")[0] == 0
    assert "### mine" in (tmp_path / "page" / "runs.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_stored_runs_beside_the_printed_numbers(cflag, asked, tmp_path):
    cflag("bridge", "--preset", "table6-cifar10", "--method", "ewc", "--root", tmp_path)
    folders = [call.out for call in asked]
    code, out, err = cflag("bridge", "--report", *folders, "--format", "json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["notes"] == []
    run = [cell for cell in found["cells"] if cell["verdict"] != NOT_RUN]
    assert {(cell["table"], cell["setting"], cell["method"]) for cell in run} == {
        ("table2", "non-iid", "ewc"),
        ("table3", "iid", "ewc"),
    }
    # Seeds 1234, 1235, 1236.
    assert {cell["measured"]["mean"] for cell in run if cell["metric"] == "accuracy"} == {86.0}
    assert len(found["cells"]) - len(run) == 146
    # The folder of a preset stands for its runs.
    assert json.loads(cflag("bridge", "--report", folders[0].parent, "--format", "json")[1]) == found
    code, out, _ = cflag("bridge", "--report", *folders, "--out", tmp_path / "page")
    assert code == 0
    assert "0 undecided, 146 not run" in out
    page = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    assert "| ewc | accuracy | 75.98 +- 5.10 | 86.00 +- 1.00 |" in page
    assert "| c_flag | accuracy | 89.28 +- 4.98 |  |  |  | not run |" in page
    kept = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))
    assert kept == found
    # Two runs that differ in zeta alone: a curve.
    assert (tmp_path / "page" / "levels-cifar10-zeta.svg").exists()


def test_every_preset_of_a_table_fills_its_cells_and_no_others():
    for each in PRESETS.values():
        for variation in each.variations:
            settings = variation.settings()
            report = compare([("", result(settings, "").to_json())])
            filled = {cell.number.key for cell in report.cells if cell.verdict != NOT_RUN}
            named = [(cell, method) for cell in variation.cells for method in settings.methods]
            wanted = {
                (*cell, method, metric)
                for cell, method in named
                for metric in ("accuracy", "forgetting")
                if (*cell, method, metric) in PUBLISHED and cell[0] != "table6"
            }
            assert wanted <= filled, each.name
            assert all(cell.variant == "" for cell in report.cells), each.name


def test_presets_are_listed_with_what_was_decided(cflag):
    code, out, _ = cflag("bridge", "--list-presets", "--format", "json")
    listed = {each["name"]: each for each in json.loads(out)}
    assert code == 0
    assert set(listed) == set(PRESETS)
    assert listed["table3-cifar10"]["runs"][0]["settings"]["rounds"] == 20
    assert all(len(each["decided"]) >= 4 for each in listed.values())
    code, out, _ = cflag("bridge", "--list-presets")
    assert all(name in out for name in PRESETS)


def test_a_folder_without_data_is_said_and_the_exit_code_is_one(cflag, tmp_path):
    code, out, err = cflag("bridge", "--check-data", tmp_path)
    assert (code, err) == (1, "")
    assert "has no data set" in " ".join(out.split())
    code, out, _ = cflag("bridge", "--check-data", tmp_path, "--format", "json")
    assert (code, json.loads(out)["found"]) == (1, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rounds", 0), "rounds is 0"),
        (("--method", "sgd"), "methods is ['sgd']: use a list of different methods of c_flag,"),
        (("--rounds", 2, "--set", "rounds=3"), "rounds is given by an option and by --set"),
        (("--adaptive", "none", "--set", "c_flag.adaptive=worst"), "c_flag.adaptive is given by an option"),
        (("--seeds", "1,b"), "--seeds '1,b' is not a list of integers"),
        (("--preset", "table9"), "preset 'table9' is unknown: use one of table2-cifar10,"),
        (("a.toml", "b.toml"), "give one TOML file, or --preset"),
        (("a.toml", "--preset", "figure4"), "give one TOML file, or --preset"),
        (("missing.toml",), "cannot read missing.toml"),
        (("--report", "nowhere"), "nowhere/results.json holds no results"),
        (("--report", "--list-presets"), "--report runs nothing, so --list-presets has no effect"),
        (("--report", "--rounds", 3), "so the setting rounds has no effect"),
        (("--check-data", ".", "--out", "x"), "so --out has no effect"),
        (("--list-presets", "--preset", "figure4"), "so the preset has no effect"),
        (("--check-data", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_one_sentence(cflag, asked, arguments, words):
    code, out, err = cflag("bridge", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("cflag: ")
    assert words in err
    assert err.count("\n") == 1
    assert asked == []


def test_an_interrupted_run_says_that_the_same_command_continues(cflag, monkeypatch, tmp_path):
    def stopped(settings, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(bridge_actions, "_runner", lambda: stopped)
    code, out, err = cflag("bridge", "--out", tmp_path / "run")
    sentence = "cflag: interrupted; rounds that were done are kept, and the same command continues\n"
    assert (code, out, err) == (130, "", sentence)
    # Also while torch is imported, for the folder may hold rounds of an earlier call.
    monkeypatch.setattr(bridge_actions, "_runner", lambda: stopped(None))
    assert cflag("bridge", "--out", tmp_path / "run") == (130, "", sentence)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["torchvision"] = None
from cflag_theory.cli import main as cli
for words in (["--report"], ["--list-presets"], ["--check-data", "."], []):
    sys.argv = ["cflag", "bridge", *words]
    try:
        cli.main()
    except SystemExit as ended:
        print(ended.code or 0, file=sys.stderr)
"""


def test_without_torch(tmp_path):
    """Only runs need it; the others import nothing of it."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, cwd=tmp_path)
    needs = "cflag: cflag bridge needs torch, which is not installed: pip install 'cflag-theory[torch]'"
    assert done.stderr.splitlines() == ["0", "0", "1", needs, "2"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_torch_that_cannot_be_loaded(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('libtorch.so: cannot open')")
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from cflag_theory.cli import main as cli;"
    call = "sys.argv = ['cflag', 'bridge']; cli.main()"
    done = subprocess.run([sys.executable, "-c", start + call], capture_output=True, text=True, cwd=tmp_path)
    sentence = "cflag bridge needs torch, which cannot be loaded (libtorch.so: cannot open): pip install"
    assert (done.returncode, done.stderr) == (2, f"cflag: {sentence} 'cflag-theory[torch]'\n")


def test_the_display_has_a_line_a_method_on_a_terminal_and_elsewhere_one_at_times(monkeypatch, capsys):
    def run():
        with method_lines("", ("c_flag", "ewc"), (7, 8), tasks=3) as (advance, read):
            read(30, 400)
            advance(method="c_flag", seed=7, task=0, round=1, overall=1, total=6)
            # A second seed that was continued after four rounds.
            advance(method="ewc", seed=8, task=2, round=2, overall=6, total=6)
        return capsys.readouterr()

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    shown = run()
    assert shown.out == ""
    assert "30 of 400" in shown.err
    assert "task 1/3, round 1, seed 7" in shown.err
    assert "task 3/3, round 2, seed 8" in shown.err
    monkeypatch.delenv("FORCE_COLOR")
    assert run() == ("", "")
    monkeypatch.setattr("cflag_theory.cli.shell.SECONDS_BETWEEN_LINES", -1)
    told = ["30 of 400 images read", "c_flag: task 1/3, round 1, seed 7", "ewc: task 3/3, round 2, seed 8"]
    assert run() == ("", "".join(f"{line}\n" for line in told))


def test_a_real_run_from_the_command_line(cflag, tmp_path):
    """Two methods on two tasks of the digits; the same command once more finds everything done."""
    pytest.importorskip("torch")
    sizes = ["--tasks", 2, "--clients", 2, "--rounds", 2, "--epochs", 1, "--seeds", 7]
    small = [*sizes, "--set", "threads=1", "--out", tmp_path / "run"]
    few = ["--method", "c_flag", "--method", "finetune", "--format", "json"]
    code, out, err = cflag("bridge", *small, *few)
    assert (code, err) == (0, "")
    (found,) = json.loads(out)
    assert found["complete"]
    assert [run["method"] for run in found["runs"]] == ["c_flag", "finetune"]
    for run, summary in zip(found["runs"], found["metrics"], strict=True):
        a = np.array(run["accuracy"])
        assert a.shape == (2, 2)
        assert summary["metrics"]["average_accuracy"]["mean"] == pytest.approx(a[1].mean())
        assert summary["metrics"]["forgetting"]["mean"] == pytest.approx(a[0, 0] - a[1, 0])
    # The first task has no memory, and fine-tuning never has.
    flag, fine = found["metrics"]
    assert flag["Gamma"]["at"] == [2, 3]
    assert fine["Gamma"] is None
    kept = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"results.json", "summary.json", "accuracy.png", "accuracy.svg", "gamma.png", "gamma.svg"} <= kept
    again = json.loads(cflag("bridge", *small, *few)[1])
    assert again == [found]
    code, out, err = cflag("bridge", *small, "--batch", 5)
    assert (code, out) == (2, "")
    assert "holds a run with batch = 16, and this one has 5" in err
