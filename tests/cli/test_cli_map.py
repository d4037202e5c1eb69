"""`cflag map`, the layered drawing, and the map on the report's page."""

from __future__ import annotations

import json
import random
import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.uses import ids
from cflag_theory.cli import claim_map, report
from cflag_theory.cli.layers import draw
from cflag_theory.verify.verdict import decide

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path):
    """A report's verdicts: all claims hold but four."""
    found = {id: "holds" for id in LEDGER}
    found |= {"cflag.eq161": "false", "cflag.eq163": "false", "cflag.lemma4": "needs-hypothesis", "cfl.eq21": "false"}
    rows = [{"id": id, "verdict": label, "kind": "claim"} for id, label in found.items()]
    rows[3] |= {"verdict": None, "kind": "assumption"}
    (tmp_path / "ledger.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path


def drawn_at_random(seed):
    draws = random.Random(seed)
    nodes = [f"n{index}" for index in range(draws.randint(1, 40))]
    pairs = [pair for pair in combinations(nodes, 2) if draws.random() < 2.0 / len(nodes)]
    return nodes, pairs, {one: draws.choice([38.0, 53.0, 83.0]) for one in nodes}


def drawn_for(paper):
    names, among = claim_map.kept(paper)
    return names, list(claim_map.one_each(among)), {one: 38.0 + 15.0 * len(claim(one).instead) for one in names}


@pytest.mark.parametrize("graph", [*range(12), "C-FLAG", "CFL"])
def test_boxes_do_not_overlap_and_arrows_go_down_beside_them(graph):
    nodes, edges, heights = drawn_for(graph) if isinstance(graph, str) else drawn_at_random(graph)
    width = 144.0
    drawing = draw(nodes, edges, width=width, heights=heights, most=5)
    boxes = {one: (x - width / 2, y, x + width / 2, y + heights[one]) for one, (x, y) in drawing.at.items()}
    for (left, top, right, bottom), (other, high, far, low) in combinations(boxes.values(), 2):
        assert right < other or far < left or bottom < high or low < top
    assert min(box[0] for box in boxes.values()) >= -1e-9
    assert max(box[2] for box in boxes.values()) <= drawing.width + 1e-9
    assert max(box[3] for box in boxes.values()) <= drawing.height + 1e-9
    rows = {top for _, top, _, _ in boxes.values()}
    assert all(sum(box[1] == top for box in boxes.values()) <= 5 for top in rows)
    for (upper, lower), points in drawing.paths.items():
        assert points[0][1] == boxes[upper][3]
        assert points[-1][1] == boxes[lower][1]
        for (x, y), (right, down) in pairwise(points):
            assert y <= down
            # Where it passes a row it is straight, and meets no box but its own.
            inside = [one for one, box in boxes.items() if box[1] < down and y < box[3] and box[0] < x < box[2]]
            assert x == right or inside in ([], [upper])


def test_arrows_in_a_circle_are_drawn_too():
    drawing = draw(["a", "b"], [("a", "b"), ("b", "a")], width=10.0, heights={"a": 5.0, "b": 5.0})
    assert drawing.at["a"][1] < drawing.at["b"][1]
    assert {*drawing.paths} == {("a", "b"), ("b", "a")}
    assert draw([], [], width=10.0, heights={}).at == {}


def test_few_arrows_cross():
    nodes = ["a", "b", "c", "d"]
    drawing = draw(nodes, [("a", "d"), ("b", "c")], width=10.0, heights=dict.fromkeys(nodes, 5.0))
    (a, b), (d, c) = (sorted(drawing.at[one][0] for one in pair) for pair in (("a", "b"), ("d", "c")))
    assert (drawing.at["a"][0] < drawing.at["b"][0]) == (drawing.at["d"][0] < drawing.at["c"][0])
    assert a < b
    assert d < c


@pytest.mark.parametrize("paper", ["c-flag", "cfl"])
def test_the_picture_has_every_claim_as_a_link_in_its_colour(cflag, folder, paper):
    out = folder / "map.svg"
    code, printed, err = cflag("map", "--paper", paper, "--out", out, "--verdicts", folder)
    assert (code, printed.strip(), err) == (0, f"map: {out}", "")
    root = ElementTree.parse(out).getroot()
    name = {"c-flag": "C-FLAG", "cfl": "CFL"}[paper]
    links = [one.get("href") for one in root.iter(f"{SVG}a") if "node" in one.get("class")]
    assert sorted(links) == sorted(f"ledger-{paper}.html#{id}" for id in ids(name) if claim(id).paper == name)
    assert all(one.find(f"{SVG}title").text for one in root.iter(f"{SVG}a"))
    false = {one.get("href") for one in root.iter(f"{SVG}a") if "false" in one.get("class").split()}
    assert false == {
        f"ledger-{paper}.html#{id}" for id in ("cflag.eq161", "cflag.eq163", "cfl.eq21") if claim(id).paper == name
    }
    # In the widest usual font a letter of a box takes 8 pixels of its upper line, and 6.5 of the others.
    for text in root.iter(f"{SVG}text"):
        if text.get("class") in ("place", "name"):
            assert len(text.text) * {"place": 8, "name": 6.5}[text.get("class")] <= claim_map.WIDTH


def test_red_arrows_are_those_behind_a_false_claim(cflag, folder):
    _, text, _ = cflag("map", "cflag.lemma4", "--format", "svg", "--verdicts", folder)
    arrows = re.findall(r'<g class="arrow (\w+)"><title>(\S+) uses (\S+)', text)
    kinds = {(user, used): kind for kind, user, used in arrows}
    assert kinds["cflag.eq163", "cflag.eq161"] == "broken"
    assert kinds["cflag.lemma4", "cflag.eq166"] == "broken"
    assert kinds["cflag.eq161", "cflag.eq160"] == "printed"
    assert kinds["cflag.thm5", "cflag.lemma4"] == "broken"
    # Only what it rests on and what rests on it.
    assert not any("cflag.eq63" in pair for pair in kinds)


def test_a_tree_around_one_claim(cflag, folder):
    code, out, err = cflag("map", "cflag.lemma4", "--verdicts", folder, "--details")
    assert (code, err) == (0, "")
    assert out.startswith("cflag.lemma4 [needs-hypothesis] Lemma 4: ")
    above, _, below = out.partition("Used by:")
    assert "\n  cflag.eq166 [holds]" in above
    assert "\n    cflag.eq164 [holds]" in above
    assert above.count("cflag.lemma13 [holds]") == above.count("Lemma 13, (110): Client drift, see above") + 1
    assert "\n  cflag.thm5 [holds] Theorem 5" in below
    assert "(Theorem 5, proof: From Theorem 2 and Lem. 4)" in below
    assert "uses claims that are false in some part: cflag.eq161, cflag.eq163." in above
    assert "cflag.lemma4 is true with the repair that is named" in above
    _, brief, _ = cflag("map", "cflag.lemma4", "--verdicts", folder)
    assert any(line.startswith(" " * 4) for line in brief.splitlines())
    assert not any(line.startswith(" " * 6) for line in brief.splitlines())
    assert set(brief.splitlines()) - set(out.splitlines()) == {"What these rest on in turn: --details."}
    _, out, _ = cflag("map", "ours.drawn_once", "--verdicts", folder)
    assert "cflag.lemma9 [holds]" in out


def test_what_a_paper_builds_on_false_claims(cflag, folder):
    code, out, err = cflag("map", "--verdicts", folder / "ledger.json")
    assert (code, err) == (0, "")
    assert "cflag.eq161 [false]" in out
    assert "replaced by: ours.forgetting_step" in out
    assert "true with the repair that is named, by another proof: cflag.lemma4" in out


def test_data_and_dot(cflag, folder):
    _, out, _ = cflag("map", "cflag.thm5", "--format", "json", "--verdicts", folder)
    found = json.loads(out)
    arrows = {(one["user"], one["used"], one["kind"]): one for one in found["arrows"]}
    assert arrows["cflag.thm5", "cflag.lemma4", "printed"]["place"] == "Theorem 5, proof"
    assert {one["id"]: one["verdict"] for one in found["claims"]}["cflag.eq161"] == "false"
    _, out, _ = cflag("map", "--paper", "cfl", "--format", "dot", "--verdicts", folder)
    assert '"cfl.eq20" -> "cfl.eq21"' in out
    assert out.count("{") == out.count("}") == 1


def test_verdicts_are_decided_where_none_are_given(cflag):
    code, out, _ = cflag("map", "cfl.alg5", "--format", "json", "--jobs", 1)
    assert code == 0
    assert {one["id"]: one["verdict"] for one in json.loads(out)["claims"]} == {"cfl.alg5": "typo", "cfl.alg6": "typo"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cflag.lema13",), "did you mean cflag.lemma13"),
        (("cflag.thm5", "--paper", "cfl"), "is not on the map of --paper cfl: leave --paper out"),
        (("ours.fedavg_drift",), "no claim of a paper leads to ours.fedavg_drift"),
        (("--out", "map.png"), "use a name that ends in .svg, .dot or .json"),
        (("--out", "map.svg", "--format", "dot"), "leave --format out"),
        (("--out", "nowhere/map.svg"), "there is no folder 'nowhere'"),
        (("--verdicts", "nowhere"), "cflag verify --out FOLDER writes one"),
    ],
)
def test_bad_input(cflag, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = cflag("map", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_file_that_is_no_ledger(cflag, tmp_path):
    (tmp_path / "ledger.json").write_text('{"a": 1}', encoding="utf-8")
    code, _, err = cflag("map", "--verdicts", tmp_path)
    assert code == 2
    assert "is no ledger of a report (see all of it, which should be a list)" in err


def test_the_report_draws_a_paper_when_all_its_claims_are_decided(tmp_path):
    by_id = {id: decide(claim(id), ()) for id in ids("CFL")}
    (only,) = report._maps(tmp_path, by_id)
    assert only["paper"] == "CFL"
    assert (tmp_path / only["file"]).read_text(encoding="utf-8").startswith("<svg")
    assert {*re.findall(r'href="#([^"]+)"', only["svg"])} <= {*by_id}
    # The page brings the style once.
    assert "<style>" not in only["svg"]
    assert report._maps(tmp_path, {id: by_id[id] for id in [*by_id][1:]}) == []
