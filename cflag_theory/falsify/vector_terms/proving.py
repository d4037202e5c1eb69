"""The proving side: rules at all declared points and vectors, then a certificate by linear programming.

A proof is a statement of the ledger's kind with its steps, and counts only if the examiner accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import sympy as sp

from cflag_theory.claims.engine import door, rules
from cflag_theory.claims.engine.algebra import Atoms, manifestly_nonnegative, residual, slack
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.finder import find
from cflag_theory.claims.engine.operators import Index, Operator, Total
from cflag_theory.claims.engine.relation import Relation, at_most, sides
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step, Use
from cflag_theory.claims.engine.terms import Basis, Norm, Term, TermError, is_vector, norm, norm2
from cflag_theory.errors import InconsistentEvidence, InvalidInput
from cflag_theory.falsify.vector_terms import rounds
from cflag_theory.falsify.vector_terms.facts import Facts, known_of
from cflag_theory.falsify.vector_terms.reading import Reading
from cflag_theory.falsify.vector_terms.stages import functions, gradient_steps, norm_of, norms

#: More rule instances than this are not put into one linear program.
_MOST = 220


class Proved(NamedTuple):
    """A statement with a proof that the examiner accepts, the engines that agree, and whether the proof was found."""

    statement: Statement
    engines: tuple[str, ...]
    found: bool = True


def prove_vectors(reading: Reading) -> Proved | None:
    """The claim as a statement with a proof that the examiner accepts, or None, as of what the examiner cannot read."""
    if any(map(door.fault, sides(*reading.relations))):
        return None
    # A claim may be called as a hypothesis or a step is.
    named = replace(reading, name=f"the claim {reading.name!r}")
    one, back = rounds.of_one(named)
    # What holds at every round is enough for most claims about every round.
    if back and (direct := _direct(named)) is not None:
        return _statement(reading, direct)
    steps = _steps(one)
    if steps is None:
        return None
    if back:
        # Steps of an induction call it by its name.
        last = steps[-1] if isinstance(steps[-1], Induction) else replace(steps[-1], name=f"{named.name} at one")
        steps = [*steps[:-1], last, rules.at(named.name, *back, given=last.name)]
    return _statement(reading, steps)


def _steps(reading: Reading) -> Sequence[Step] | None:
    """The steps that show a claim, in the first way that finds some."""
    if not rounds.sums(reading):
        for end in rounds.ends(reading):
            if (steps := _by_induction(reading, end)) is not None:
                return steps
        at, uses = rounds.members(reading)
        if uses and (found := _direct(at, uses, reading.facts)) is not None:
            return found
    at, uses = rounds.at_ends(rounds.with_ends(reading))
    if (found := _direct(at, uses, reading.facts)) is not None:
        return found
    for end in rounds.ends(reading):
        if rounds.sums(reading):
            steps = _by_induction(reading, end)
        else:
            wider = rounds.with_sum(reading, end)
            steps = None if wider is None else _direct(wider)
        if steps is not None:
            return steps
    return _for_each(reading)


def _for_each(reading: Reading) -> Sequence[Step] | None:
    """The claim in the mean, where it is what a relation for each value of the mean's index says."""
    for operator in reading.operators:
        goal = reading.goal.map(lambda side, over=operator: rounds.inside(side, over))  # type: ignore[misc]
        if operator.is_sum or operator.index not in goal.slack.free_symbols:
            continue
        # Exchanges apart: what is known of the mean would be lost.
        still = tuple(fact for fact in reading.facts if operator not in fact.relation.slack.atoms(Operator))
        if any(fact not in still and not fact.name.endswith("are exchanged") for fact in reading.facts):
            continue
        one = replace(reading, goal=goal, facts=still, name=f"{reading.name} for each {operator.index}")
        facts = _hypotheses(reading)
        facts.known[one.name] = rules.Known(goal)
        for total in (one for side in sides(reading.goal) for one in side.atoms(Total)):
            if total.operator.is_sum and isinstance(total.body, Total) and total.body.operator == operator:
                facts.use(rules.exchange(f"{total} the other way", operator, total.operator, total.body.body))
        averaged = facts.use(rules.mean(f"{one.name}, under {operator}", operator, given=one.name))
        # Only under the mean: the claim has no index of it.
        known = {name: relation for name, relation in facts.relations().items() if name != one.name}
        certificate = None if averaged is None else find(reading.goal, known)
        steps = None if averaged is None or certificate is None else _steps(one)
        if steps is not None:
            used = facts.used(certificate)
            shown = (facts.steps[name] for name in used if name in facts.steps)
            uses = (replace(step, given=(steps[-1].name,)) if step.given else step for step in shown)
            return [*steps, *uses, Obligation(reading.name, reading.goal, used, certificate)]
    return None


