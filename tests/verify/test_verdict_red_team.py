"""Attacks on how evidence becomes a verdict: fake claims and points, each refused; true ones beside them."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp
from expecting import expectations
from rows import points_of

from cflag_theory.claims import standing
from cflag_theory.claims.cfl.weights import independent
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Source, Statement, statements
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.printing import to_latex
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.printed import of_part
from cflag_theory.verify.evidence import Point, replay
from cflag_theory.verify.verdict import Evidence, decide, fault

w, q, c, u, x, y, z = sp.symbols("w q c u x y z", real=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
f, s = (sp.Function(name, real=True) for name in "fs")
DEFINED = Fact("q", equal(q, w + f(k) ** 2), "q = w + f(k)^2.", (k,))
ALWAYS = Fact("bound", at_most(s(k), c), "s(k) <= c for all k.", (k,))
OWN = Fact(
    "own", at_most(u, c), "Each client's u is at most c.", (sp.Symbol("client", integer=True, nonnegative=True),)
)


def finding(statement, point, paper=""):
    return [e.finding for e in replay(Part("1", statement), [point], paper)]


@pytest.mark.parametrize(("low", "high"), [(1, 0), (2, 1), (0, -1), (5, -5)])
def test_a_definition_with_a_valued_term_is_covered(low, high):
    statement = Statement("", at_most(w, q), (), None, (DEFINED,))
    assert finding(statement, Point({w: low, q: high})) == ["undecided"]


@pytest.mark.parametrize("first", [1, 2, 3, 8])
def test_a_sequence_is_what_its_definitions_make_of_it(first):
    more = Fact("more", equal(s(k + 1), 2 * s(k)), "It doubles.", (k,))
    statement = Statement("", at_most(s(2), 0), (), None, (Fact("start", equal(s(0), 1), ""), more))
    assert finding(statement, Point({s(2): first})) == ["undecided"]
    assert finding(statement, Point({s(0): 1, s(1): 2, s(2): 4})) == ["refutes"]


@pytest.mark.parametrize("values", [{s(k): 0, k: 0}, {s(k): 1, k: 3}, {s(k): -1, k: 1}])
def test_values_at_some_times_say_nothing_of_all_times(values):
    statement = Statement("", at_most(1, c), (ALWAYS,))
    point = Point({**values, c: 0 if values[s(k)] <= 0 else 1})
    assert finding(replace(statement, relation=at_most(2, c)), point) == ["undecided"]
    family = Point(point.values, members={"bound": [{s(k): point.values[s(k)]}] * 5})
    assert finding(replace(statement, relation=at_most(2, c)), family) == ["undecided"]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([], "undecided"),
        ([{u: 2}], "undecided"),
        ([{u: 1}, {u: 3}], "undecided"),
        ([{x: 0}], "undecided"),
        ([{u: 1}, {u: 0}], "refutes"),
    ],
)
def test_a_finite_family_is_tested_at_every_member(members, expected):
    point = Point({u: 0, c: 1}, members={"own": members})
    assert finding(Statement("", at_most(c, 0), (OWN,)), point) == [expected]


def test_what_a_reader_must_see_is_said():
    point = Point({u: 0, c: 1}, unseen="the other clients have u = 0")
    (found,) = replay(Part("1", Statement("", at_most(c, 0), (OWN,))), [point])
    assert found.summary.endswith("This last step is not machine-checked: the other clients have u = 0.")


BROKEN = [
    ("CFL", "p_current", "3/2"),
    ("CFL", "p_current", "-1/2"),
    ("CFL", "past_weights_sum", "-1/2"),
    ("CFL", "current_weight", "2"),
    ("CFL", "nc_past_weight", "5/4"),
    ("CFL", "weight_pairs", "-1"),
    ("CFL", "eta", "-1"),
    ("CFL", "eta_l", "0"),
    ("CFL", "K", "0"),
    ("CFL", "T", "0"),
    ("C-FLAG", "p_i", "2"),
    ("C-FLAG", "p_i", "-1/3"),
    ("C-FLAG", "alpha", "0"),
    ("C-FLAG", "beta", "-2"),
    ("C-FLAG", "N", "0"),
    ("C-FLAG", "E", "1/2"),
    ("C-FLAG", "sum_p", "9/10"),
]


@pytest.mark.parametrize(("paper", "name", "value"), BROKEN)
def test_no_counterexample_breaks_a_standing_assumption(paper, name, value):
    symbol = sp.Symbol(name, real=True)
    point = Point({symbol: sp.Rational(value), x: 1})
    assert finding(Statement("", at_most(x + 0 * symbol, 0)), point, paper) == ["undecided"]
    assert finding(Statement("", at_most(x, 0)), point, "ours") == ["refutes"]


@cache
def every_part():
    return [(one, part) for one in map(claim, LEDGER) for part in one.parts]


@cache
def symbols_of(paper):
    """The symbols of a paper's rows by name."""
    found = {
        symbol
        for one, part in every_part()
        if one.paper == paper
        for statement in statements(part).values()
        for relation in statement.relations
        for side in (relation.left, relation.right)
        for symbol in side.free_symbols | unfold(side).free_symbols
    }
    return {symbol.name: symbol for symbol in found}


