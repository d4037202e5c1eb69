"""Pages of others: the report of `cflag verify --out`, `cflag map` and `cflag errata` on them."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.claims.pages.text import bare
from cflag_theory.claims.uses import arrows, ids
from cflag_theory.cli import claim_map, errata
from cflag_theory.cli.documents import LaTeX, Markdown, breakable
from cflag_theory.cli.report import write_report
from cflag_theory.cli.typeset import mathml, prose
from cflag_theory.verify.folders import verify_folder
from cflag_theory.verify.resting import breaks, sentence

SCAFFOLD = Path(__file__).parents[2] / "docs" / "examples" / "scaffold"
PAGE = r"""
symbol L positive : \text{<script>}
symbol mu nonnegative : \mu
vector x, y
function h; smooth = L; mu = mu
letter h -- a <b>smooth</b> function
let linear = h(x) + <grad h(x), y - x>

claim own.base | Lemma 4 ""><b> $x | <script>alert(1)</script> $ _ \foo
    say h(y) <= linear + L |y - x|^2
    headline it is <i>plain</i>
    prints (4) | $h(y) ≤ h(x)$ & <script>
    proof
        up: smooth h, x, y
        far: square y - x
        hence from up, far
source base = own.base

claim own.next | Theorem 5 | Uses the base
    say h(y) <= linear + 2 L |y - x|^2
    for base: h(y) <= linear + L |y - x|^2 by base
    uses own.wrong | proof, line 2 | by "Lemma <6>"
    proof
        far: square y - x
        hence from base, far

claim own.wrong | Lemma 6\ | Too sharp
    say h(y) <= linear + L/4 |y - x|^2
    repair typo -- L/2 for L/4, 100% <b>sure</b>
        say h(y) <= linear + L/2 |y - x|^2
        proof
            up: smooth h, x, y
            hence from up

claim own.false | Lemma 7 | No repair
    say h(y) <= h(x)
    note see ours.drawn_once
source wrong = own.false

claim own.falls | Theorem 8 | Uses what is false
    say h(y) <= h(x) + L
    for wrong: h(y) <= h(x) by wrong
    proof from wrong