def _by_induction(reading: Reading, end: sp.Symbol) -> Sequence[Step] | None:
    """The claim for every number of rounds, from its first value and from one to the next.

    A claim about one round and more is about none first, where it often says nothing.
    """
    if end.is_positive:
        count = sp.Symbol(reading.fresh(end.name), integer=True, nonnegative=True)
        try:
            facts = tuple(fact for fact in reading.facts if end not in fact.relation.free_symbols)
            wider = replace(reading, goal=reading.goal.xreplace({end: count}), facts=facts)
            none = wider.goal.subs({count: sp.S.Zero})
            strange = none.slack.has(sp.zoo, sp.nan) or any(map(door.fault, sides(wider.goal)))
            steps = None if strange else _by_induction(wider, count)
        except TermError:
            steps = None
        if steps is not None:
            return [*steps, Instance(reading.name, steps[-1].name, count, end)]
    parts = []
    name = f"{reading.name} for every {end}"
    for value, word in ((sp.Integer(rounds.first(end)), "first"), (end + 1, "next")):
        asked, uses = rounds.at_round(reading, end, value, f"{name} (hypothesis)")
        found = _by_factor(asked, reading.goal, end, uses, reading.facts) if value == end + 1 else None
        found = found or _direct(asked, uses, reading.facts)
        if found is None:
            return None
        parts.append(_renamed(found, word))
    return [Induction(name, end, reading.goal, tuple(parts[0]), tuple(parts[1]))]


def _by_factor(
    asked: Reading, before: Relation, end: sp.Symbol, shown: Sequence[Use], original: Sequence[Fact]
) -> list[Use | Obligation] | None:
    """The next round's claim from the one before, where its right side has a factor more: that factor times the left.

    Powers of the number of rounds on the left are left out of what is proved of one round.
    """
    if asked.goal.op != "<=" or before.right == 0:
        return None
    ratio, past = sp.powsimp(asked.goal.right / before.right), asked.facts[-1]
    common = sp.Mul(*(one for one in sp.Mul.make_args(before.left) if one.is_Pow and end in one.exp.free_symbols))
    if ratio.atoms(Term) or end in ratio.free_symbols or ratio == common == 1:
        return None
    left, right = (sp.powsimp(one / common) for one in (asked.goal.left, ratio * before.left))
    lemma = replace(
        asked, goal=at_most(left, right), facts=asked.facts[:-1], name=f"{asked.name}, from one to the next"
    )
    steps = _direct(lemma, shown, original)
    if steps is None:
        return None
    steps, facts = _renamed(steps, "one round"), _given(asked, shown, original)
    numbers = {name: one for name, one in facts.relations().items() if not one.slack.atoms(Term)}
    facts.known[steps[-1].name] = rules.Known(lemma.goal)
    certificate = find(asked.goal, numbers | {past.name: past.relation, steps[-1].name: lemma.goal})
    return None if certificate is None else _shown(steps, facts, asked, certificate)


def _shown(
    steps: Sequence[Use | Obligation], facts: Facts, reading: Reading, certificate: sp.Expr
) -> list[Use | Obligation]:
    """These steps, and what else a certificate of the claim needs: what it adds up, and that divisors are not 0."""
    divisors = (name for name in facts.strict if name.endswith("is not 0"))
    used = tuple(dict.fromkeys((*facts.used(certificate), *divisors)))
    more = (facts.steps[name] for name in _needed(facts, list(used)))
    return [*steps, *more, Obligation(reading.name, reading.goal, used, certificate)]


