"""Rows of the ledger as conjectures: false ones are broken without a hint, true ones survive, instances are real."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from needs import LONG

from cflag_theory.claims.engine.claim import Statement, statements
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.conjecture import stated
from cflag_theory.falsify.ledger import rounds as ledger_rounds
from cflag_theory.falsify.ledger import solving as ledger_solving
from cflag_theory.falsify.ledger import vectors as ledger_vectors
from cflag_theory.falsify.ledger.rows import ledger_conjecture, row, rows, undrawn
from cflag_theory.falsify.ranges import INTEGER
from cflag_theory.falsify.search.cases import case_at, entries, from_text
from cflag_theory.falsify.search.directed import choices
from cflag_theory.falsify.search.evaluation import Evaluator
from cflag_theory.falsify.vector_terms.instances import instances
from cflag_theory.verify import directed as ledger_evidence
from cflag_theory.verify import falsify
from cflag_theory.verify.directed import directed
from cflag_theory.verify.instances.on_the_line import exact_run, on_the_line
from cflag_theory.verify.instances.paths import walk

HALF = Fraction(1, 2)


def again(conjecture, finding):
    """Both sides at a counterexample, in exact arithmetic and from its text alone."""
    case = from_text(conjecture, finding.to_json()["counterexample"]["values"], what="it")
    outcome = Evaluator(conjecture, seconds=20).exact(case)
    assert outcome.broken
    return outcome.left, outcome.right


# False rows. Seed 0 and the default budget, but for algebra; the ranges are those of every row of the kind.

FALSE = (
    ("cflag.lemma15_1", "1"),
    ("cflag.lemma9", "1"),
    ("cflag.eq69", "1"),
    ("cflag.eq177", "1"),
    ("cflag.lemma6", "1"),
    ("cfl.ratio_bound", "2"),
    ("cfl.assumption1_corollary", "1"),
    ("cflag.lemma1", "1"),
    ("cfl.thm4_9", "2"),
    ("cfl.nc_eq28", "1"),
)


@pytest.mark.full
@pytest.mark.parametrize(("id", "part"), FALSE)
def test_a_false_row_is_broken_without_being_told_where(id, part):
    conjecture = ledger_conjecture(id, part)
    finding = falsify(conjecture)
    assert finding.status == "refuted"
    left, right = again(conjecture, finding)
    assert left > right
    assert (str(left), str(right)) == (finding.left, finding.right)


def test_the_instances_come_from_no_check():
    """The stored counterexamples live in verify.checks and in claims' proofs by instance; nothing here reads them."""
    folder = Path(ledger_solving.__file__).parent
    files = list(folder.glob("*.py"))
    assert len(files) > 4
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        modules = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
        assert not [name for name in modules if ".checks" in name or name.endswith(("instances", "paths"))], file.name


def test_a_false_row_is_broken_by_a_round_that_the_kernels_run_too():
    """The counterexample to Lemma 15 as printed, run again by the reference engine."""
    conjecture = ledger_conjecture("cflag.lemma15_1")
    finding = falsify(conjecture)
    case = from_text(conjecture, finding.to_json()["counterexample"]["values"], what="it")
    problem, orders, local = _as_problem(case)
    found = walk(problem, beta=local, orders=orders)
    left, right = again(conjecture, finding)
    assert abs(found.rho_sum[0]) == left
    size, steps = abs(found.grad_g[0]), orders.shape[1]
    assert size * steps + 4 * local * steps**2 * size == right


# True rows


@pytest.mark.full
def test_a_true_row_survives_and_is_nearly_attained():
    finding = falsify(ledger_conjecture("cflag.lemma13", on="sharp"), budget=600)
    assert finding.status == "not broken"
    assert 0.95 < finding.largest_ratio <= 1
    assert any("all but" in words for words in finding.not_covered)


@pytest.mark.parametrize(("id", "part"), [("cfl.lemA3", "1"), ("cflag.eq71", "1"), ("cfl.lemB2", "2")])
def test_a_true_row_of_numbers_is_proved_or_survives(id, part):
    finding = falsify(ledger_conjecture(id, part), budget=300, seconds=5)
    assert not finding.refuted
    assert finding.feasible > 0
    assert finding.largest_ratio == pytest.approx(1, abs=1e-6)


