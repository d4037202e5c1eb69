"""The list of what has to be trusted is what the code imports."""

from __future__ import annotations

from cflag_theory.verify import trusted


def test_the_examiner_trusts_what_it_imports_and_nothing_that_is_checked():
    examiner, coq, _, _ = trusted.trusted()
    assert {"claims/engine/examiner.py", "claims/engine/algebra.py", "claims/engine/terms.py"} <= set(examiner.lines)
    assert not set(examiner.lines) & set(trusted.CHECKED)
    assert set(trusted.CHECKED) <= trusted.imported(trusted.EXAMINER) | trusted.imported(trusted.PAGE)
    assert not any("finder" in name or "coq" in name for name in examiner.lines)
    assert coq.total < examiner.total


def test_the_finder_is_left_out_because_it_is_checked_and_for_no_other_reason(monkeypatch):
    monkeypatch.setattr(trusted, "CHECKED", {})
    trusted.imported.cache_clear()
    assert "claims/engine/finder.py" in trusted.trusted()[0].lines
    trusted.imported.cache_clear()


def test_the_lines_are_counted(capsys):
    trusted.main()
    said = capsys.readouterr().out
    for way in trusted.trusted():
        assert f"{way.way}: {way.total} lines" in said
        for name, count in way.lines.items():
            assert count == len((trusted.PACKAGE / name).read_text(encoding="utf-8").splitlines())
            assert name in said


def test_the_trusted_base_does_not_grow():
    examiner, coq, point, reader = trusted.trusted()
    assert examiner.total <= 3899
    assert coq.total <= 2131
    assert point.total <= 2334
    assert reader.total <= 1435
    for name in ("points", "plain", "printing"):
        assert f"claims/engine/{name}.py" not in examiner.lines
