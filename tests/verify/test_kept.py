"""Evidence of earlier runs: the same verdicts from it, and only while nothing has changed and every byte is there."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from cflag_theory.cli import first_report
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.verify import checks, verify
from cflag_theory.verify import kept as module
from cflag_theory.verify.kept import Kept

IDS = ("cflag.lemma13", "cflag.eq7")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_root", lambda: tmp_path / "evidence")
    return tmp_path / "evidence"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The verdicts, and the folder of what was kept then."""
    folder = tmp_path_factory.mktemp("kept") / "evidence"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_root", lambda: folder)
        store = Kept()
        found = [verdict.to_json() for verdict in verify(IDS, kept=store, jobs=1)]
    assert store.used == 0
    return found, folder


@pytest.fixture
def first(root, collected):
    shutil.copytree(collected[1], root)
    return collected[0]


@pytest.fixture
def no_checks(monkeypatch, first):
    """Whoever collects evidence fails."""
    monkeypatch.setattr(checks, "CHECKS", dict.fromkeys(IDS))


@pytest.mark.usefixtures("no_checks")
def test_verdicts_follow_from_kept_evidence(first):
    store = Kept()
    assert [verdict.to_json() for verdict in verify(IDS, kept=store, jobs=1)] == first
    assert store.used == 2 * len(IDS)
    assert "--recheck recomputes it" in store.words


@pytest.mark.usefixtures("no_checks")
@pytest.mark.parametrize("settings", [{"seed": 1}, {"level": "full"}])
def test_other_settings_collect_anew(settings):
    with pytest.raises(AttributeError):
        verify(IDS, kept=Kept(), jobs=1, **settings)


@pytest.mark.usefixtures("no_checks")
def test_another_version_collects_anew(monkeypatch):
    monkeypatch.setattr(module, "_version", lambda library: "other")
    with pytest.raises(AttributeError):
        verify(IDS, kept=Kept(), jobs=1)


def test_a_changed_line_of_the_package_is_another_state(tmp_path, monkeypatch):
    (tmp_path / "cflag_theory").mkdir()
    source = tmp_path / "cflag_theory" / "__init__.py"
    source.write_text("x = 1")
    monkeypatch.setattr("cflag_theory.__file__", str(source))
    before = module._state()
    source.write_text("x = 2")
    assert module._state() != before


@pytest.mark.usefixtures("no_checks")
@pytest.mark.parametrize(
    "spoil", [lambda text: text.replace("supports", "refutes"), lambda text: text[:-9], lambda _: ""]
)
def test_damaged_evidence_is_collected_anew(root, first, spoil):
    for path in root.rglob("*.json"):
        path.write_text(spoil(path.read_text("utf-8")), "utf-8")
    with pytest.raises(AttributeError):
        verify(IDS, kept=Kept(), jobs=1)


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(module, "_root", lambda: tmp_path / "file")
    assert verify(IDS[:1], kept=Kept(), jobs=1)[0].verdict == "loose"


def test_the_command_says_when_evidence_was_kept(cflag):
    _, anew, _ = cflag("show", "cflag.eq7")
    _, again, _ = cflag("show", "cflag.eq7")
    assert again.startswith(anew)
    assert "--recheck" in again[len(anew) :]
    assert cflag("show", "cflag.eq7", "--recheck")[1] == anew
    _, json_again, _ = cflag("show", "cflag.eq7", "--format", "json")
    assert json.loads(json_again)["verdict"] == "typo"


@pytest.fixture
def forge(root, first):
    """Puts other evidence on a claim, with a checksum as this package writes it, in the place of what was kept."""

    def put(id, change):
        store = Kept()
        (path,) = root.glob(f"*/{id}-exact-*.json")
        items = change(json.loads(path.read_text("utf-8").partition("\n")[2]))
        text = json.dumps(items)
        path.write_text(f"{store._checksum(path, text)}\n{text}", "utf-8")
        return path

    return put


def refuted(items):
    lie = {"kind": "counterexample", "finding": "refutes", "summary": "\x1b[31mno\x1b]0;owned\x07 \u202e", "data": {}}
    return [{**items[0], **lie, "part": items[0]["part"], "on": "printed"}]


def test_a_forged_refutation_beside_a_proof_raises(forge):
    forge("cflag.lemma13", refuted)
    with pytest.raises(InconsistentEvidence, match="is proved, and yet"):
        verify(["cflag.lemma13"], kept=Kept(), jobs=1, runs=False)