def _draws(conjecture, count):
    """Cases of every kind: all sizes, ends of ranges and inner points."""
    random = np.random.default_rng(7)
    sizes, _ = choices(conjecture, 0)
    sizes = [one for one in sizes if one.get("E", 1) <= 8] or sizes[:1]
    for number in range(count):
        at = sizes[number % len(sizes)]
        top = 2 if number % 2 else 4
        yield case_at(
            conjecture, at, [Fraction(int(k), top) for k in random.integers(0, top + 1, entries(conjecture, at))]
        )


#: The default run looks at every sixth.
STRIDE = 1 if LONG else 6


@pytest.mark.full
@pytest.mark.parametrize("start", range(4))
def test_no_proved_bound_of_the_ledger_fails_at_its_instances(start):
    """An instance that contradicts a proof would be no instance: exact cases of every row that has any."""
    covered = 0
    proved = [key for key, statement in rows().items() if statement.proof is not None]
    for id, part, on in proved[start::4][::STRIDE]:
        try:
            conjecture = ledger_conjecture(id, part, on=on)
        except InvalidInput:
            continue
        evaluator = Evaluator(conjecture, seconds=20)
        outcomes = [evaluator.exact(case) for case in _draws(conjecture, 24)]
        assert not any(outcome.broken for outcome in outcomes), (id, part, on)
        covered += any(outcome.feasible for outcome in outcomes)
    assert covered > 4


# What is drawn


def _as_problem(case):
    """A round of the family as a problem of the kernels, with its orders and beta."""
    steps = int(case["E"])
    one = case["p_1"]
    shares = [one, 1 - one] if one not in (0, 1) else [Fraction(1)]
    clients, orders = [], []
    for i in range(1, len(shares) + 1):
        copies, stride = case[f"copies_{i}"], case[f"stride_{i}"]
        clients.append(
            [(case[f"curvature_{i}"], -case[f"slope_{i}"])]
            + [(case[f"copy_curvature_{i}"], -case[f"copy_slope_{i}"])] * copies
        )
        orders.append([stride * k % (1 + copies) for k in range(steps)])
    problem = on_the_line([[(1, 0)]] * len(shares), clients, start=0, L=1, p=shares)
    return problem, np.array(orders), case["u"] / steps


def _small_rounds(count):
    """Rounds of up to six steps on up to four components, every second one of a single client."""
    random = np.random.default_rng(12)
    for number in range(count):
        case = {}
        for name, span in ledger_rounds.CURRENT.items():
            if span.kind == INTEGER:
                case[name] = int(random.integers(span.low, 7 if name == "E" else 4))
            else:
                case[name] = max(span.low, Fraction(int(random.integers(-4, 5)), 4))
        yield case | {"p_1": Fraction(1 + number % 2, 2), "u": Fraction(int(random.integers(1, 9)), 2)}


def test_a_round_of_the_family_is_the_round_of_the_kernels():
    """Two implementations, on random rounds: of all sums, drifts, errors and table means."""
    from cflag_theory.claims.c_flag.local_steps import drift, iag, sums
    from cflag_theory.claims.engine.notation import grad_g, k

    for case in _small_rounds(40):
        found = ledger_rounds.values(case)
        problem, orders, local = _as_problem(case)
        whole = walk(problem, beta=local, orders=orders)
        at, path = found[k], whole.paths[0]
        assert found[grad_g] == abs(whole.grad_g[0])
        assert found[sums.rho_sum] == abs(whole.rho_sum[0])
        assert found[sums.error_sum] == abs(whole.error_sum[0])
        assert found[drift.drift(k)] == path.drift[at]
        assert found[drift.drift(k + 1)] == path.drift[at + 1]
        assert found[drift.largest(k)] == max(path.drift[: at + 1])
        assert found[iag.before(k)] == max(path.drift[:at], default=0)
        assert found[drift.error(k)] == path.error[at]
        assert found[drift.table_mean(k)] == path.table_mean[at]
        assert found[drift.gap_mean(k)] == path.gap_mean[at]