def _renamed(steps: Sequence[Use | Obligation], word: str) -> list[Use | Obligation]:
    """Steps under names of their own."""
    names = {step.name: f"{step.name} ({word})" for step in steps}
    marks = {mark(old): mark(new) for old, new in names.items() for mark in (slack, residual)}
    found = []
    for step in steps:
        made = replace(step, name=names[step.name], given=tuple(names.get(name, name) for name in step.given))
        if isinstance(made, Obligation) and made.certificate is not None:
            made = replace(made, certificate=made.certificate.xreplace(marks))
        found.append(made)
    return found


def _direct(
    reading: Reading, shown: Sequence[Use] = (), original: Sequence[Fact] = ()
) -> list[Use | Obligation] | None:
    """The steps that show a claim without induction; `shown` are uses that some of its facts come from."""
    goal = reading.goal
    if goal.op != "<" and sp.expand(goal.slack) == 0:
        return [Obligation(reading.name, goal, (), sp.S.Zero)]
    if (rooted := _by_root(reading, shown, original)) is not None:
        return rooted
    # A bound of norms is proved of their squares.
    of_norms = goal.op == "<=" and reading.norms and manifestly_nonnegative(Atoms()(goal.right))
    squared = at_most(sp.expand(goal.left**2), sp.expand(goal.right**2)) if of_norms else None
    direct = squared is None or norm_of(goal.left) is None or norm_of(goal.right) is None
    facts = _given(reading, shown, original)
    for stage in (functions, norms, gradient_steps):
        before = len(facts.known)
        _add(stage, reading, facts)
        if len(facts.known) > _MOST:
            return None
        for hint in reading.hints:
            facts.prove(hint)
        if len(facts.known) == before and stage is not functions:
            continue
        found = facts.certificate(goal) if direct else None
        if found is None and squared is not None and stage is not functions:
            found = _by_squares(facts, goal, squared)
        if found is None and direct and (reading.norms or not facts.refused):
            found = find(goal, facts.relations())
        if found is not None:
            return _shown([], facts, reading, found)
    return None


def _add(stage: Callable[[Reading, Facts], None], reading: Reading, facts: Facts) -> None:
    """What a stage knows, also under means."""
    before = len(facts.known)
    stage(reading, facts)
    _under_means(reading, facts, list(facts.known)[before:])
    if stage is functions:
        _under_means(reading, facts, list(facts.known)[:before])
        scattered = map(facts.use, [*rounds.scattered(reading, [reading.goal, *facts.relations().values()])])
        _under_means(reading, facts, list(filter(None, scattered)))
        _with_totals(facts)
        for use in (*rounds.telescoped(reading), *rounds.tangents(reading), *rounds.minima(reading)):
            facts.use(use)


def in_squares(reading: Reading) -> tuple[Relation, dict[str, Relation]]:
    """The goal, between squares where it is between two norms, and all that rules say: what programs are made of."""
    facts, goal = _hypotheses(reading), reading.goal
    for stage in (functions, norms) if reading.norms else (functions, gradient_steps):
        _add(stage, reading, facts)
    for hint in reading.hints:
        facts.prove(hint)
    left, right = norm_of(goal.left), norm_of(goal.right)
    if left is not None and right is not None:
        (b, u), (c, v) = left, right
        goal = at_most(norm2(b * u), sp.expand(c**2 * norm2(v)))
    return goal, {name: one.relation for name, one in facts.known.items()}


def _by_squares(facts: Facts, goal: Relation, squared: Relation) -> sp.Expr | None:
    """The goal's certificate from its root, where the relation between the squares was proved, or from a rule alone."""
    for name, known in facts.known.items():
        if known.relation == goal:
            return slack(name)
    name = "squares"
    if (certificate := find(squared, facts.relations())) is not None:
        facts.known[name] = rules.Known(squared)
        facts.steps[name] = Obligation(name, squared, facts.used(certificate), certificate)
    if name not in facts.known:
        return None
    root = facts.use(rules.square_root("roots", goal.left, goal.right, given=name))
    return None if root is None else slack(root)


