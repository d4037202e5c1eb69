"""The report: a page that works offline with the files beside it, written whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import operator
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sympy import symbols

import cflag_theory.figures as figures
from cflag_theory import __version__
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.headlines import headlines
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.standing import PREAMBLE
from cflag_theory.cli.report import derivation, proved_statements
from cflag_theory.cli.safe_steps import box
from cflag_theory.cli.typeset import lines, prose
from cflag_theory.errors import OutputError
from cflag_theory.files import MARKER, check_writable, own_folder
from cflag_theory.kernels import random_separable, uniform
from cflag_theory.studies.nqm.best_rates import Setting
from cflag_theory.studies.nqm.table3 import nqm_study
from cflag_theory.studies.rates import floors
from cflag_theory.studies.rates.cfl import Model, cfl_rate
from cflag_theory.studies.stepsize.conditions import step_sizes
from cflag_theory.verify import rate, write_report
from cflag_theory.verify.checks.c_flag import problem as overfitting

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def rates():
    problem = random_separable(clients=2, past=3, current=3, dimension=2, seed=1)
    study = rate(problem, uniform(1), horizons=(4, 8), replicas=2, local_steps=1).to_json()
    return [study, {**study, "title": "<another>", "r_met": "inf", "m_met": "inf"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, verdicts, rates):
    """A written report, in a folder that had a file of the user's."""
    target = tmp_path_factory.mktemp("report")
    (own_folder(target) / "mine.txt").write_text("mine", encoding="utf-8")
    page = write_report(target, list(verdicts.values()), rates=rates, notes=["A note with <brackets>."])
    assert page == target / "index.html"
    return target