def test_the_recursions_of_a_round_are_those_of_its_orders():
    """d_k of the first client's order, and of the order in turn."""
    from cflag_theory.claims.c_flag.local_steps import drift
    from cflag_theory.claims.c_flag.local_steps.ours import worst_order as ours_worst_order
    from cflag_theory.claims.c_flag.local_steps.ours import worst_sums as ours_worst_sums
    from cflag_theory.claims.engine.notation import E, grad_g, k
    from cflag_theory.verify.instances.recursions import local_worst

    for case in _small_rounds(20):
        found = ledger_rounds.with_recursions(case)
        _, orders, local = _as_problem(case)
        ns = [1 + case[f"copies_{i}"] for i in (1, 2)]
        worst = [local_worst(orders[i], n=ns[i], step=local) for i in range(len(orders))]
        at, g = found[k], found[grad_g]
        steps = orders.shape[1]
        assert found[drift.d(k)] == g * worst[0].drift[at]
        turns = local_worst([j % ns[0] for j in range(steps)], n=ns[0], step=local)
        assert found[ours_worst_order.d_turns(k)] == g * turns.drift[at]
        shares = [case["p_1"], 1 - case["p_1"]] if len(orders) == 2 else [1]
        assert found[ours_worst_sums.d_sum(E)] == g * sum(
            p * sum(one.drift[:steps]) for p, one in zip(shares, worst, strict=True)
        )


def test_a_run_on_the_union_is_algorithm_1_on_it():
    """(67)-(68) with a full table are Algorithm 1 with alpha = beta whose past and current data are the union."""
    from cflag_theory.claims.c_flag.union import surrogate

    draw = {
        "p_1": Fraction(1, 3),
        "E": 1,
        "T": 3,
        "u": Fraction(1, 5),
        "loss": Fraction(0),
        **{
            f"{n}_{i}": Fraction(i + j, 3) for i in (1, 2) for j, n in enumerate(("memory_slope", "curvature", "slope"))
        },
        "memory_curvature_1": Fraction(-1),
        "memory_curvature_2": HALF,
        "copies_1": 1,
        "copies_2": 2,
        "stride_1": 0,
        "stride_2": 1,
    }
    found = ledger_rounds.values_on_union(draw)
    both = [
        [(draw[f"memory_curvature_{i}"], -draw[f"memory_slope_{i}"])]
        + [(draw[f"curvature_{i}"], -draw[f"slope_{i}"])] * draw[f"copies_{i}"]
        for i in (1, 2)
    ]
    problem = on_the_line(both, both, start=0, L=1, p=[Fraction(1, 3), Fraction(2, 3)])
    trace = exact_run(problem, alpha=Fraction(1, 5), beta=Fraction(1, 5), local_steps=1, rounds=3)
    path = [*trace.column("f")[0], trace.at_end("f")[0]]
    assert found[surrogate.h(0)] == path[0]
    assert found[surrogate.h(surrogate.t + 1)] == path[1]
    assert found[surrogate.h(surrogate.T)] == path[3]
    assert found[surrogate.grad_h(surrogate.t)] ** 2 == trace.column("grad_f2")[0, 0]
    assert found[surrogate.least] == min(trace.column("grad_f2")[0])


x, y, z = sp.Symbol("x", nonnegative=True), sp.Symbol("y", positive=True), sp.Symbol("z", real=True)


def _facts(*relations):
    from cflag_theory.claims.engine.claim import Fact

    return tuple(Fact(str(n), relation, "") for n, relation in enumerate(relations))


def test_a_plan_solves_equations_and_keeps_ends_of_ranges():
    statement = Statement("", at_most(x, z), _facts(at_most(x, y), below(y, 2)), None, _facts(equal(z, x + y)))
    made = ledger_solving.plan(statement, spans={})
    assert next(symbol for symbol, _ in made.solved) == z
    shares = {symbol.name for symbol in made.free}
    assert shares == {"x_share", "y_share"}
    assert below(y, 2) in [r for r in made.left] or any(r.op == "<" for r in made.left)


