"""`cflag sharp --algorithm`: the interval, its file that is checked again, what is kept, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from needs import quick

from cflag_theory.worstcase import saving

FEDAVG = ("sharp", "--algorithm", "fedavg", "--E", 2, "--T", 2, "--eta", "1/10")
ONE_ROUND = ("sharp", "--algorithm", "fedavg", "--E", 2, "--T", 1, "--eta", "1/10")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What is kept between these tests."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(autouse=True)
def folder_of_its_own(shared, monkeypatch):
    monkeypatch.setattr(saving, "cache_folder", lambda: shared)


@pytest.fixture
def data(cflag, shared):
    """The file of FEDAVG, written once."""
    if not (file := shared / "out" / "worst_case.json").exists():
        cflag(*FEDAVG, "--out", shared / "out")
    return json.loads(file.read_text())


def test_the_interval_is_printed(cflag):
    code, out, _ = cflag(*FEDAVG)
    assert code == 0
    assert out.startswith("F(x_T) - F* of fedavg, E = 2, T = 2, eta = 1/10: 0.27878")
    assert "every N >= 2 with weights up to 1/2" in out


def test_json_has_all_that_is_promised(cflag):
    code, out, _ = cflag(*FEDAVG, "--N", 1000, "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert {"lower", "upper", "exact_for", "certificate", "seconds"} <= found.keys()
    assert found["lower"] <= 0.2787896160 <= found["upper"]
    assert Fraction(found["upper_exact"]) <= Fraction(found["upper"])


OPTIONS = (
    ("--class", "strongly-convex", "--mu", "1/10", "--measure", "distance"),
    ("--class", "smooth", "--measure", "min-grad"),
    (
        *("--L", 2, "--radius", 3, "--heterogeneity", "1/4", "--measure", "grad"),
        "--server-rate",
        2,
        "--proximal",
        "1/3",
    ),
    ("--N", 1),
)


@pytest.mark.parametrize("more", quick(OPTIONS, OPTIONS[0], OPTIONS[1]))
def test_options_reach_the_setting_and_the_file_is_checked_again(cflag, tmp_path, more):
    code, _, err = cflag(*ONE_ROUND, *more, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    file = tmp_path / "out" / "worst_case.json"
    assert (tmp_path / "out" / "worst_case.png").exists()
    code, out, _ = cflag("verify", file, "--format", "json")
    assert code == 0
    before, after = json.loads(file.read_text()), json.loads(out)
    for option, value in zip(more[::2], more[1::2], strict=True):
        assert str(before[option[2:].replace("-", "_")]) == str(value)
    assert {key: after[key] for key in after} == {key: before[key] for key in after}
    assert after["lower"] <= after["upper"] <= after["lower"] * (1 + 1e-5)


def changed(data, *keys, to):
    *path, last = keys
    for key in path:
        data = data[key]
    data[last] = to(data[last])


@pytest.mark.parametrize(
    ("keys", "to", "message"),
    [
        (("certificate", "bound"), lambda text: str(Fraction(text) * Fraction(999, 1000)), "proves nothing"),
        (("certificate", "pairs", 0, 3), lambda text: str(Fraction(text) + 1), "proves nothing"),
        (("setting", "eta"), lambda text: "1/9", "proves nothing"),
        (("setting", "row", "proximal"), lambda text: "1/10", "proves nothing"),
        (("setting", "radius"), lambda text: "-1", "radius is -1"),
        (("functions", "mu"), lambda value: -1.0, "not those of this setting"),
        (("functions", "clients"), lambda value: value[:1], "not those of this setting"),
        (("functions", "start"), lambda value: value[:1], "should have 1 entries"),
        (("setting",), lambda value: None, "no worst case, see setting, which should be a table"),
        (("setting", "E"), lambda value: 0, "see setting.E, which should be an integer of at least 1"),
        (("setting", "eta"), lambda value: 0.1, "see setting.eta, which should be an integer, or a number in quotes"),
        (("setting", "eta"), lambda value: "1/0", "see setting.eta, which should be an integer, or a number in quotes"),
        (("setting", "row", "estimator"), lambda value: "x", "estimator 'x' is unknown"),
        (("functions", "start"), lambda value: [], "see functions.start, which should be a list of numbers, not empty"),
        (("functions", "start", 0), lambda value: 10**400, "see functions.start, which should be a list of numbers"),
        (("certificate",), lambda value: {}, "see pairs, which is missing and should be a list"),
        (("certificate", "pairs", 0, 0), lambda value: -1, "see pairs[0], which should be three places and a fraction"),
        (
            ("certificate", "rows", 0),
            lambda value: "9" * 5000,
            "see rows[0], which should be an integer, or a number in",
        ),
        (
            ("certificate", "bound"),
            lambda value: 10**400,
            "see bound, which should be an integer, or a number in quotes",
        ),
    ],
)
def test_a_changed_file_is_rejected(cflag, tmp_path, data, keys, to, message):
    changed(data, *keys, to=to)
    (tmp_path / "other.json").write_text(json.dumps(data))
    code, out, err = cflag("verify", tmp_path / "other.json")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_larger_functions_attain_no_more(data):
    """A file whose functions break the hypotheses is scaled until they hold."""
    data["functions"]["start"] = [2 * value for value in data["functions"]["start"]]
    found = saving.recheck(data)
    assert found.lower <= float(found.upper)
    assert found.attained.scale == pytest.approx(4, rel=1e-4)


def test_what_is_kept_is_used_and_checked_again(cflag, tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "cache_folder", lambda: tmp_path)
    first = cflag(*FEDAVG)
    (kept,) = tmp_path.glob("worst-*.json")
    monkeypatch.setattr(saving, "solve_setting", lambda *_, **__: pytest.fail("solved again"))
    assert cflag(*FEDAVG) == first
    monkeypatch.undo()
    monkeypatch.setattr(saving, "cache_folder", lambda: tmp_path)
    data = json.loads(kept.read_text())
    data["certificate"]["bound"] = "0"
    kept.write_text(json.dumps(data))
    assert cflag(*FEDAVG)[1].splitlines()[0] == first[1].splitlines()[0]
    assert json.loads(kept.read_text())["certificate"]["bound"] != "0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FEDAVG[:-2], "a worst case needs one --E, --T and --eta: give all three"),
        ((*FEDAVG, "--E", 3), "a worst case needs one --E"),
        ((*FEDAVG, "--step", "1/2"), "--step does not go with --algorithm: leave it out"),
        ((*FEDAVG, "--n", 2, "--n", 3), "a worst case needs one --n: give it once"),
        (("sharp", "--T", 3), "--T does not go with the lemmas: add --algorithm, or leave it out"),
        ((*FEDAVG[:-1], "a"), "--eta is 'a': use a number such as 1/10 or 0.25"),
        ((*FEDAVG, "--class", "round"), "class 'round' is unknown"),
        (("sharp", "--algorithm", "c_flag_printed", *FEDAVG[3:]), "the worst case of 'c_flag_printed' is not covered"),
        (("sharp", "--algorithm", "adam", *FEDAVG[3:]), "algorithm 'adam' is unknown"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(cflag, arguments, message):
    code, out, err = cflag(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"cflag: {message}")
    assert err.count("\n") == 1


def test_published_bounds_stand_beside_the_interval(cflag):
    assert "No published bound" in cflag("sharp", "--algorithm", "fedavg", "--E", 2, "--T", 2, "--eta", "1/2")[1]
    code, out, _ = cflag(*FEDAVG)
    assert code == 0
    assert "Khaled et al. 2019" in out
    found = json.loads(cflag(*FEDAVG, "--format", "json")[1])["published"]
    assert [one["name"] for one in found] == ["Khaled et al. 2019", "Khaled et al. 2020"]
    assert min(one["factor"] for one in found) > 10


def test_all_published_bounds(cflag, tmp_path, monkeypatch):
    from cflag_theory.studies.worst_cases import published

    monkeypatch.setattr(published, "PUBLISHED", published.PUBLISHED[:1])
    table = published.table
    monkeypatch.setattr(published, "table", lambda **more: table(((2, 1),), **more))
    folder = tmp_path / "bounds"
    code, out, _ = cflag("sharp", "--published", "--out", folder)
    assert code == 0
    assert "Khaled et al. 2019" in out
    assert {path.name for path in folder.glob("published.*")} == {"published.json", "published.png", "published.svg"}
    assert cflag("plot", folder, "--out", tmp_path / "again")[0] == 0
    assert cflag("sharp", "--published", "--T", 3)[0] == 2


FILES = {
    "plain": "def client_step(x, gradient, beta):\n    return x - beta * gradient\n",
    "tracked": "def client_step(x, gradient, grad_g, grad_g_i, beta):\n"
    "    return x - beta * (gradient - grad_g_i + grad_g)\n",
    "pulled": "def client_step(x, x_t, gradient, beta, mu=0.1):\n    return x - beta * (gradient + mu * (x - x_t))\n",
    "clipped": "def client_step(x, gradient, beta):\n    return x - beta * gradient / max(1, abs(gradient).max())\n",
    "aliased": "def client_step(x, gradient, beta):\n    y = x\n    y -= beta * gradient\n    return y\n",
}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("plain", "of client_step, E = 2, T = 2, eta = 1/10: 0.27878"),
        ("tracked", "of client_step, E = 2, T = 2, eta = 1/10: 0.27777"),
        ("pulled", "of client_step, E = 2, T = 2, eta = 1/10: 0.27941"),
        ("clipped", "bad operand type for abs()"),
        # Its trace is that of FedAvg: the run on arrays is not.
        ("aliased", "writes to an array"),
    ],
)
def test_files_of_users_are_traced_and_run(cflag, tmp_path, file, said):
    path = tmp_path / f"{file}.py"
    path.write_text(FILES[file])
    code, out, err = cflag("sharp", "--algorithm", f"{path}:client_step", *FEDAVG[3:])
    assert code == (0 if file in ("plain", "tracked", "pulled") else 2)
    assert said in (err if code else out)


def test_largest_steps_are_printed(cflag):
    code, out, _ = cflag("sharp", "--algorithm", "fedtrack", "--E", 2, "--T", 1, "--eta", "largest")
    assert code == 0
    assert "does not grow up to eta = 2; at" in out
    code, out, _ = cflag("sharp", "--algorithm", "fedtrack", "--E", 2, "--T", 1, "--eta", "largest", "--format", "json")
    assert json.loads(out)["lower"] == "2"


def test_a_short_proof_fits_a_screen(cflag):
    code, out, _ = cflag(*FEDAVG, "--details")
    assert code == 0
    assert "||x_0 - x*|| <= 1" in out
    assert "the sum of these conditions is: measure <= 0.278" in out
    assert len(out.splitlines()) <= 30


def test_c_flags_round_is_posed_by_options(cflag):
    code, out, _ = cflag(
        *("sharp", "--algorithm", "c_flag", "--E", 3, "--T", 2, "--eta", "1/10", "--class", "smooth"),
        *("--measure", "min-grad", "--n", 2, "--order", "0,1", "--m", "1/4", "--r", "1/2"),
    )
    assert code == 0
    assert "2.290452" in out
