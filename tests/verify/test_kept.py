"""Evidence of earlier runs: the same verdicts from it, and only while nothing has changed and every byte is there."""

from __future__ import annotations

import json

import pytest

from cflag_theory.verify import checks, verify
from cflag_theory.verify import kept as module
from cflag_theory.verify.kept import Kept

IDS = ("cflag.lemma13", "cflag.eq7")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_root", lambda: tmp_path / "evidence")
    return tmp_path / "evidence"


@pytest.fixture
def first(root):
    store = Kept()
    found = [verdict.to_json() for verdict in verify(IDS, kept=store, jobs=1)]
    assert store.used == 0
    return found


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
