"""`sharp`, as a function and as a command."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.studies.worst_cases import constants as study
from cflag_theory.studies.worst_cases.constants import parse_order, parse_step, pieces
from cflag_theory.studies.worst_cases.curves import sharp_curves
from cflag_theory.studies.worst_cases.lemmas import LEMMAS
from cflag_theory.studies.worst_cases.ranges import largest_step
from cflag_theory.verify import sharp
from cflag_theory.verify.instances.recursions import local_worst


@pytest.fixture(scope="module")
def found():
    return sharp(n=(1, 3), local_steps=(3, 6), u=(Fraction(1, 12), Fraction(1, 4), Fraction(20)))


def test_every_case_is_there_once(found):
    keys = [(row.lemma, row.n, row.local_steps, row.u) for row in found.rows]
    assert len(set(keys)) == len(keys) == len(LEMMAS) * 2 * 2 * 3
    assert [one.local_steps for one in found.union] == [3, 6]
    assert len(found.ranges) == len(LEMMAS) * 2 * 2


def test_paper_worst_case_and_instance_are_in_order(found):
    for row in found.rows:
        assert row.met <= row.worst
        assert row.worst <= row.supremum[1]
        if row.in_range:
            assert row.worst <= row.printed
        if row.lemma != "cflag.lemma12":
            assert row.met == row.worst
        assert row.holds == (row.worst <= row.printed)
    assert {row.holds for row in found.rows} == {True, False}
    assert {row.how for row in found.rows} == {"proof", "enumeration", "argument"}


def test_the_printed_range_has_its_end(found):
    ends = {"cflag.lemma12": 20, "cflag.cor14": Fraction(1, 12), "cflag.lemma16": Fraction(1, 12)}
    for row in found.rows:
        assert row.in_range == (row.u <= ends.get(row.lemma, Fraction(1, 4)))


def test_ranges_agree_with_rows(found):
    ends = {(one.lemma, one.n, one.local_steps): one.largest for one in found.ranges}
    for row in found.rows:
        end = ends[row.lemma, row.n, row.local_steps]
        assert row.holds == (end is None or row.u <= end[0])


def test_it_is_plain_json(found):
    again = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert set(again) == {"rows", "ranges", "lemma3", "lemma3_at_printed_step_many_local_steps"}
    row = next(one for one in again["rows"] if one["lemma"] == "cflag.lemma13" and one["n"] == 1 and one["E"] == 3)
    # d_2 / (2 beta) = 1 + beta L / 2.
    assert row["worst_exact"] == row["met_exact"] == str(1 + Fraction(1, 12) / 3 / 2)
    assert row["order"] == [0, 0]
    assert row["holds"] is True
    assert again["ranges"][0]["largest_for_all_n_E"] is None


def test_an_order_can_be_given():
    (row,) = sharp(["lemma13"], n=(2,), local_steps=(4,), u=(Fraction(1, 4),), order=(1, 1, 0)).rows
    (worst,) = sharp(["lemma13"], n=(2,), local_steps=(4,), u=(Fraction(1, 4),)).rows
    assert row.how == "given"
    assert row.met == row.worst < worst.worst
    (named,) = sharp(["cflag.cor14"], n=(2,), local_steps=(4,), u=(Fraction(1, 4),), order="cyclic").rows
    assert named.order == (0, 1, 0)
    # The error is largest before the stale component is refreshed.
    (late,) = sharp(["cor14"], n=(2,), local_steps=(5,), u=(Fraction(8),), order=(0, 0, 0, 1)).rows
    errors = local_worst((0, 0, 0, 1), n=2, step=Fraction(8, 5)).error
    assert late.met == late.worst == errors[3] / 8 > errors[4] / 8


def test_what_is_given_twice_is_found_once():
    told, twice = [], {"n": (2, 2), "local_steps": (3, 3), "u": (Fraction(1), Fraction(1))}
    found = sharp(["lemma13", "cflag.lemma13"], progress=told.append, **twice)
    assert (len(found.rows), len(found.ranges), len(found.union)) == (1, 1, 1)
    assert len(told) == pieces(["lemma13", "cflag.lemma13"], *twice.values()) == 2
    (curves,) = sharp_curves(["lemma13", "lemma13"], n=(2, 2), local_steps=(3, 3))
    assert (len(curves["along_u"]), len(curves["along_E"])) == (1, 1)


def test_what_the_ledger_does_not_prove_is_said(cflag):
    found = sharp(["lemma12", "cor14", "lemma16"], n=(12,), local_steps=(14,), u=(Fraction(1), Fraction(3)))
    how = {(row.lemma, row.u): row.how for row in found.rows}
    assert how["cflag.lemma16", 1] == how["cflag.cor14", 3] == "proof"
    assert how["cflag.lemma16", 3] == "argument"
    assert how["cflag.lemma12", 3] == "bounds"
    assert {one.lemma: one.to_json()["largest_is_by"] for one in found.ranges} == {
        "cflag.lemma12": "proof",
        "cflag.cor14": "proof",
        "cflag.lemma16": "argument",
    }
    _, out, _ = cflag("sharp", "lemma12", "lemma16", "--n", 12, "--E", 14, "--step", 3, "--details")
    out = " ".join(out.split())
    assert "no other order is worse, by an argument that is not machine-checked" in out
    assert "Lemma 16: by an argument that is not machine-checked." in out
    assert "worst is a bound that is proved for every order, and the order is the worst of a dozen" in out
    assert "found by enumeration" not in out
    _, out, _ = cflag("sharp", "cor14", "--n", 3, "--E", 4, "--step", 3, "--details")
    assert "argument" not in out


def test_progress_is_told_as_often_as_promised():
    told = []
    sharp(["cor14", "lemma12"], n=(2,), local_steps=(3, 4), u=(Fraction(1),), progress=told.append)
    assert len(told) == pieces(["cor14", "lemma12"], (2,), (3, 4), (Fraction(1),)) == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": ()}, "no n is given"),
        ({"u": ()}, "no beta L E is given"),
        ({"n": (0,)}, "n is 0: use an integer from 1 to 1000"),
        ({"local_steps": (0,)}, "E is 0"),
        ({"local_steps": (201,)}, "E is 201: use an integer from 1 to 200"),
        ({"u": (0.25,)}, r"beta L E is 0\.25: use a Fraction"),
        ({"n": (1001,)}, "n is 1001: use an integer from 1 to 1000"),
        ({"n": (101,), "local_steps": (200,)}, "n = 101 with E = 200 is too large .*: use n E of at most 20000"),
        (
            {"u": (Fraction(10**300),)},
            "beta L E is a fraction of 997 bits: use a Fraction or a whole number from 1/1000000",
        ),
        (
            {"u": (Fraction(10**400),)},
            "beta L E is a fraction of 1329 bits: use a Fraction or a whole number from 1/1000000",
        ),
        (
            {"u": (Fraction(1, 10**400),)},
            "beta L E is a fraction of 1329 bits: use a Fraction or a whole number from 1/1000000",
        ),
        ({"order": "random"}, "the order is 'random': use one of worst, cyclic, repeated, or components from 0 to 1"),
        ({"order": (0, 1)}, r"the order has 2 refreshes: give E - 1 = 3"),
        ({"order": (0, 1, 2)}, "the order refreshes component 2"),
    ],
)
def test_what_is_no_case_is_refused(changes, message):
    given = {"n": (2,), "local_steps": (4,), "u": (Fraction(1, 4),)} | changes
    with pytest.raises(InvalidInput, match=message):
        sharp(["lemma13"], **given)


def test_unknown_lemmas_are_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(study, "worst_constant", lambda *_, **__: pytest.fail("computed"))
    with pytest.raises(UnknownName, match=r"'lemma99': use lemma12"):
        sharp(["lemma13", "lemma99"])


def test_text_of_the_command_line():
    assert parse_step("1/12") == Fraction(1, 12)
    assert parse_step("0.1") == Fraction(1, 10)
    assert parse_order("cyclic") == "cyclic"
    assert parse_order("0,1,0") == (0, 1, 0)
    for text in ("a", "1/0", "0", "-1/4", "nan", "inf"):
        with pytest.raises(InvalidInput, match="beta L E is"):
            parse_step(text)
    # Numbers whose digits no one wants to write out.
    for text in ("1e400", "-1e5000", "1e999999999", "1e-999999999"):
        with pytest.raises(InvalidInput, match=f"beta L E is '{text}': use a number from 1/1000000 to 200"):
            parse_step(text)
    with pytest.raises(InvalidInput, match="the order is '0;1': use one of worst"):
        parse_order("0;1")


def test_curves_are_those_of_the_function():
    (one,) = sharp_curves(["lemma13"], n=(1, 2), local_steps=(4,))
    assert one["exact"]
    assert [curve["n"] for curve in one["along_u"]] == [1, 2]
    first = one["along_u"][0]
    place = one["u"].index(2.0)
    (row,) = sharp(["lemma13"], n=(1,), local_steps=(4,), u=(Fraction(2),)).rows
    assert first["worst"][place] == float(row.worst)
    assert first["met"][first["met_u"].index(2.0)] == float(row.met)
    assert all(met <= one["supremum"][place] for met in first["met"][: first["met_u"].index(2.0) + 1])
    assert one["largest"] == pytest.approx(2.33666, abs=1e-5)
    assert (one["at"], one["printed_at"]) == (0.25, 4.0)
    for curve in one["along_E"]:
        rows = sharp(["lemma13"], n=(curve["n"],), local_steps=curve["E"], u=(Fraction(1, 4),)).rows
        assert curve["worst"] == [float(row.worst) for row in rows]
        assert curve["met"] == [float(row.met) for row in rows]
    (squared,) = sharp_curves(["lemma15_2"], n=(1,), local_steps=(4,))
    assert (squared["at"], squared["printed_at"]) == (0.25, 4.0)
    assert sharp_curves(["lemma12"], n=(2,), local_steps=(4,))[0]["supremum"] is None


def test_the_command_prints_tables(cflag, monkeypatch):
    command = ("sharp", "lemma13", "lemma16", "--n", 2, "--E", 4, "--step", "1/4", "--step", 30, "--details")
    code, out, err = cflag(*command)
    assert (code, err) == (0, "")
    assert "Lemma 13: the constant of beta k ||grad g(x_t)||" in out
    assert "Lemma 16" in out
    assert "Corollary 14" not in out
    assert "2.336663" in out
    assert "60 L" in out
    assert "no*" in out
    assert "outside the range" in out
    # A wide terminal without colours.
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "dumb"), ("COLUMNS", "130")):
        monkeypatch.setenv(name, value)
    _, out, _ = cflag(*command)
    assert max(map(len, out.splitlines())) <= 100


def test_the_last_tables_are_what_is_found(cflag):
    _, out, _ = cflag("sharp", "lemma13", "--n", 2, "--E", 4, "--step", "1/4", "--details")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    low, high = largest_step(LEMMAS["cflag.lemma13"], n=2, local_steps=4)
    assert f"{float(low):.6f}" == f"{float(high):.6f}"
    # 2.336663 is 9.347 times 1/4.
    assert f"Lemma 13 1/4 2 4 {float(low):.6f} 2.336663 9.347" in lines
    (found,) = sharp(["lemma13"], n=(2,), local_steps=(4,), u=(Fraction(1, 4),)).union
    printed, best, low, high = found.printed_step, found.best, *found.range
    numbers = [printed.needed, printed.proved, best.u, best.needed, best.proved, low, high]
    first, last, place, least, most, begin, end = (f"{float(number):.4f}" for number in numbers)
    assert f"4 {first}..{last} {place} {least}..{most} {begin}..{end}" in lines
    assert first < last < "60"
    assert least < most < first
    assert found.to_json() == {
        "E": 4,
        "at_printed_step": {
            "beta_L_E": 1 / 30,
            "proved": float(printed.proved),
            "needed": float(printed.needed),
        },
        "best": {"beta_L_E": float(best.u), "proved": float(best.proved), "needed": float(best.needed)},
        "range_of_60_L": [float(low), float(high)],
    }


def test_a_step_of_many_digits_keeps_the_table_in_one_line(cflag):
    code, out, _ = cflag("sharp", "lemma13", "--n", 2, "--E", 3, "--step", "100000007/1000000007", "--details")
    assert code == 0
    assert "\n2  3  0.1       yes" in out


def test_the_command_prints_json_and_writes_a_figure(cflag, tmp_path):
    out = tmp_path / "sharp"
    code, printed, _ = cflag(
        "sharp", "cor14", "--n", 3, "--E", 5, "--step", "1/12", "--format", "json", "--out", out, "--details"
    )
    assert code == 0
    found = json.loads(printed)
    assert [row["lemma"] for row in found["rows"]] == ["cflag.cor14"]
    assert {path.name for path in out.glob("sharp*")} == {"sharp.json", "sharp.png", "sharp.svg"}
    stored = json.loads((out / "sharp.json").read_text())
    assert stored["rows"] == found["rows"]
    assert stored["curves"][0]["lemma"] == "cflag.cor14"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lemma3",), "no lemma on local steps is called 'lemma3'"),
        (("--step", "x"), "beta L E is 'x': use a number from 1/1000000 to 200, such as 1/12 or 0.25"),
        (("--step", "-1"), "beta L E is '-1': use a number from 1/1000000 to 200"),
        (("--order", "worse"), "the order is 'worse'"),
        (("--n", "0"), "n is 0"),
        (("--E", "500"), "E is 500: use an integer from 1 to 200"),
        (("--n", "300000"), "n is 300000: use an integer from 1 to 1000"),
        (("--step", "1e400"), "beta L E is '1e400': use a number from 1/1000000 to 200"),
    ],
)
def test_mistakes_are_one_sentence(cflag, arguments, message):
    code, out, err = cflag("sharp", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"cflag: {message}")
    assert err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_told_at_once(cflag, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "sharp", lambda *_, **__: pytest.fail("computed"))
    (tmp_path / "file").write_text("")
    code, _, err = cflag("sharp", "lemma13", "--out", tmp_path / "file")
    assert code == 2
    assert "file" in err


def test_large_cases_are_not_solved():
    with pytest.raises(InvalidInput, match="n = 3 with E = 7 is too large to be solved: use n E of at"):
        sharp(["lemma13"], n=(3,), local_steps=(7,), pep=True)


def test_solved_cases_need_no_sizes(cflag):
    code, out, _ = cflag("sharp", "cor14", "--step", "1/12", "--pep", "--format", "json")
    assert code == 0
    assert all(row["performance_estimation"] is not None for row in json.loads(out)["rows"])


def test_solved_cases_agree():
    found = sharp(["lemma13", "cor14", "lemma15_1"], n=(2,), local_steps=(3,), u=(Fraction(1, 4),), pep=True)
    for row in found.rows:
        assert row.pep == pytest.approx(float(row.worst), rel=1e-6)


@pytest.mark.parametrize("lemma", [id for id, lemma in LEMMAS.items() if lemma.exact])
def test_solved_cases_agree_on_an_order_whose_error_falls_at_the_end(lemma):
    order = (0, 0, 0, 1)
    (row,) = sharp([lemma], n=(2,), local_steps=(5,), u=(Fraction(8),), order=order, pep=True).rows
    errors = local_worst(order, n=2, step=Fraction(8, 5)).error
    assert max(errors) == errors[3] > errors[4]
    assert row.pep == pytest.approx(float(row.worst), rel=1e-6)
