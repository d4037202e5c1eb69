"""`cflag nqm`: the table beside the printed one, files on request, one sentence for what can be fixed."""

from __future__ import annotations

import json

import pytest

from cflag_theory.files import MARKER

SMALL = ("--n", "3", "--N", "2", "--K", "2", "--T", "6", "--grid", "0.01")


def test_the_table_stands_beside_the_printed_one(cflag):
    code, out, err = cflag("nqm", *SMALL, "--replicas", "0", "--no-search")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    printed = next(line for line in lines if line.startswith("  printed"))
    assert printed.split()[1:] == ["0.03", "0.08", "0.33", "0.09", "0.02", "0.01", "0.09", "0.02"]
    assert "of 24 entries agree" in out
    assert sum(line.startswith(("holds  ", "fails  ")) for line in lines) == 6
    assert "Part of" not in out
    flat = " ".join(out.split())
    assert "printed learning rates agree with the best ones here within 0.005 or 10 %, by how fine the grid" in flat
    assert "the agreement is not an independent confirmation" in flat


def test_json_figure_and_file_agree(cflag, tmp_path):
    code, out, _ = cflag("nqm", *SMALL, "--replicas", "4", "--no-search", "--out", tmp_path, "--format", "json")
    assert code == 0
    found = json.loads(out)
    written = json.loads((tmp_path / "nqm.json").read_text(encoding="utf-8"))
    assert len(written.pop("panels")) == 8
    assert found == written
    assert {path.name for path in tmp_path.iterdir()} == {MARKER, "nqm.json", "nqm.png", "nqm.svg"}
    assert found["setting"]["dimension"] == 3
    assert len(found["table"]) == len(found["monte_carlo"]) == 40
    assert found["search"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--T", "0"), "rounds is 0"),
        (("--n", "1"), "dimension is 1"),
        (("--spectrum", "flat"), "use one of linear, log"),
        (("--criterion", "best"), "use one of final, last, all"),
        (("--grid", "0.1"), "grid is 0.1"),
        (("--replicas", "1"), "replicas is 1"),
        (("--distance", "nan"), "distance is nan"),
    ],
)
def test_bad_input_is_one_sentence(cflag, arguments, message):
    code, out, err = cflag("nqm", *SMALL, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_refused_before_the_study(cflag, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, out, err = cflag("nqm", *SMALL, "--out", tmp_path / "file" / "deeper")
    assert (code, out) == (2, "")
    assert err.startswith("cflag: cannot write")
