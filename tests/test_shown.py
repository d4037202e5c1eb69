"""What results show of themselves: one line as text, a table in a notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide, falsify
from cflag_theory.kernels import default_memory, default_problem, make_problem, random_tasks, simulate, to_exact
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies import cfl_step_sizes, estimate_constants, rate, rate_family, step_sizes
from cflag_theory.studies.rates.cfl import cfl_rate
from cflag_theory.studies.rates.families import RateCase
from cflag_theory.studies.stepsize.region import region
from cflag_theory.verify.verdict import decide as verdict

x = sp.Symbol("x", positive=True)
FALSE = Conjecture(name="x is small", ranges={"x": Range(0, 2, open="low")}, left=x, right=sp.Integer(1))
TRUE = Conjecture(name="a square", ranges={"x": Range(0, 2, open="low")}, left=2 * x, right=x**2 + 1)
HORIZONS = {"horizons": (4, 8, 16), "replicas": 2}


def trace(**more):
    settings = {"alpha": 0.3, "beta": 0.01, "local_steps": 3, "rounds": 7, "replicas": 2, "memory": default_memory()}
    return simulate(default_problem(), "c_flag", **settings | more)


RESULTS = {
    "Problem default: separable, geman_mcclure, N = 5, d = 10, 100 past and 100 current": default_problem,
    "Components of 5 clients, 100 in all": lambda: default_problem().past,
    "TaskSequence ": lambda: random_tasks(tasks=3),
    "Trace c_flag on default: 2 x 7 rounds, all done; ||grad f||^2 0.": trace,
    "Rate default: min ||grad f||^2 0.144 at T = 4 to ": lambda: rate(default_problem(), default_memory(), **HORIZONS),
    "RateFamily default: m = 0, 0.5": lambda: rate_family(RateCase(), "m", (0, 0.5), **HORIZONS),
    "CFLRate clients that stay: FedAvg slope -": lambda: cfl_rate(**HORIZONS),
    "StepSizes 13 of 18 conditions are met at alpha = 0.3": lambda: sizes(),
    "CFLStepSizes ": lambda: cfl_step_sizes(L=1, K=2, eta_l=0.01, eta_g=1, T=10),
    "Region of alpha and beta, ": lambda: region(sizes()),
    "Estimates of a run: L 0.": lambda: estimate_constants(trace(iterates=True)),
    "Verdict cflag.lemma1 (": lambda: verdict(claim("cflag.lemma1"), []),
    "Finding x is small: refuted": lambda: falsify(FALSE),
    "Decision x is small: refuted": lambda: decide(FALSE),
    "Decision a square: proved": lambda: decide(TRUE),
}


def sizes():
    return step_sizes(L=2, m=0.5, E=10, alpha=0.3, beta=0.004, T=1000)


@pytest.mark.parametrize("line", RESULTS)
def test_a_result_is_one_line_and_a_table(line):
    result = RESULTS[line]()
    assert repr(result).startswith(f"<{line}")
    assert len(repr(result)) < 200
    assert "\n" not in repr(result)
    page = ElementTree.fromstring(result._repr_html_())
    assert len(list(page.iter("tr"))) == 1 + len(result.sheet().rows)
    assert {len(row) for row in page.iter("tr")} == {len(result.sheet().head)}


def test_words_are_text_and_no_markup():
    class Odd(Shown):
        def sheet(self):
            return Sheet("a\n<b>", ("$x$", "y"), [("<script>", Fraction(1, 3))] * 300, ["a & b"])

    assert repr(Odd()) == "<Odd a <b>>"
    page = ElementTree.fromstring(Odd()._repr_html_())
    assert [cell.text for cell in page.iter("td")][:2] == ["<script>", "0.3333"]
    assert "$" not in Odd()._repr_html_()
    assert [note.text for note in page.findall("p")][1:] == ["and 100 more rows", "a & b"]


def test_a_trace_is_a_table_for_data_frames():
    run = trace(diagnostics="all", every=3)
    table = dict(run)
    assert {len(column) for column in table.values()} == {14}
    assert table["replica"].tolist() == [0] * 7 + [1] * 7
    assert table["t"].tolist() == [*range(7)] * 2
    assert (table["grad_f2"] == run.column("grad_f2").ravel()).all()
    assert (table["Lambda_4"].reshape(2, 7) == run.column("Lambda")[..., 4]).all()
    assert "Lambda" not in table
    sparse = table["rho_sum2"].reshape(2, 7)
    assert (sparse[:, [0, 3, 6]] == run.column("rho_sum2")).all()
    assert np.isnan(sparse[:, [1, 2, 4, 5]]).all()
    with pytest.raises(TypeError):
        iter(run)


def test_a_trace_as_a_frame():
    pandas = pytest.importorskip("pandas")
    run = trace()
    frame = run.to_frame()
    assert frame.equals(pandas.DataFrame(dict(run)))
    assert frame.groupby("t")["grad_f2"].mean().tolist() == run.column("grad_f2").mean(axis=0).tolist()


def test_an_exact_trace_keeps_its_fractions():
    problem = to_exact(make_problem("quadratic", clients=1, components=1, dimension=1))
    run = simulate(problem, "local_gd", beta=Fraction(1, 8), local_steps=1, rounds=2, engine="reference")
    assert run["grad_g2"].tolist() == run.column("grad_g2").ravel().tolist()
    assert isinstance(run["grad_g2"][1], Fraction)
    assert "<Trace local_gd on " in repr(run)


def test_without_pandas_a_frame_is_refused_with_the_way_round(monkeypatch):
    run = trace()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(InvalidInput, match=r"to_frame needs pandas: pip install pandas, or use table\(\)"):
        run.to_frame()
