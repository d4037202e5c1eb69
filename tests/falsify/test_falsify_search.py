"""The falsifier's word: false claims are broken by small exact cases, true ones are not, and no more is said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from cflag_theory.errors import InconsistentEvidence, InvalidInput, UnknownName
from cflag_theory.falsify import falsifying as work
from cflag_theory.falsify.proving import Attempt
from cflag_theory.falsify.search.cases import as_floats, case_at, entries, from_text, inside
from cflag_theory.falsify.search.evaluation import Evaluator
from cflag_theory.falsify.search.exact_numbers import exp, sqrt
from cflag_theory.falsify.search.running import problem_of, run
from cflag_theory.kernels import algorithm
from cflag_theory.verify import Conjecture, Range, falsify, quadratics, ridges

UNIT = {"x": Range(0, 1), "y": Range(0, 1)}


def of(left, right, **more):
    return Conjecture(**({"name": "a claim", "ranges": UNIT, "left": left, "right": right} | more))


def grown(trace):
    """g(x_T)."""
    return trace.at_end("g")[0]


def before(trace):
    """g(x_0)."""
    return trace.column("g")[0, 0]


def exact_sides(conjecture, finding):
    """Both sides at the counterexample, from its text alone."""
    case = from_text(conjecture, finding.to_json()["counterexample"]["values"], what="it")
    outcome = Evaluator(conjecture, seconds=20).exact(case)
    assert outcome.broken
    return outcome.left, outcome.right


# Real variables


@pytest.mark.parametrize("algebra", [True, False])
def test_a_false_inequality_is_broken_at_its_simplest_point(algebra):
    claim = of(lambda x, y: x * y, lambda x, y: (x**2 + y**2) * Fraction(49, 100))
    found = falsify(claim, algebra=algebra)
    assert found.status == "refuted"
    assert found.case == {"x": "1", "y": "1"}
    assert (found.left, found.right) == ("1", "49/50")
    assert exact_sides(claim, found) == (1, Fraction(49, 50))


def test_a_true_inequality_is_proved_and_without_algebra_not_broken():
    claim = of(lambda x, y: x * y, lambda x, y: (x**2 + y**2) / 2)
    proved = falsify(claim)
    assert (proved.status, proved.engines, proved.not_covered) == ("proved", ("z3",), ())
    searched = falsify(claim, algebra=False, budget=400)
    assert (searched.status, searched.engines) == ("not broken", ())
    assert searched.largest_ratio == 1
    assert searched.cases == 400
    assert any("infinitely many values of x, y" in words for words in searched.not_covered)
    assert any("algebra" in words for words in searched.not_covered)


def test_a_needle_is_found():
    """The relation fails in a twentieth of a percent of the square only."""
    claim = of(
        lambda x, y: 1 / (1 + 400 * ((x - Fraction(5, 7)) ** 2 + (y - Fraction(2, 9)) ** 2)),
        Fraction(99, 100),
    )
    found = falsify(claim, algebra=False)
    assert (found.status, found.found_by) == ("refuted", "optimisation")
    left, right = exact_sides(claim, found)
    assert left > right


def test_hypotheses_are_climbed_to():
    """One case in ten thousand satisfies them, and predicates with a formula say how far they are."""
    claim = of(
        lambda x: x,
        lambda: Fraction(1, 2),
        given=(lambda x, y: (x - Fraction(2, 3)) ** 2 + (y - Fraction(1, 3)) ** 2 <= Fraction(1, 31416),),
    )
    assert falsify(claim, algebra=False).status == "refuted"


def test_irrational_sides_are_compared_by_enclosures():
    close = of(
        lambda x: sqrt(x) + exp(x),
        lambda x: 1 + Fraction(2719, 1000) * sqrt(x),
        given=(lambda x: x >= Fraction(9, 10),),
    )
    assert falsify(close, budget=500).status == "not broken"
    false = of(
        lambda x: sqrt(x) + exp(x),
        lambda x: 1 + Fraction(2718, 1000) * sqrt(x),
        given=(lambda x: x >= Fraction(9, 10),),
    )
    found = falsify(false)
    assert (found.status, found.case["x"]) == ("refuted", "1")
    assert found.left.endswith("(enclosed)")


def test_what_enclosures_cannot_decide_is_said():
    found = falsify(of(lambda x: sqrt(2 + x) ** 2, lambda x: 2 + x), algebra=False, budget=100)
    assert found.status == "not broken"
    assert any("enclosures" in words for words in found.not_covered)


def test_integers_are_enumerated():
    k = {"k": Range(1, 30, kind="integer")}
    found = falsify(Conjecture(name="powers", ranges=k, left=lambda k: k**2, right=lambda k: 2**k))
    assert (found.status, found.case, found.left, found.right) == ("refuted", {"k": "3"}, "9", "8")
    proved = falsify(Conjecture(name="powers", ranges=k, left=lambda k: k**2, right=lambda k: 2 ** (k + 1)))
    assert (proved.status, proved.engines, proved.cases) == ("proved", ("enumeration",), 30)
    assert proved.largest_ratio == Fraction(9, 16)


def test_signs_and_orders_are_enumerated():
    signs = Conjecture(
        name="signs",
        ranges={"s": Range(kind="sign", shape=(3,)), "j": Range(0, 2, kind="order", shape=(2,))},
        left=lambda s, j: sum(s) + sum(j),
        right=lambda: 5,
    )
    found = falsify(signs)
    assert (found.status, found.engines, found.cases, found.largest_ratio) == ("proved", ("enumeration",), 32, 1)
    strict = Conjecture(name="strict", ranges=signs.ranges, left=signs.left, right=signs.right, relation="<")
    assert falsify(strict).case == {"s": ["1", "1", "1"], "j": ["1", "1"]}


def test_sympy_expressions_do_as_well():
    x, y = sp.symbols("x y")
    found = falsify(
        of(x**3 - y, x**2 - y, given=(x <= sp.Rational(1, 2), sp.Ge(y, sp.Rational(1, 4)))), algebra=False, budget=300
    )
    assert found.status == "not broken"
    assert falsify(of(x**2, x**3, ranges={"x": Range(0, 1)}, given=(sp.Gt(x, 0),))).status == "refuted"


def test_a_difference_against_zero_is_searched_too():
    """No ratio exists there; the search raises the difference."""
    claim = of(lambda x, y: Fraction(1, 1000) - (x - Fraction(3, 7)) ** 2 - (y - Fraction(4, 9)) ** 2, 0)
    found = falsify(claim, algebra=False)
    assert found.status == "refuted"
    assert found.largest_ratio is None


# What is never said


def test_nothing_that_satisfies_the_hypotheses_is_an_error():
    for given in (lambda x: x > 1, lambda x, y: (x > y) & (y > x)):
        for algebra in (True, False):
            with pytest.raises(InvalidInput, match="no case satisfies the hypotheses"):
                falsify(of(lambda x: x, 2, given=(given,)), algebra=algebra, budget=200)


def test_a_proof_against_a_counterexample_gives_no_finding(monkeypatch):
    """If an engine erred, the cases that every proof is tried on would say so."""
    monkeypatch.setattr(work, "attempt", lambda *_, **__: Attempt("proved", ("z3",)))
    claim = of(
        lambda x, y: x * y,
        lambda x, y: (x**2 + y**2) * Fraction(49, 100),
        ranges={"x": Range(0, 1), "y": Range("3/4", 1)},
    )
    with pytest.raises(InconsistentEvidence, match="z3 prove it"):
        falsify(claim)


def test_a_float_violation_alone_refutes_nothing():
    """sin^2 + cos^2 in disguise: the sides agree exactly, and floats differ by rounding."""
    claim = of(lambda x, y: (x + y) ** 3, lambda x, y: x**3 + 3 * x**2 * y + 3 * x * y**2 + y**3)
    assert falsify(claim, algebra=False, budget=500).status == "not broken"


def test_equal_seeds_give_equal_findings():
    claim = of(lambda x, y: x * y - (x * y) ** 3, 1)
    first, again = (falsify(claim, algebra=False, seed=3, budget=600) for _ in range(2))
    assert first == again
    other = falsify(claim, algebra=False, seed=4, budget=600)
    assert other.worst != first.worst


def test_an_interrupt_ends_with_what_was_found():
    def tick(_):
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    left = 50
    found = falsify(of(lambda x, y: x * y, lambda x, y: x + y), algebra=False, progress=tick)
    assert (found.status, found.interrupted, found.cases) == ("not broken", True, 50)
    assert any("interrupted" in words for words in found.not_covered)


# Runs


def test_a_round_of_scaffold_raises_g_and_shrinks_to_two_clients():
    claim = of(
        grown,
        before,
        problem=quadratics(N=(1, 3), n=(1, 2), d=(1, 2), convex=True),
        algorithm="scaffold",
        ranges={"beta": Range(0, 1, open="low"), "E": Range(1, 3, kind="integer"), "T": Range(1, 2, kind="integer")},
    )
    found = falsify(claim)
    left, right = exact_sides(claim, found)
    assert left > right
    assert [found.case[name] for name in ("N", "n", "d", "T")] in (["2", "1", "1", "1"], ["1", "2", "1", "1"])
    numbers = [Fraction(one) for name in ("curvature", "slope") for one in np.array(found.case[name]).ravel()]
    assert max(one.denominator for one in numbers) <= 2


def test_gradient_descent_survives():
    """One client, full gradients, beta <= 1/L: ||grad g|| cannot rise, and E = 1 with a small beta comes near."""
    claim = of(
        lambda trace: trace.at_end("grad_g2")[0],
        lambda trace: trace.column("grad_g2")[0, 0],
        problem=quadratics(N=1, n=2, convex=True),
        algorithm="local_gd",
        ranges={"beta": Range(0, 1, open="low"), "E": Range(1, 3, kind="integer")},
    )
    found = falsify(claim, budget=400)
    assert found.status == "not broken"
    assert 0.9 < found.largest_ratio <= 1
    assert any("outside of the family" in words for words in found.not_covered)


STEP = {
    "problem": quadratics(N=(1, 2), n=2, d=2),
    "ranges": {"beta": Range(0, 1, open="low"), "E": Range(1, 3, kind="integer"), "T": Range(1, 2, kind="integer")},
    "left": grown,
    "right": before,
}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("fedavg", lambda x, gradient, beta: x - beta * gradient),
        ("local_gd", lambda x, full_gradient, beta: x - beta * full_gradient),
        (
            "fedtrack",
            lambda x, delayed_gradient, grad_g, grad_g_i, beta: x - beta * (delayed_gradient + grad_g - grad_g_i),
        ),
        ("fedprox", lambda x, x_t, gradient, beta: x - beta * (gradient + (x - x_t) / 10)),
    ],
)
def test_a_local_step_of_the_user_runs_as_the_row_of_the_table_does(name, step):
    """Three steps, so that a component is refreshed twice."""
    table, own = Conjecture(name="row", algorithm=name, **STEP), Conjecture(name="own", local_step=step, **STEP)
    sizes = dict.fromkeys(table.sizes, 2) | ({"E": 3} if "E" in table.sizes else {})
    random = np.random.default_rng(7)
    for _ in range(4):
        u = [Fraction(int(k), 12) for k in random.integers(0, 13, entries(table, sizes))]
        case = case_at(table, sizes, u)
        assert inside(table, case) is None
        traces = [run(one, case, problem_of(one, case)) for one in (table, own)]
        assert (traces[0].iterates == traces[1].iterates).all()
        for column in ("f", "g", "grad_f2", "grad_g2", "drift2_max"):
            assert (traces[0].column(column) == traces[1].column(column)).all()
        near = Evaluator(own, seconds=20).guess(as_floats(own, case))
        assert near.left == pytest.approx(float(traces[1].at_end("g")[0]))


def test_a_false_claim_about_an_own_step_is_broken():
    """Local steps along grad g_i lead to the clients' own minima, whatever the mean of these is."""
    claim = Conjecture(
        name="full local gradients never raise g",
        local_step=lambda x, full_gradient, beta: x - beta * full_gradient,
        **STEP | {"problem": quadratics(N=2, n=1, convex=True)},
    )
    found = falsify(claim)
    left, right = exact_sides(claim, found)
    assert left > right