@pytest.mark.parametrize("paper", standing.STANDING)
def test_a_standing_relation_speaks_of_symbols_of_the_papers_rows(paper):
    for text, relation in standing.relations(paper):
        assert {symbol.name for symbol in relation.slack.free_symbols} <= {*symbols_of(paper)}, text


#: By name, why no standing relation speaks of a weight.
FREE_WEIGHTS = {
    "nqm_p_now": "a plot's value, computed from a formula",
    "nqm_p_past": "a plot's value, computed from a formula",
}


def test_the_weights_of_rounds_are_all_standing():
    """A symbol whose letter is one weight is one that a standing relation speaks of."""
    named = {symbol.name for _, one in standing.relations("CFL") for symbol in one.slack.free_symbols}
    weight = re.compile(r"p_(t|\\tau|\{t,i\}|\{\\tau,i\})(\^(\*|\\star))?")
    letters = {name: to_latex(symbol) for name, symbol in symbols_of("CFL").items()}
    weights = {name for name, letter in letters.items() if weight.fullmatch(letter)}
    assert {"p_current", "past_weight", "current_weight", "nc_p_best"} <= weights
    assert weights - named == {*FREE_WEIGHTS}


@pytest.mark.parametrize("current", [Fraction(3, 2), Fraction(-1, 2), Fraction(2)])
def test_a_point_with_negative_weights_refutes_no_row_about_weights(current):
    """Weights -1/2 and 3/2 break the right side of (23) too, which is why other weights have to refute it."""
    part = next(part for part in claim("cfl.lemB4").parts if part.key == "4")
    honest = next(point for point in points_of("cfl.lemB4") if point.part == "4")
    sums = {independent.past2: (1 - current) ** 2, independent.p_t: current, independent.past_sum: 1 - current}
    point = replace(honest, values=honest.values | sums)
    assert [*standing.broken("CFL", point.values)]
    assert {e.finding for e in replay(part, [point], "CFL")} <= {"undecided", "supports"}
    assert [e.finding for e in replay(part, [point, honest], "CFL")] == ["refutes"]


def with_sharp(better, printed=1000, value=1, base=None):
    first = at_most(x, 2 * y) if base is None else base
    return Part(
        "1", Statement("", first), None, Sharp("", sp.sympify(printed), sp.sympify(value), Statement("", better))
    )


@pytest.mark.parametrize(
    "better", [at_most(x, 2 * y), at_most(x, y), at_most(z, y / 500), at_most(x, 3 * y), at_most(x, 0)]
)
def test_a_factor_separates_the_two_relations(better):
    assert fault(with_sharp(better), "sharp")
    assert fault(with_sharp(at_most(x, y), 2), "sharp") is None


@pytest.mark.parametrize("repair", [at_most(z, c), equal(u, c), below(z, u), at_most(0, z**2), at_most(u * c, z)])
def test_a_repair_is_related_to_what_is_printed(repair):
    part = Part("1", Statement("", at_most(x, y)), Repair("typo", "", Statement("", repair)))
    assert fault(part, "repair")
    assert fault(replace(part, repair=Repair("typo", "", Statement("", at_most(x, 2 * y)))), "repair") is None


@pytest.mark.parametrize("added", [at_most(x, y), at_most(x, y - 1), below(x, y), equal(x, y), at_most(2 * x, 2 * y)])
def test_an_added_condition_is_not_the_conclusion(added):
    mended = Statement("", at_most(x, y), (Fact("more", added, ""),))
    assert fault(Part("1", Statement("", at_most(x, y)), Repair("needs-hypothesis", "", mended)), "repair")


@pytest.mark.parametrize("kind", ["enumeration", "recomputation"])
@pytest.mark.parametrize("data", [{}, {"cases": 0}, {"compared": 0}, {"cases": "many"}, {"instance": []}])
def test_evidence_that_only_says_yes_or_no_decides_nothing(kind, data):
    table = Claim("ours.toy", "", "", (Part("1", Statement("", None)),))
    for word in ("supports", "refutes"):
        assert decide(table, [Evidence(kind, "1", "printed", word, "", data)]).verdict == "open"