def _by_root(reading: Reading, shown: Sequence[Use], original: Sequence[Fact]) -> list[Use | Obligation] | None:
    """A bound b ||u|| <= c ||v|| from that of the squares, where 0 <= c follows from what is known of numbers."""
    left, right = norm_of(reading.goal.left), norm_of(reading.goal.right)
    if reading.goal.op != "<=" or left is None or right is None:
        return None
    (b, u), (c, v) = left, right
    facts = _given(reading, shown, original)
    numbers = [name for name, one in facts.relations().items() if not one.slack.atoms(Term)]
    signs = {one: f"sign of {one}" for one in (b, c)}
    for one, name in signs.items():
        facts.derive(name, at_most(0, one), numbers)
    name = f"{reading.name}, in squares"
    lemma = replace(reading, goal=at_most(norm2(b * u), c**2 * norm2(v)), name=name)
    steps = _direct(lemma, shown, original) if {*signs.values()} <= facts.known.keys() else None
    if steps is None:
        return None
    # What shows the squares may have names of steps from there on.
    steps = _renamed(steps, "squares")
    facts.known[name := steps[-1].name] = rules.Known(lemma.goal)
    one, other = norm(sp.expand(b * u)), norm(sp.expand(c * v))
    squares = [facts.square_of(w) for w in sorted({n.args[0] for n in (one * other).atoms(Norm)}, key=str)]
    facts.derive("squares", at_most(one**2, other**2), [name, *squares])
    facts.use(rules.square_root("roots", one, other, given="squares"))
    for c, w in (left, right):
        facts.use(rules.norm_of_multiple(f"norm of {c * w}", w, c, given=signs[c]))
    certificate = find(reading.goal, facts.relations()) if "roots" in facts.known else None
    if certificate is None:
        return None
    return _shown(steps, facts, reading, certificate)


def _given(reading: Reading, shown: Sequence[Use], original: Sequence[Fact]) -> Facts:
    """The hypotheses, of which `shown` are uses that some come from, and more."""
    facts = _hypotheses(reading)
    facts.behind = {fact.name: known_of(fact) for fact in original}
    for use in shown:
        if use.name in facts.known:
            facts.steps[use.name] = use
        else:
            facts.use(use)
    return facts


def _hypotheses(reading: Reading) -> Facts:
    facts = Facts()
    facts.known |= {fact.name: known_of(fact) for fact in reading.facts}
    return facts


def _under_means(reading: Reading, facts: Facts, names: list[str]) -> None:
    """Every relation that holds for each value of an index, under the means over that index, and so on."""
    for name in names:
        known = facts.known[name]
        free = known.relation.left.free_symbols | known.relation.right.free_symbols
        if not any(isinstance(s, Index) for s in free) or is_vector(known.relation.left):
            continue
        summed = reading.sums_outside and any(one.is_sum for one in known.relation.slack.atoms(Operator))
        for operator in reading.operators:
            if operator.index in free and (operator.is_sum or not summed):
                for weight in rounds.weights(reading, operator):
                    what = f"{name}, under {operator}" + (f", weighed by {weight}" if weight != 1 else "")
                    made = facts.use(rules.mean(what, operator, weight, given=name))
                    _under_means(reading, facts, [made] if made else [])


def _with_totals(facts: Facts) -> None:
    """What has a sum of weights times something, with the value of that sum."""
    for (name, one), (total, equation) in permutations(facts.relations().items(), 2):
        if equation.op == "==" and equation.left.atoms(Total, Basis) == {equation.left} <= one.slack.atoms(Total):
            left, right = (sp.expand(side.xreplace({equation.left: equation.right})) for side in sides(one))
            facts.derive(f"{name}, by {total}", Relation(left, one.op, right), [name, total])


def _needed(facts: Facts, names: list[str]) -> list[str]:
    """The steps that these names rest on, each before what uses it."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        step = facts.steps.get(name)
        if step is None or name in ordered:
            return
        for other in step.given:
            visit(other)
        ordered.append(name)

    for name in names:
        visit(name)
    return ordered


def _statement(reading: Reading, steps: Sequence[Step]) -> Proved:
    statement = Statement(reading.name, reading.goal, reading.facts, Proof(tuple(steps)))
    examination = examine(statement)
    if any("contradict each other" in fault for fault in examination.faults):
        raise InvalidInput(f"{reading.name}: the hypotheses contradict each other, and anything follows: drop one")
    if examination.faults:
        raise InconsistentEvidence(
            f"{reading.name}: a proof was found that the examiner refuses: {examination.faults[0]}"
        )
    return Proved(statement, examination.engines)
