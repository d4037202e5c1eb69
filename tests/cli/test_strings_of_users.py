"""Names that users bring, with what pages, pictures and terminals would obey, through all that shows them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

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