@pytest.fixture(scope="module")
def summary(folder):
    return (folder / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(folder):
    """The claims of the first paper: all that are decided here."""
    return (folder / "ledger-c-flag.html").read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Collects tags with their attributes, and checks that they close."""

    EMPTY = frozenset({"meta", "link", "img", "br", "input", "hr"})

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_files(folder, verdicts):
    names = {path.name for path in folder.iterdir()}
    derived = {f"derivations-{id}.html" for id, verdict in verdicts.items() if proved_statements(verdict.claim)}
    assert derived <= names
    names -= derived
    drawn = {path.stem for path in folder.glob("*.png")}
    assert drawn >= {"rate", "drift"}
    pictures = {f"{name}.png" for name in drawn}
    pages = {"index.html", "ledger-c-flag.html"}
    assert names == {"ledger.json", "rates.json", "cfl_rates.json", "mine.txt", MARKER} | pages | pictures
    assert (folder / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_the_summary_is_small(folder):
    """Claims, derivations and pictures are files beside it."""
    assert (folder / "index.html").stat().st_size < 100_000


@pytest.mark.parametrize("name", ["index.html", "ledger-c-flag.html"])
def test_a_page_loads_nothing_from_elsewhere(folder, name):
    page = (folder / name).read_text(encoding="utf-8")
    reader = Reader(page)
    assert reader.open == []
    for tag, attributes in reader.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or (folder / value.partition("#")[0]).is_file(), value
    bare = page.replace("http://www.w3.org/1998/Math/MathML", "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|\bfetch\(|XMLHttpRequest", bare)


def test_links_lead_somewhere(folder):
    pages = {path.name: Reader(path.read_text(encoding="utf-8")).tags for path in folder.glob("*.html")}
    ids = {name: [has["id"] for _, has in tags if "id" in has] for name, tags in pages.items()}
    assert all(len(found) == len(set(found)) for found in ids.values())
    for name, tags in pages.items():
        for target in (has["href"] for tag, has in tags if tag == "a"):
            file, _, place = target.partition("#")
            assert not place or place in ids[file or name], (name, target)


def test_no_page_has_an_empty_heading_or_a_trivial_hypothesis(folder):
    for path in folder.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(h\d|summary|li|th)[^>]*>\s*</\1>", text), path
        assert not re.search(r"<li>[^/]*1</mn><mo>&#x02264;</mo><mi>[A-Z]</mi></mrow></math>\.</li>", text), path


def test_the_summary_says_what_may_be_cited_and_what_may_not(summary, verdicts):
    may, no = summary.index("You may cite"), summary.index("Do not cite as printed")
    shown = {id: verdicts[id] for id, _ in headlines() if id in verdicts}
    assert {verdict.verdict in ("holds", "loose") for verdict in shown.values()} == {True, False}
    for id, verdict in shown.items():
        at = summary.index(f'<a href="ledger-c-flag.html#{id}"')
        assert (may < at < no) == (verdict.verdict in ("holds", "loose"))


def test_tables_keep_their_headers_on_a_phone(folder):
    for path in folder.glob("*.html"):
        for table in re.findall(r"<table.*?</table>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert all("data-th=" in cell for cell in re.findall(r"<td[^>]*>", table))


def test_a_page_of_derivations(folder, verdicts):
    id = next(id for id, verdict in verdicts.items() if proved_statements(verdict.claim))
    page = (folder / f"derivations-{id}.html").read_text(encoding="utf-8")
    reader = Reader(page)
    assert reader.open == []
    assert ("a", {"href": f"ledger-c-flag.html#{id}"}) in reader.tags
    written = page[: page.index("As its page says it")]
    for _, _, statement in proved_statements(verdicts[id].claim):
        found = derivation(statement)
        assert [line["mark"] for line in found["lines"]] == [str(place + 1) for place in range(len(found["lines"]))]
        marks = {one["mark"] for kind in ("facts", "lines") for one in found[kind]}
        for line in found["lines"]:
            assert f'<span class="mark">{line["mark"]}</span>' in written
            assert {re.sub(r"\D+ of ", "", mark) for mark in line["given"]} <= marks
    assert "<math" in page


class Math:
    """What the page's formulas use of JavaScript."""

    pow, sqrt, exp, abs, min, max, floor = pow, math.sqrt, math.exp, abs, min, max, math.floor


@pytest.mark.parametrize("m", [0.25, 1.5])
@pytest.mark.parametrize("beta", [1e-4, 2e-3])
def test_the_step_sizes_on_the_page_are_those_of_the_command(m, beta):
    """Python evaluates the page's JavaScript, whose formulas are Python's too."""
    at = {"L": 2.0, "m": m, "E": 10, "T": 1000, "alpha": 0.4, "beta": beta, "F": 1.5, "G": 0.7}
    found = step_sizes(
        L=at["L"], m=m, E=10, alpha=0.4, beta=beta, T=1000, gap=at["F"], grad_g=at["G"]
    )  # fmt: skip
    expected = {row.condition: row.holds for row in found.conditions}
    compare = {"<": operator.lt, "<=": operator.le, "==": lambda a, b: abs(a - b) < 1e-12}
    met = {
        one["name"]: compare[one["op"]](*(eval(one[side], {"Math": Math} | at) for side in ("left", "right")))
        for one in box()["conditions"]
    }
    assert met == {name: expected[name] for name in met}
    assert len(met) > 12
    values = {(bound.claim, bound.kind): bound.value for bound in found.bounds}
    compared = 0
    for one in box()["bounds"]:
        value = values[one["claim"], one["kind"]]
        if all(met[name] for name in one["needs"]):
            assert eval(one["value"], {"Math": Math} | at) == pytest.approx(value, rel=1e-12)
            floor = eval(one["floor"], {"Math": Math} | at)
            assert floor == pytest.approx(eval(one["value"], {"Math": Math} | at | {"T": 1e18}), rel=1e-9, abs=1e-15)
            compared += 1
        else:
            assert value is None
    # With m > 1 no claim is proved for any step size.
    assert bool(compared) == (m < 1)


def test_long_formulas_are_broken_outside_of_brackets():
    latex = in_latex(claim("cflag.eq163").parts[1].printed.relation)
    broken = lines(latex)

    def plain(text):
        return re.sub(r"\\left|\\right|\s", "", text)

    assert plain("".join(broken)) == plain(latex)
    assert len(broken) == 4
    assert all(line.count("{") == line.count("}") for line in broken)
    assert lines("a + b = c") == ["a + b = c"]


def test_headlines_are_rows_of_the_ledger_and_say_what_the_documents_say():
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8").replace("`", "")
    assert len(headlines()) >= 20
    for id, why in headlines():
        assert id in LEDGER
        assert why in text


def test_the_page_has_every_claim_with_its_verdict(page, verdicts):
    tags = Reader(page).tags
    ids = {attributes.get("id") for _, attributes in tags}
    for id, verdict in verdicts.items():
        assert id in ids
        assert str(prose(verdict.claim.title)) in page
        start = page.index(f'<details id="{id}"')
        assert f">{verdict.verdict}</span>" in page[start : page.index("</summary>", start)]
        if verdict.counterexample:
            assert f"cflag show {id} --replay" in page
    for line in PREAMBLE["C-FLAG"]:
        assert prose(line) in page


def test_formulas_are_well_formed_mathml(page, verdicts):
    formulas = re.findall(r"<math.*?</math>", page, re.DOTALL)
    stated = sum(
        1 + (part.repair is not None) + (part.sharp is not None) for v in verdicts.values() for part in v.claim.parts
    )
    assert len(formulas) >= stated
    for formula in formulas:
        tree = ElementTree.fromstring(formula)
        words = "".join(tree.itertext())
        assert "\\" not in words
        assert words.strip()


def test_a_derivation_gives_the_multiplier_of_each_fact_that_is_used():
    x, y, z = symbols("x y z", real=True)
    goal = at_most(2 * x, 2 * z)
    facts = (Fact("first", at_most(x, y), ""), Fact("second", equal(y, z), ""))
    last = Obligation("end", goal, ("first", "second"), 2 * slack("first") - 2 * residual("second"))
    found = derivation(Statement("", goal, facts, Proof((last,))))
    assert [(one["mark"], one["fact"].name) for one in found["facts"]] == [("A1", "first"), ("A2", "second")]
    (line,) = found["lines"]
    assert (line["given"], line["sum"].replace(" ", "")) == (["A1", "A2"], "2[A1]+2[A2]")


def test_words_of_the_user_are_escaped(page, summary):
    assert "A note with &lt;brackets&gt;." in summary
    assert "&lt;another&gt;" in page
    assert "<another>" not in page


def test_data_beside_the_page(folder, verdicts, rates):
    def strict(text):
        return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    ledger = strict((folder / "ledger.json").read_text(encoding="utf-8"))
    assert ledger == [verdict.to_json() for verdict in verdicts.values()]
    assert strict((folder / "rates.json").read_text(encoding="utf-8")) == json.loads(json.dumps(rates))


FLOORS, EXPECTED = cache(floors.floors), cache(overfitting.expected_overfitting)


@pytest.fixture
def light(monkeypatch):
    """Figures that cost nothing to write, of results that are computed once."""

    def save(figure, folder, name, formats):
        for extension in formats:
            (folder / f"{name}.{extension}").write_bytes(extension.encode())

    monkeypatch.setattr(figures, "save", save, raising=False)
    monkeypatch.setattr(floors, "floors", FLOORS)
    monkeypatch.setattr(overfitting, "expected_overfitting", EXPECTED)


@pytest.mark.usefixtures("light")
def test_a_page_without_a_rate(tmp_path, verdicts):
    page = write_report(tmp_path / "new" / "folder", [verdicts["cflag.eq65"]], collected="Kept since May.")
    text = page.read_text(encoding="utf-8")
    assert f"cflag-theory {__version__}. Kept since May.<" in text
    assert "cflag.eq65" in (tmp_path / "new" / "folder" / "ledger-c-flag.html").read_text(encoding="utf-8")
    assert not (tmp_path / "new" / "folder" / "rate.png").exists()
    assert Reader(text).open == []


@pytest.mark.full
@pytest.mark.usefixtures("light")
def test_the_pictures_of_the_second_paper(tmp_path, verdicts):
    studies = [cfl_rate(Model(), horizons=(2, 4), replicas=2).to_json()]
    panels = nqm_study(Setting(dimension=2, rounds=2, grid=0.01), replicas=0, searched=False)["panels"]
    text = write_report(tmp_path, [verdicts["cflag.eq65"]], cfl_rates=studies, nqm_panels=panels)
    assert "FedAvg and CFL" in text.read_text(encoding="utf-8")
    assert {"cfl_rate.png", "nqm.png"} <= {path.name for path in tmp_path.iterdir()}
    assert json.loads((tmp_path / "cfl_rates.json").read_text(encoding="utf-8")) == json.loads(json.dumps(studies))


@pytest.mark.usefixtures("light")
def test_another_report_replaces_the_first(tmp_path, verdicts):
    write_report(tmp_path, [verdicts["cflag.eq65"]])
    text = (write_report(tmp_path, [verdicts["cflag.eq22"]]).parent / "ledger-c-flag.html").read_text(encoding="utf-8")
    assert 'id="cflag.eq22"' in text
    assert 'id="cflag.eq65"' not in text
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == [MARKER]


# A user may be root, so permissions are no way to make a folder unwritable.


@pytest.mark.parametrize("below", ["", "report", "a/b/c"])
def test_a_file_in_the_way(tmp_path, verdicts, below):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for write in (check_writable, lambda target: write_report(target, [verdicts["cflag.eq65"]])):
        with pytest.raises(OutputError, match=r"cannot write to the folder .*file.*: choose another with --out"):
            write(tmp_path / "file" / below)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_report_leaves_the_older_one(tmp_path, verdicts, rates, monkeypatch, failure):
    write_report(tmp_path, [verdicts["cflag.eq65"]])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    calls = []

    def stop(figure, folder, name, formats=()):
        calls.append(name)
        (folder / "half.png").write_bytes(b"half")
        if len(calls) == 2:
            raise failure

    monkeypatch.setattr(figures, "save", stop, raising=False)
    with pytest.raises((OutputError, KeyboardInterrupt)) as caught:
        write_report(tmp_path, list(verdicts.values()), rates=rates)
    if isinstance(failure, OSError):
        assert "No space left on device" in str(caught.value)
        assert isinstance(caught.value, OutputError)
    assert calls == ["rate", "drift"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