"""
VERDICTS = {"base": "holds", "next": "holds", "wrong": "typo", "false": "false", "falls": "open"}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "lemma.page").write_text(PAGE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def decided(place):
    folder = read_folder(place)
    return folder.book, verify_folder(folder, jobs=1)


@pytest.fixture(scope="module")
def report(decided, tmp_path_factory):
    book, verdicts = decided
    return write_report(tmp_path_factory.mktemp("report"), verdicts, book=book).parent


# The report


def test_the_report_has_the_claims_and_nothing_of_the_ledger(report, decided):
    assert {path.name for path in report.iterdir() if not path.name.startswith(".")} == {
        *("index.html", "ledger-own.html", "ledger.json", "map-own.svg"),
        *(f"derivations-own.{name}.html" for name in ("base", "next", "wrong", "falls")),
    }
    page = (report / "ledger-own.html").read_text(encoding="utf-8")
    rows = {
        attributes["data-row"]: attributes["data-verdict"]
        for tag, attributes in Tags(page).found
        if tag == "tr" and attributes
    }
    assert rows == {f"own.{name}": label for name, label in VERDICTS.items()}
    told = unescape(re.sub(r"<[^>]*>|\s", "", page))
    for words in ("L=1,μ=0x=1y=0h(w)=(1/2)w2", "Anexactinstancehas0ontheleftand-1/4onthe"):
        assert words in told
    assert "say h(y) &lt;= linear + L/4 |y - x|^2\n    repair typo" in page
    assert "<math" in page
    summary = (report / "index.html").read_text(encoding="utf-8")
    for words in ("C-FLAG", "tep sizes", "Replay", "drawn_once</a>", "Figures", "const fields", "Standing"):
        assert words not in page + summary
    assert json.loads((report / "ledger.json").read_text(encoding="utf-8")) == [one.to_json() for one in decided[1]]


def test_a_derivation_stands_beside_its_page(report):
    page = (report / "derivations-own.next.html").read_text(encoding="utf-8")
    assert "hence from base, far</pre>" in page
    assert '<p class="soft small">Square.' in page
    assert "From (A1), (1)." in page
    assert '<a href="ledger-own.html#own.next">' in page


def test_links_lead_somewhere(report):
    pages = {path.name: Tags(path.read_text(encoding="utf-8")).found for path in report.glob("*.html")}
    ids = {name: {attributes.get("id") for _, attributes in tags} for name, tags in pages.items()}
    for name, tags in pages.items():
        for target in (attributes["href"] for tag, attributes in tags if tag == "a"):
            file, _, place = target.partition("#")
            assert (report / (file or name)).is_file()
            assert not place or place in ids[file or name]


def test_what_others_write_stays_text(report):
    for path in report.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        tags = [tag for tag, _ in Tags(text).found]
        assert tags.count("script") == path.name.startswith("ledger")
        assert "i" not in tags
        assert not re.search(r" __\d", text)
        assert "&lt;script&gt;alert(1)" in text or path.name != "ledger-own.html"
        assert text.count("<b>smooth") == text.count("<b>sure") == 0
    ElementTree.parse(report / "map-own.svg")


@pytest.mark.parametrize(
    "latex", [r"\text{<script>}", "{", "a^b^c", r"\href{javascript:alert(1)}{x}", r"\text{<meta>}"]
)
def test_a_formula_is_mathml_or_shown_as_it_is_written(latex):
    assert [tag for tag, _ in Tags(mathml(latex)).found] == ["code"]


def test_a_proof_that_was_found_has_its_derivation(cflag, tmp_path):
    head, claim = (
        PAGE.split("\nclaim own.base")[0],
        "\nclaim own.bare | 1 | No proof\n    say h(y) <= linear + 3 L |y - x|^2\n",
    )
    (tmp_path / "bare.page").write_text(head + claim, encoding="utf-8")
    code, out, _ = cflag("verify", tmp_path / "bare.page", "--out", tmp_path / "report", "--jobs", 1)
    assert (code, out.splitlines()[-1]) == (0, f"report: {tmp_path / 'report' / 'index.html'}")
    page = (tmp_path / "report" / "derivations-own.bare.html").read_text(encoding="utf-8")
    assert ">Smoothness." in page
    assert not re.search(r" __\d", page)


@pytest.mark.parametrize(
    "words",
    ["a <b>x</b> c", "<script>alert(1)</script>", "`<i>`", "x_1 <img src=x>", "$ <b>", "\0<b>\0<i>\0", "1 < x & y <b"],
)
def test_a_sentence_is_text_and_mathml(words):
    made = ElementTree.fromstring(f"<p>{prose(words)}</p>")
    allowed = re.compile(r"p|code|\{http://www.w3.org/1998/Math/MathML\}m\w+")
    assert all(allowed.fullmatch(one.tag) for one in made.iter())


# The map


def test_arrows_are_uses_and_imports(decided):
    book, verdicts = decided
    labels = {one.claim.id: one.verdict for one in verdicts}
    assert labels == {f"own.{name}": label for name, label in VERDICTS.items()}
    assert [(one.user, one.used, one.kind) for one in arrows("own", book)] == [
        ("own.next", "own.wrong", "printed"),
        ("own.next", "own.base", "proof"),
        ("own.falls", "own.false", "proof"),
    ]
    assert ids("own", book) == tuple(labels)
    (root,) = (one for one in breaks("own", labels, book) if one.fates)
    assert (root.claim, root.fates, root.instead) == ("own.false", {"own.falls": "lost"}, ())
    assert "own: 1 claim rests on 1 that is false in some part." in sentence("own", labels, book)


def test_the_map_in_every_form(cflag, place, report, tmp_path):
    code, out, _ = cflag("map", place, "--verdicts", report)
    assert code == 0
    assert "own.false [false] Lemma 7: No repair" in out
    code, out, _ = cflag("map", place / "lemma.page", "own.next", "--verdicts", report)
    assert 'own.wrong [typo] Lemma 6\\: Too sharp  (proof, line 2: by "Lemma <6>")' in out
    assert "own.base [holds]" in out
    assert "own.falls" not in out
    found = json.loads(cflag("map", place, "--format", "json", "--verdicts", report)[1])
    assert found["paper"] == "own"
    assert [one["verdict"] for one in found["claims"]] == [*VERDICTS.values()]
    assert found["arrows"][0]["words"] == 'by "Lemma <6>"'
    dot = cflag("map", place, "--format", "dot", "--verdicts", report)[1]
    assert '"own.wrong" [label="own.wrong\\nLemma 6\\\\", class="typo"];' in dot
    assert '"own.false" -> "own.falls"' in dot
    assert cflag("map", place, "--out", tmp_path / "map.svg", "--verdicts", report)[0] == 0
    drawn = (tmp_path / "map.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(drawn)
    kinds = dict(re.findall(r'<g class="arrow (\w+)"><title>(\S+ uses \S+)', drawn))
    assert {told: kind for kind, told in kinds.items()} == {
        "own.next uses own.base": "printed",
        "own.falls uses own.false": "broken",
    }
    assert "&quot;&quot;&gt;&lt;b&gt; $x" in drawn
    assert "ours" not in re.sub("<style>.*</style>", "", drawn, flags=re.DOTALL)


def test_the_map_of_the_example():
    book = read_folder(SCAFFOLD).book
    found = {
        (one.user.removeprefix("scaffold."), one.used.removeprefix("scaffold.")) for one in arrows("scaffold", book)
    }
    assert found >= {("progress", "lemma7"), ("progress", "lemma8"), ("theorem_convex", "progress")}
    names, among = claim_map.kept("scaffold", "scaffold.progress", book)
    assert {"scaffold.lemma8", "scaffold.theorem_convex"} <= {*names} < {*book.places()}
    assert {one for arrow in among for one in (arrow.user, arrow.used)} <= {*names}


def test_a_map_decides_what_it_draws(cflag, tmp_path):
    (tmp_path / "one.page").write_text("claim own.one | 1 | One\n    say 0 <= 1\n", encoding="utf-8")
    code, out, _ = cflag("map", tmp_path, "own.one", "--jobs", 1)
    assert code == 0
    assert out.startswith("own.one [")


# Errata


def test_errata_have_the_counterexample_and_the_correction(decided):
    book, verdicts = decided
    text = errata.errata(verdicts, "own", Markdown(), book)
    assert text.splitlines()[2] == "# Errata: own"
    item = text.split("### 1. ")[1].split("### 2. ")[0]
    assert "Misprint. `own.wrong`." in item
    assert "**Counterexample:** $L = 1$, $\\mu = 0$; $x = 1$; $y = 0$" in item
    assert "The left side is $0$, the right side is $- \\frac{1}{4}$." in item
    assert "**Proposed correction:** $L/2$ for $L/4$" in item
    assert "(smoothness)" in item
    assert "The statement fails. `own.false`." in text
    assert "`own.falls`" in text.split("## Not decided")[1]
    assert "Standing assumptions" not in text
    assert "cflag show" not in text
    assert not re.search(r" __\d|<script|<b", text.replace("< ", ""))


def test_errata_are_tex_that_is_closed(decided):
    book, verdicts = decided
    text = errata.errata(verdicts, "own", LaTeX(), book)
    assert text.startswith(f"% {errata.MARK}\n")
    for line in text.splitlines():
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0, line
        assert "%" not in re.sub(r"\\%", "", line) or line.startswith("% ")


def test_a_formula_stays_within_its_dollars():
    assert breakable("a $ b % c <script> d\\") == r"a \$ b \% c < script> d"
    assert breakable(r"\\$") == r"\$"


def test_errata_are_written_and_replaced(cflag, place, decided, tmp_path, monkeypatch):
    monkeypatch.setattr("cflag_theory.cli.commands.ledger.decide_pages", lambda folder, **how: decided[1])
    for name in ("list.md", "list.tex"):
        assert cflag("errata", place, "--out", tmp_path / name, "--jobs", 1)[0] == 0
    mine = tmp_path / "mine.md"
    mine.write_text("mine", encoding="utf-8")
    code, _, err = cflag("errata", place, "--out", mine)
    assert (code, mine.read_text(encoding="utf-8")) == (2, "mine")
    assert "was not written by cflag errata" in err


# What is wrong ends in one sentence


def test_a_report_is_written_where_nothing_of_others_is(cflag, place, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for out, words in ((tmp_path / "file", "cannot write to the folder"), (tmp_path, "holds files that cflag did not")):
        code, printed, err = cflag("verify", place, "--out", out)
        assert (code, printed, err.count("\n")) == (2, "", 1)
        assert words in err
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("map", "PLACE", "own.nosuch"), "has no claim 'own.nosuch': it has own.base"),
        (("map", "PLACE", "own.base", "own.next"), "a map is drawn around one claim, not 2: name"),
        (("map", "PLACE", "--paper", "cfl"), "name two papers: leave one out"),
        (("map", "PLACE", "--out", "map.png"), "use a name that ends in .svg, .dot or .json"),
        (("map", "nowhere.page"), "is no page and has none"),
        (("map", "cflag.thm5", "cflag.thm2"), "a map is drawn around one claim, not 2: name"),
        (("errata", "PLACE", "--paper", "cfl"), "name two papers: leave one out"),
        (("errata", "PLACE", "--out", "list.txt"), "use a name that ends in .tex or .md"),
        (("errata", "nowhere.page"), "is no page and has none"),
        (("verify", "PLACE", "own.nosuch", "--out", "report"), "has no claim 'own.nosuch'"),
    ],
)
def test_bad_input(cflag, monkeypatch, place, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = cflag(*(place if one == "PLACE" else one for one in arguments))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("uses own.nosuch | proof | words", "lemma.page, line 3, column 10: no claim is called 'own.nosuch'"),
        ("uses own.one | proof", "lemma.page, line 3, column 5: what a proof uses is written"),
        ("prints (1) | $√2$", "lemma.page, line 3, column 5: a root needs its braces"),
        ("letter L", "a letter is written 'letter L -- meaning'"),
        ("", "has no claim"),
    ],
)
def test_lines_that_nobody_read_before(cflag, tmp_path, line, words):
    head = "claim own.one | 1 | One\n    say 0 <= 1\n    " if line else ""
    (tmp_path / "lemma.page").write_text(f"{head}{line}\n", encoding="utf-8")
    for arguments in (("map", tmp_path), ("errata", tmp_path), ("verify", tmp_path, "--out", tmp_path / "report")):
        code, out, err = cflag(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err


def test_a_mean_of_a_folder_has_no_number_either():
    assert bare("clients __12_i(x) + mu __3 + f __1(y)") == "clients_i(x) + mu + f(y)"
    assert claim_map._place("App. D, Lemma 8, unrolled [from memory]") == "D, Lemma 8"
