"""Names that users bring, with what pages, pictures and terminals would obey, through all that shows them."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from needs import quick

HOSTILE = "\"><script>alert(1)</script> ]]> $x \\foo \x1b[31m \u202e {y} %s & 'q' [/bold]"
# A quotation mark of a page has its other one.
SAID = HOSTILE.replace('"', '""')
PAGE = f"""
symbol L positive : \\text{{<script>}}
vector x, y
function h; smooth = L
let linear = h(x) + <grad h(x), y - x>

claim own.base | Lemma {SAID} | Title {SAID}
    say h(y) <= linear + L |y - x|^2
    headline it is {SAID}
    prints (4) | $h(y) <= h(x)$ {SAID}
    proof
        up: smooth h, x, y
        far: square y - x
        hence from up, far

claim own.false | Lemma 7 {SAID} | No repair {SAID}
    say h(y) <= h(x)
    uses own.base | proof {SAID} | by {SAID}
"""


def obeys_nothing(text, where, *, tags=False):
    """No character that a reader would obey, and in what browsers read no tag of the name's."""
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), where
    assert not tags or not re.search(r"(?<!\\)<script>alert", text), where


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "own.page"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_pages_of_users(cflag, tmp_path, page):
    said = cflag("verify", page, "--out", tmp_path / "report")
    assert said[0] in (0, 1), said
    for command in (("map", page), ("errata", page), ("decide", page)):
        said = cflag(*command)
        assert said[0] in (0, 1), said
        obeys_nothing(said[1] + said[2], command)
    for ending in ("svg", "dot", "json"):
        assert cflag("map", page, "--out", tmp_path / f"map.{ending}")[0] == 0
    for ending in ("tex", "md"):
        assert cflag("errata", page, "--out", tmp_path / f"errata.{ending}")[0] == 0
    ElementTree.parse(tmp_path / "map.svg")
    made = [*tmp_path.glob("map.*"), *tmp_path.glob("errata.*"), *(tmp_path / "report").rglob("*.*")]
    assert len(made) > 8
    for path in made:
        if path.suffix in (".html", ".svg", ".md", ".tex", ".dot", ".json"):
            obeys_nothing(path.read_text("utf-8"), path, tags=path.suffix in (".html", ".svg", ".md"))


def test_tables_and_problems_of_users(cflag, tmp_path):
    quoted = HOSTILE.replace('"', '""').replace("\x1b", "")
    rows = "\n".join(f"{x},{x * x % 7},{x % 2}" for x in range(40))
    path = tmp_path / f"{HOSTILE.replace('/', '')}.csv"
    path.write_text(f'"{quoted}",b,label\n{rows}\n', encoding="utf-8")
    code, out, err = cflag("simulate", "--data", path, "--beta", "0.001", "--T", "2", "--E", "1", "--clients", "1")
    assert code in (0, 2), err
    obeys_nothing(out + err, "table")


#: As names of files and folders may be.
NAME = HOSTILE.replace("/", "|")
CLAIM = """
from fractions import Fraction
from cflag_theory.falsify import Conjecture, Range
claim = Conjecture(name={name!r}, ranges={{"x": Range(0, 1)}}, left=lambda x: x, right=Fraction(1, 2))
"""


def files_obey_nothing(folder):
    """Nothing that a command has written obeys a name; how many files that were."""
    made = [path for path in folder.rglob("*") if path.suffix in (".html", ".svg", ".md", ".tex", ".dot", ".json")]
    for path in made:
        obeys_nothing(path.read_text("utf-8"), path, tags=path.suffix in (".html", ".svg", ".md"))
        if path.suffix == ".svg":
            ElementTree.parse(path)
    return len(made)


def test_claims_and_files_of_python(cflag, tmp_path):
    name = re.sub("[\x1b\u202e]", "", HOSTILE)
    (folder := tmp_path / NAME).mkdir()
    path = folder / f"{NAME}.py"
    path.write_text(CLAIM.format(name=name), encoding="utf-8")
    for words in (("decide", path, "--budget", 50, "--out", folder / "new"), ("conform", path)):
        code, out, err = cflag(*words)
        assert code in (1, 2), err
        obeys_nothing(out + err, words)
    assert files_obey_nothing(folder) == 1
    path.write_text(CLAIM.format(name=HOSTILE), encoding="utf-8")
    code, out, err = cflag("decide", path)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    obeys_nothing(err, "a name of two lines")


@pytest.mark.full
def test_results_in_folders_of_users(cflag, tmp_path):
    out, problem = tmp_path / NAME, ("--problem", "separable", "--dial", "clients=2", "--replicas", 2, "--E", 1)
    study = tmp_path / f"{NAME}.toml"
    study.write_text('[[algorithm]]\nname = "fedavg"\n[run]\nbeta = 0.01\nE = 1\nT = [1, 2]\nseed = [0, 1]\n')
    for words in (
        ("rate", *problem, "--horizons", "2,4", "--out", out / "rate"),
        ("sweep", study, "--jobs", 1, "--out", out / "sweep"),
        ("plot", out / "rate", "--out", out / "plots"),
        ("plot", out / "sweep", "--name", NAME, "--x", "T", "--out", out / "plots"),
        ("simulate", *problem, "--beta", 0.01, "--T", 2, "--out", out / f"{NAME}.csv"),
    ):
        code, said, err = cflag(*words)
        assert code in (0, 2), (words, err)
        obeys_nothing(said + err, words)
    assert files_obey_nothing(out) > 4


@pytest.mark.extra
def test_bridge_runs_of_users(cflag, tmp_path):
    pytest.importorskip("torch")
    run, out = tmp_path / NAME, tmp_path / "out"
    words = "--clients 2 --model linear --method c_flag --rounds 1 --epochs 1 --seeds 1 --memory-size 5"
    code, _, err = cflag("bridge", *words.split(), "--out", run)
    assert code == 0, err
    found = json.loads((run / "results.json").read_text("utf-8"))
    found["notes"].append(HOSTILE)
    (run / "results.json").write_text(json.dumps(found), encoding="utf-8")
    code, said, err = cflag("bridge", "--report", run, "--out", out)
    assert code == 0, err
    obeys_nothing(said + err, "report")
    assert files_obey_nothing(out) > 2


@pytest.mark.parametrize(
    "words", quick([HOSTILE, "$", "$$", "$x", "a $\\foo$ b", "\\frac{", "$\\frac{$ $", "%s {0} ^_", "\0"], of=3)
)
def test_words_in_pictures(tmp_path, words):
    figures = pytest.importorskip("cflag_theory.figures")
    group = {"label": words, "x": [1, 2], "mean": [1.0, 2.0], "low": [1.0, 2.0], "high": [1.0, 2.0]}
    group |= {"diverged": 0, "slope": None}
    drawn = figures.series_figure({"x": words, "y": words, "title": words, "groups": [group, group]})
    assert {path.suffix for path in figures.save(drawn, tmp_path, "it")} == {".png", ".svg"}
    assert files_obey_nothing(tmp_path) == 1
    obeys_nothing(drawn.alt + repr(drawn), "words")
    obeys_nothing(drawn._repr_mimebundle_()["text/html"].partition("base64")[0], "a notebook", tags=True)