def test_no_terminal_obeys_what_was_forged(forge, cflag, root, monkeypatch):
    monkeypatch.setattr(module, "_root", lambda: root)
    forge("cflag.lemma13", lambda items: [{**one, "summary": f"{one['summary']}\x1b[31m\u202e"} for one in items])
    code, out, err = cflag("show", "cflag.lemma13", "--details")
    assert code == 0
    assert not {"\x1b", "\u202e"} & set(out + err)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda items: {"not": "a list"}, "all of it, which should be a list"),
        (lambda items: [{**items[0], "on": "elsewhere"}], "0].on, which should be one of printed, repair, sharp"),
        (lambda items: [{**items[0], "finding": None}], "0].finding, which should be one of supports"),
        (lambda items: [{"kind": "proof"}], "0].part, which is missing and should be a word"),
        (lambda items: [{**items[0], "part": "no such part"}], "has no part 'no such part'"),
        (lambda items: [{**items[0], "more": 1}], "unexpected keyword"),
    ],
)
def test_evidence_of_another_form_is_collected_anew(forge, first, caplog, change, words):
    forge("cflag.lemma13", change)
    (again,) = verify(["cflag.lemma13"], kept=Kept(), jobs=1)
    assert again.to_json() == first[0]
    assert words in caplog.text


def test_a_kept_refutation_is_put_in_again(forge, first, caplog):
    def change(items):
        for one in items:
            if one["finding"] == "refutes":
                one["data"]["values"] = dict.fromkeys(one["data"]["values"], "0")
        return items

    forge("cflag.eq7", change)
    (again,) = verify(["cflag.eq7"], kept=Kept(), jobs=1)
    assert again.to_json() == first[1]
    assert "cflag.eq7 is not believed" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.name == "nt", reason="needs owners and modes")
@pytest.mark.parametrize("spoiled", ["root", "state", "file", "another's"])
def test_what_others_may_write_is_not_believed(root, forge, first, caplog, monkeypatch, spoiled):
    path = forge("cflag.lemma13", refuted)
    place = {"root": root, "state": path.parent}.get(spoiled, path)
    if spoiled == "another's":
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
        monkeypatch.setattr(os, "chmod", lambda *_: None)
    else:
        place.chmod(0o777)
    store = Kept()
    found = [verdict.to_json() for verdict in verify(["cflag.lemma13"], kept=store, jobs=1, runs=False)]
    assert found[0]["verdict"] == first[0]["verdict"] == "loose"
    assert store.used == 0
    words = "belongs to another user" if spoiled == "another's" else f"others may write to {place}"
    assert words in caplog.text
    assert path.exists()


def test_evidence_of_another_claim_or_version_under_this_name_is_not_believed(root, first, caplog):
    one, other = (next(root.glob(f"*/{id}-exact-*.json")) for id in IDS)
    one.write_bytes(other.read_bytes())
    (again,) = verify(IDS[:1], kept=Kept(), jobs=1)
    assert again.to_json() == first[0]
    assert "it is not what was kept under this name" in caplog.text


def test_a_second_report_makes_nothing_anew(root, first, tmp_path, monkeypatch):
    monkeypatch.setattr(first_report, "REPORT", {"a study, of two words": None})
    monkeypatch.setattr(first_report, "report_study", lambda name, seed: {"notes": [f"{name}, seed {seed}"]})
    monkeypatch.setattr("cflag_theory.cli.report._figures", lambda *found: [])
    verdicts = verify(IDS, kept=Kept(), jobs=1)

    def written(name, seed=0):
        page = first_report.Report(tmp_path / name, verdicts, seed, 1, Kept()).write(verdicts)
        return {path.name: path.read_bytes() for path in page.parent.iterdir()}

    anew = written("anew")
    assert b"a study, of two words, seed 0" in anew["index.html"]
    assert {f"derivations-{id}.html" for id in IDS} <= anew.keys()
    monkeypatch.setattr(first_report, "_made", None)
    assert written("again") == anew
    with pytest.raises(TypeError):
        written("another seed", seed=1)
    for path in root.glob("*/*-derivation-*.json"):
        path.write_text(path.read_text("utf-8").replace("e", "f"), "utf-8")
    with pytest.raises(TypeError):
        written("damaged")
