"""Proofs of worst cases as pages: engines that know nothing of the solver accept them, and no changed one."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import pytest
from needs import needs_coq

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.errors import InvalidInput
from cflag_theory.worstcase import worst_case

FEDAVG = {"method": "fedavg", "E": 2, "T": 1}


@cache
def page(**setting):
    found = worst_case(**{"eta": Fraction(1, 10), **setting})
    return found, found.page()


def faults(folder, text):
    file = folder / "worst_case.page"
    file.write_text(text)
    try:
        (claim,) = read_folder(file).claims.values()
    except InvalidInput as error:
        return (str(error),)
    return examine(claim.parts[0].printed).faults


@pytest.mark.parametrize(
    "setting",
    [
        FEDAVG,
        pytest.param({"method": "scaffold", "E": 2, "T": 2, "measure": "distance"}, marks=pytest.mark.full),
        {"method": "fedtrack", "E": 1, "T": 2, "eta": Fraction(1, 2), "heterogeneity": 0, "L": 2, "radius": 3},
        pytest.param({"method": "mimelite", "E": 1, "T": 2, "measure": "grad"}, marks=pytest.mark.full),
        {"method": "fedavg", "E": 1, "T": 2, "measure": "min-grad"},
        pytest.param(
            {"method": "fedprox", "E": 2, "T": 1, "kind": "strongly-convex", "mu": Fraction(1, 10)},
            marks=pytest.mark.full,
        ),
        {"method": "scaffold", "E": 1, "T": 2, "kind": "smooth", "measure": "min-grad"},
        {"method": "momentum_kept", "E": 1, "T": 2, "kind": "smooth", "measure": "grad"},
    ],
    ids=lambda setting: f"{setting['method']}-{setting.get('measure', 'f')}-{setting.get('kind', 'convex')}",
)
def test_the_page_holds_and_says_hardly_more_than_the_certificate(tmp_path, setting):
    found, text = page(**setting)
    said = re.search(r"^  say .* <= (\S+)$", text, re.MULTILINE)
    bound = Fraction(said[1]) * found.setting.factor
    assert found.upper <= bound * (1 + Fraction(1, 10**6))
    assert bound <= found.upper * (1 + Fraction(11, 10**4))
    assert faults(tmp_path, text) == ()


def changed_number(text, before):
    """The first number behind these words, a hundredth smaller."""
    return re.sub(
        rf"({before})(\d+(?:/\d+)?)", lambda at: f"{at[1]}{Fraction(at[2]) * Fraction(99, 100)}", text, count=1
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: changed_number(text, r"say .* <= "),
        lambda text: changed_number(text, "because "),
        lambda text: changed_number(text, "square "),
        lambda text: changed_number(text, r"let y_1\(i\) = x_0 - "),
        lambda text: text.replace("<= 1\n", "<= 101/100\n", 1),
        lambda text: text.replace("pair x_0, x_1", "pair x_0, best", 1),
        lambda text: text.replace("setting minimum: clients(grad f[i](best)) = 0", "setting minimum: best = best"),
    ],
    ids=["bound", "multiplier", "square", "step", "start", "pair", "minimum"],
)
def test_a_changed_page_is_not_accepted(tmp_path, change):
    _, text = page(**FEDAVG)
    assert change(text) != text
    assert faults(tmp_path, change(text))


@pytest.mark.parametrize(
    "setting",
    [
        {"method": "fedavg", "E": 2, "T": 1, "N": 1},
        {"method": "fedavg", "E": 4, "T": 2},
        {"method": "fedprox_exact", "E": 1, "T": 1},
        {"method": "cfl", "E": 1, "T": 2},
    ],
)
def test_what_a_page_does_not_say_has_none(setting):
    assert page(**setting)[1] == ""


@needs_coq
@pytest.mark.parametrize(("measure", "kind"), [("f", "convex"), ("grad", "smooth")])
def test_coq_has_the_bound_as_one_theorem_for_every_number_of_clients(cflag, tmp_path, measure, kind):
    (tmp_path / "worst_case.page").write_text(page(method="fedavg", E=1, T=1, measure=measure, kind=kind)[1])
    code, out, _ = cflag("verify", tmp_path / "worst_case.page", "--prover", "coq")
    assert code == 0
    assert "The whole statement is one theorem of Coq." in out