STEP = "as a step from what is printed before it"
_AGAIN = "the line as corrected is proved, under what the source names"
#: Parts that hold although they use a line that fails as printed, with the reason why that is right.
USES_FALSE_LINES = {
    "cflag.thm2.anew": "(27) is assumed in the theorem; the row that fails derives it from Assumption 2",
    "cflag.eq63.60": _AGAIN,
    "cflag.eq74.1": _AGAIN,
    "cfl.eq13.2": _AGAIN,
}


def verdicts_of(id):
    return dict(zip((part.key for part in claim(id).parts), expectations()[id].verdicts.split(), strict=True))


def numbers(text):
    """The numbers of displayed equations: of "(17), (18)" and of the range "(29)-(31)"."""
    ends = re.findall(r"\((\d+)\)(?:-\((\d+)\))?", text)
    return {number for first, last in ends for number in range(int(first), int(last or first) + 1)}


@cache
def rows_of(paper, number):
    """The rows about a displayed equation of a paper."""
    return [
        one.id
        for one in map(claim, LEDGER)
        if one.paper == paper and number in numbers(one.where) and one.where[0] == "("
    ]


def false_lines(one, part):
    """The facts of a printed statement that are lines of a paper which fail as printed, or hold only as a step."""
    for fact in part.printed.facts:
        for source in fact.sources:
            other = next(part for part in claim(source.claim).parts if part.key == source.part)
            if verdicts_of(source.claim)[source.part] not in ("holds", "loose") or other.reading == STEP:
                yield fact.name
        if not fact.sources:
            rows = [id for number in numbers(fact.name) for id in rows_of(one.paper, number) if id != one.id]
            if any({*verdicts_of(id).values()} - {"holds", "loose"} for id in rows):
                yield fact.name


def test_what_another_row_shows_false_is_not_granted():
    """The rule of inheritance, over all rows: a part that uses such a line says so, and another one decides without."""
    unsettled = set()
    for one, part in every_part():
        uses = part.kind == "claim" and one.paper != "ours" and verdicts_of(one.id)[part.key] in ("holds", "loose")
        if not uses or not [*false_lines(one, part)]:
            continue
        lines = {line.text for line in of_part(one.id, part.key)}
        beside = [
            other
            for other in one.parts
            if other.key != part.key
            and other.kind == "claim"
            and not [*false_lines(one, other)]
            and lines & {line.text for line in of_part(one.id, other.key)}
        ]
        if part.reading != STEP or not beside:
            unsettled.add(f"{one.id}.{part.key}")
    assert unsettled == {*USES_FALSE_LINES}


def test_a_printed_line_is_granted_only_as_a_step():
    """Whatever the verdict: a source that grants what is printed stands in a part whose reading says so."""
    for one, part in every_part():
        granted = [s for other in statements(part).values() for f in other.facts for s in f.sources if s.granted]
        assert not granted or part.reading == STEP, (one.id, part.key)


def test_every_repair_and_every_sharper_statement_belongs():
    """No claim of the ledger has a repair or a sharper statement that does not belong to it."""
    for one, part in every_part():
        assert {fault(part, on) for on in ("repair", "sharp")} == {None}, (one.id, part.key)


@pytest.mark.parametrize("shift", [1, 2, 3, Fraction(1, 2)])
def test_added_conditions_are_not_the_conclusion_together(shift):
    """x <= z and z + shift <= y say x <= y together, neither alone; a condition that needs a hypothesis may stay."""
    pair = (Fact("low", at_most(x, z), ""), Fact("high", at_most(z + shift, y), ""))
    part = Part("1", Statement("", at_most(x, y)))
    mended = Repair("needs-hypothesis", "", Statement("", at_most(x, y), pair))
    assert fault(replace(part, repair=mended), "repair")
    given = Part("1", Statement("", at_most(x, y), pair[:1]))
    assert fault(replace(given, repair=mended), "repair") is None
    # Where the condition comes from makes no difference, if it is granted or assumes more than the statement says.
    for source in (Source("cfl.eq17", granted=True), Source("cfl.eq17", besides=("more",))):
        other = Statement("", at_most(x, y), (replace(pair[0], sources=(source,)), pair[1]))
        assert fault(replace(part, repair=Repair("needs-hypothesis", "", other)), "repair")
    shown = Statement("", at_most(x, y), (replace(pair[0], sources=(Source("cfl.eq17"),)), pair[1]))
    assert fault(replace(part, repair=Repair("needs-hypothesis", "", shown)), "repair") is None


@pytest.mark.parametrize("number", [1, 2, -1, Fraction(1, 3)])
def test_a_number_on_a_side_relates_no_two_equations(number):
    part = Part("1", Statement("", equal(x + y, number)), Repair("typo", "", Statement("", equal(z, number))))
    assert fault(part, "repair")
    assert fault(replace(part, repair=Repair("typo", "", Statement("", equal(x + z, number)))), "repair") is None