def test_ridges_and_memories_run_exactly():
    from cflag_theory.kernels import everything

    claim = of(
        lambda trace: trace.column("b2")[0, 0],
        lambda trace: trace.column("grad_f2")[0, 0],
        problem=ridges(N=1, n=1, past=True),
        algorithm="c_flag",
        memory=everything(),
        ranges={"beta": "1/4", "alpha": "1/8", "E": Range(1, 2, kind="integer")},
    )
    found = falsify(claim, budget=60)
    assert (found.status, found.largest_ratio) == ("not broken", 0)


def test_a_row_may_depend_on_variables():
    claim = of(
        lambda trace, mu: trace.column("drift2_max")[0, 0] * mu**2,
        lambda trace: trace.column("grad_g2")[0, 0],
        problem=quadratics(N=1, n=1),
        algorithm=lambda mu: algorithm("fedprox", proximal=mu),
        ranges={"mu": Range(1, 4, open="low"), "beta": Range(0, "1/2", open="low"), "E": Range(1, 4, kind="integer")},
        given=(lambda beta, mu: beta * (1 + mu) <= 1,),
    )
    found = falsify(claim)
    assert found.refuted
    assert int(found.case["E"]) >= 3
    assert Fraction(found.case["curvature"][0][0][0]) < 0


