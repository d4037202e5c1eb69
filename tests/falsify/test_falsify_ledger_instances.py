"""Instances of ledger rows keep what the papers assume throughout, and what a row's words say beyond its symbols."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.falsify.ledger import rounds as ledger_rounds
from cflag_theory.falsify.ledger.rows import ledger_conjecture
from cflag_theory.falsify.ranges import INTEGER
from cflag_theory.falsify.search.cases import case_at, entries
from cflag_theory.falsify.search.directed import choices
from cflag_theory.falsify.search.evaluation import Evaluator

HALF = Fraction(1, 2)


def _memory_round(**draw):
    """A round with memory of E = 1, one client unless told."""
    names = {**ledger_rounds.CURRENT, **ledger_rounds.MEMORY, **ledger_rounds.BIAS, **ledger_rounds.PAST}
    whole = {name: 0 if span.kind == INTEGER else Fraction(0) for name, span in names.items()}
    return ledger_rounds.values(whole | {"p_1": Fraction(1), "E": 1, "u": Fraction(1), "a": Fraction(1)} | draw)


def test_a_memory_has_no_bias_where_the_past_gradient_vanishes():
    """Assumption 2, at every client; at the mean the gradients may cancel, and then any m is one."""
    from cflag_theory.claims.engine.notation import bias2, grad_f2, m

    assert _memory_round(bias_1=HALF)[bias2] == 0
    two = {"p_1": HALF, "grad_f_1": Fraction(1), "grad_f_2": Fraction(-1), "bias_1": HALF, "bias_2": Fraction(0)}
    found = _memory_round(**two, m_excess=Fraction(1, 4))
    assert (found[grad_f2], found[bias2], found[m]) == (0, Fraction(1, 16), Fraction(1, 4))


def test_a_round_with_memory_has_a_step_size_that_the_paper_allows():
    """0 < alpha < 2 / (L (1 + m))."""
    assert _memory_round(a=Fraction(3, 2), m_excess=Fraction(1, 4)) is not None
    assert _memory_round(a=Fraction(3, 2), m_excess=Fraction(1, 3)) is None
    assert _memory_round(a=Fraction(2)) is None
    assert ledger_rounds.MEMORY["a"].low > 0


def _instances(id, part="1", on="printed", count=60):
    """Draws of a row and the values of its symbols by name, those alone that satisfy its hypotheses."""
    conjecture = ledger_conjecture(id, part, on=on)
    evaluator = Evaluator(conjecture, seconds=20)
    found = []
    random = np.random.default_rng(7)
    at = choices(conjecture, 0)[0][0]
    for number in range(count):
        top = 2 if number % 2 else 4
        levels = random.integers(0, top + 1, entries(conjecture, at))
        case = case_at(conjecture, at, [Fraction(int(level), top) for level in levels])
        outcome = evaluator.exact(case)
        if outcome.feasible:
            values = {str(symbol): value for symbol, value in conjecture.values(case).items()}
            found.append((case, values, outcome))
    assert found
    return found


@pytest.mark.parametrize(
    ("id", "part", "keeps"),
    [
        ("cflag.lemma6", "1", lambda v: v["L"] * v["alpha"] < 2),
        ("cflag.table1_transference", "average", lambda v: v["p_i"] <= 1),
        ("cfl.ratio_bound", "2", lambda v: v["c_pB"] >= 1),
        ("cfl.nc_eq32", "2", lambda v: v["nc_c_B"] >= 1),
        ("cfl.eq15", "1", lambda v: v["c_pB"] >= 1),
        ("cfl.thm4_7_cO", "1", lambda v: HALF <= v["weights_squares"] <= 1),
        ("cfl.lemB10", "1", lambda v: v["weight_pairs"] >= 0),
        ("cfl.alg6", "2", lambda v: v["left"] >= 0),
        ("cfl.alg6", "4", lambda v: v["left"] >= 0),
    ],
)
def test_an_instance_keeps_what_the_papers_say_of_its_symbols(id, part, keeps):
    assert all(keeps(values) for _, values, _ in _instances(id, part))


def test_the_variables_of_lemma_a4_are_bounded_one_by_one():
    """The ledger's hypothesis is the sum over the variables, the paper's is on each."""
    for draw, values, _ in _instances("cfl.lemA4", "1"):
        for mean, deviation in ((draw["x"], draw["d"]), (draw["y"], draw["e"])):
            assert deviation**2 <= values["M_A4"] * mean**2 + values["sigma2"]


def test_the_weights_of_theorem_4_9_solve_its_system():
    from cflag_theory.verify.checks.cfl.weights import matrix_Q

    for draw, values, _ in _instances("cfl.thm4_9", "2"):
        p = [values[name] for name in ("a", "b", "w")]
        rows_of_7 = matrix_Q(draw["correlation_power"], draw["time_drift2"], draw["loss2"], 3)
        assert len({sum(q * a for q, a in zip(row, p, strict=True)) for row in rows_of_7}) == 1
        assert sum(p) == 1
        assert values["least_weight"] == min(p)
        pairs = [(i, j) for i in range(3) for j in range(3)]
        form = sum(draw["correlation_power"] ** abs(i - j) * p[i] * p[j] for i, j in pairs)
        assert values["weights_form"] == form


def test_the_drift_and_the_move_of_28_are_those_of_a_local_step():
    """w_{t,i,1} - w_t is a negative multiple of the client's gradient at w_t."""
    for draw, values, _ in _instances("cfl.nc_eq28", "1"):
        gradient = values["g"] + draw["d"]
        assert values["z"] == -draw["rate"] * gradient
        assert values["nc_gap2"] == (draw["c"] * values["z"] + draw["d"]) ** 2


def test_a_constant_that_may_be_anything_is_refuted_only_where_none_works():
    """Lemma 9 and Assumption 2 claim that there is an m: at a counterexample there is none."""
    for _, values, outcome in _instances("cflag.lemma9", "1", count=200):
        assert outcome.broken == (values["grad_f2"] == 0 < values["bias2"])
    for _, values, outcome in _instances("cflag.assumption2", "1", count=200):
        assert outcome.broken == (values["bias_i"] > values["grad_f_i"])


def test_the_hypotheses_of_a_row_are_told_in_its_own_words():
    (given,) = {one.words for one in ledger_conjecture("cflag.lemma13").hypotheses}
    assert "drift(k) <= 4*" in given
    assert "E*L*beta <= 1/4" in given
    assert ".py" not in given