def test_a_share_of_a_negative_bound_is_no_instance():
    """x <= z with x >= 0 and z < 0 has no solution, whatever the share."""
    statement = Statement("", at_most(x, 1), _facts(at_most(x, z)), None)
    made = ledger_solving.plan(statement, spans={})
    values = {symbol: -1 if symbol == z else 0 for symbol in made.free}
    assert any(not relation.subs(values).left <= relation.subs(values).right for relation in made.left)


def test_every_realisation_belongs_to_a_row_and_names_its_symbols():
    named = defaultdict(set)  # Rows of a world share its equations.
    for key, made in ledger_vectors.ROWS.items():
        name, _, on = key.rpartition(" ") if key.endswith(("printed", "repair", "sharp")) else (key, "", "")
        id, part = ".".join(name.split(".")[:2]), ".".join(name.split(".")[2:])
        parts = {one.key: one for one in claim(id).parts}
        assert part in parts, key
        chosen = [statement for role, statement in statements(parts[part]).items() if on in ("", role)]
        assert chosen, key
        facts = [fact.relation for one in chosen for fact in one.facts if fact.relation]
        relations = [one.relation for one in chosen] + facts
        symbols = {s.name for r in relations for side in (r.left, r.right) for s in side.free_symbols}
        pairs = [equation.split("=", 1) for equation in made.equations.split(";")]
        for left, right in pairs:
            named[left.strip(), right.strip()] |= symbols | set(re.findall(r"\w+", " ".join(r for _, r in pairs)))
    for (left, _), used in named.items():
        assert left in used


@pytest.mark.full
def test_every_row_has_instances_or_a_reason_why_not():
    for (id, part, on), statement in rows().items():
        reason = undrawn(id, part, on, statement)
        if not reason:
            assert row(id, part, on, statement).drawn
        else:
            with pytest.raises(InvalidInput, match="see cflag show"):
                row(id, part, on, statement)


# As evidence, and what is refused


def test_a_directed_search_is_property_evidence_and_refutes_nothing_alone():
    found = {(e.part, e.on): e for e in directed(claim("cfl.ratio_bound"), 0, 200)}
    assert {e.kind for e in found.values()} == {"property"}
    assert found["2", "printed"].finding == "refutes"
    assert found["2", "repair"].finding == "supports"
    assert found["2", "repair"].data["cases"] > 50
    assert found["2", "repair"].data["worst_ratio"] <= 1
    assert not any(e.data["exact"] for e in found.values())


def test_a_search_that_meets_no_instance_says_nothing_and_goes_on(monkeypatch):
    def nothing(*arguments, **options):
        raise InvalidInput("no case satisfies the hypotheses")

    monkeypatch.setattr(ledger_evidence, "falsify", nothing)
    found = directed(claim("cfl.nc_weights"), 0, 400)
    assert {(e.part, e.finding) for e in found} == {("1", "undecided"), ("2", "undecided")}
    assert "no case satisfies" in found[0].summary


def test_the_row_that_no_draw_once_satisfied_is_searched():
    found = {e.part: e.finding for e in directed(claim("cfl.nc_weights"), 0, 400)}
    assert found == {"1": "supports", "2": "refutes"}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("cflag.lemma99",), UnknownName, "no claim is called"),
        (("cflag.lemma13", "7"), UnknownName, "has no part '7'; its parts are 1"),
        (("cflag.lemma13", "1", "repair"), UnknownName, "no 'repair' statement"),
        (("cflag.eq22",), InvalidInput, "is an equation"),
        (("cflag.tables_text",), InvalidInput, "is not a relation between numbers"),
        (("cflag.thm5",), InvalidInput, "no family of small instances"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(arguments, error, words):
    id, part, on = (*arguments, *(None, "printed")[len(arguments) - 1 :])[:3]
    with pytest.raises(error, match=words):
        ledger_conjecture(id, part, on=on)


def test_what_a_stranger_would_be_told_of_a_statement_about_tables():
    """Whose entries are which, only a round tells: no instance is drawn from the words of Lemma 13 alone."""
    with pytest.raises(InvalidInput, match="only an instance tells"):
        instances(stated("Lemma 13", claim("cflag.lemma13").parts[0].printed))