# Bad input


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"relation": ">="}, UnknownName, "relation '>=' is unknown"),
        ({"left": lambda z: z}, UnknownName, "reads 'z', which has no range"),
        ({"left": lambda *x: 1}, InvalidInput, "name every variable"),
        ({"left": "left"}, InvalidInput, "finite number"),
        ({"given": (True,)}, InvalidInput, "no condition"),
        ({"given": lambda x: x > 0}, InvalidInput, "given is .*: use a list"),
        ({"ranges": {"x": None, "y": 1}}, InvalidInput, "x is None"),
        ({"ranges": {"x": Range(0, 1, shape=("K",)), "y": 1}}, InvalidInput, "needs 'K'"),
        ({"name": " "}, InvalidInput, "give it some words"),
        ({"algorithm": "fedavg"}, InvalidInput, "a problem goes with an algorithm"),
        ({"algorithm": "nosuch", "problem": quadratics(), "ranges": UNIT | {"beta": 1}}, UnknownName, "nosuch"),
        ({"algorithm": "fedavg", "problem": quadratics()}, InvalidInput, "give the variable beta a range"),
        (
            {"algorithm": "fedavg", "problem": quadratics(), "ranges": UNIT | {"beta": Range(0, 1)}},
            InvalidInput,
            "use positive numbers",
        ),
        ({"left": lambda trace: 1}, UnknownName, "reads 'trace'"),
    ],
)
def test_a_conjecture_that_does_not_fit_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        of(**({"left": lambda x, y: x * y, "right": lambda x, y: x + y} | change))


@pytest.mark.parametrize("arguments", [{"budget": 0}, {"budget": 1.5}, {"seed": -1}, {"seconds": 0}])
def test_bad_options_are_refused(arguments):
    with pytest.raises(InvalidInput, match="use a"):
        falsify(of(lambda x: x, 2), **arguments)


def test_the_family_is_what_it_says():
    """x^T A x / 2 - b.x with the eigenvalues that were drawn, turned; L is the same on floats and on fractions."""
    claim = Conjecture(name="own", local_step=lambda x: x, **STEP)
    sizes = dict.fromkeys(claim.sizes, 2)
    random = np.random.default_rng(1)
    u = [Fraction(int(k), 12) for k in random.integers(0, 13, entries(claim, sizes))]
    case = case_at(claim, sizes, u)
    problem, floats = problem_of(claim, case), problem_of(claim, as_floats(claim, case))
    part = problem.current
    for j in range(4):
        rows, weights = part.rows[2 * j : 2 * j + 2], part.weights[2 * j : 2 * j + 2]
        assert (rows @ rows.T == np.eye(2)).all()
        matrix = rows.T @ np.diag(weights) @ rows
        t = case["tangent"][j // 2, j % 2, 0]
        cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
        first, second = case["curvature"][j // 2, j % 2]
        assert matrix[0, 0] == first * cos**2 + second * sin**2
        assert matrix[0, 1] == (first - second) * cos * sin
        assert (part.offsets[j] == -case["slope"][j // 2, j % 2]).all()
    assert problem.constants["L"].value == floats.constants["L"].value == 1
    assert np.allclose(part.rows.astype(float), floats.current.rows, atol=1e-15)


def test_a_case_outside_of_the_ranges_refutes_nothing():
    claim = of(lambda x: x, 1)
    evaluator = Evaluator(claim, seconds=20)
    assert not evaluator.exact({"x": Fraction(2), "y": Fraction(0)}).broken
    assert not evaluator.exact({"x": Fraction(2), "y": Fraction(0)}).feasible
    assert evaluator.exact({"x": Fraction(1), "y": Fraction(0)}).feasible


def test_components_that_cancel_are_a_problem_too():
    """Curvatures 1 and -1 of one client: the worst cases of drift look like that."""
    claim = of(
        lambda trace: trace.column("drift2_max")[0, 0],
        lambda trace: trace.column("grad_g2")[0, 0],
        problem=quadratics(N=1, n=2, slopes=0),
        algorithm="fedavg",
        ranges={"beta": 1, "E": 2, "curvature": Range(kind="sign", shape=("N", "n", "d"))},
    )
    assert falsify(claim).status == "refuted"


@pytest.mark.parametrize("sizes", [0, (2, 0), (0, 2), "two", (1, 2.5)])
def test_sizes_of_a_family_are_checked(sizes):
    with pytest.raises(InvalidInput):
        quadratics(N=sizes)
