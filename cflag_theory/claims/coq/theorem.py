"""A proved statement as one Coq theorem, vectors included: its hypotheses and no others, every step an application.

The theorem is about an arbitrary inner-product space. Obligations are lemmas of their own, see `lemmas`; a use of a
rule applies the theorem behind it, see `uses`; inductions are Coq's. Nothing here is trusted: what Coq accepts is the
text of the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sympy as sp

from cflag_theory.claims.coq import lemmas, uses
from cflag_theory.claims.coq.forms import BRIDGE, Shown
from cflag_theory.claims.coq.lemmas import Lemma
from cflag_theory.claims.coq.text import Text
from cflag_theory.claims.engine.claim import SETTING, Statement
from cflag_theory.claims.engine.examiner import names_used
from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step, Use
from cflag_theory.claims.engine.terms import Function
from cflag_theory.claims.engine.transcript import Collector, inferences

#: The files of `proofs/` that theorems are made with, in the order in which they build on each other.
LIBRARY = ("Numbers", "Inner", "Operators", "Functions", "Exponential", "Sequences", "Steps")
#: What every file of theorems begins with.
PREAMBLE = f"""\
{lemmas.PREAMBLE}
Require Import Arith Lia List.
From CFlag Require Import {" ".join(LIBRARY)}.
Open Scope inner_scope.
{lemmas.TACTICS}"""


def theorem(name: str, statement: Statement) -> Lemma:
    """A statement whose proof `examine` accepts, as a theorem of this name with the lemmas that it applies.

    Raises
    ------
    TypeError
        A step that rests on words, or something that Coq has no word for.
    """
    if statement.proof is None or statement.relation is None:
        raise TypeError("there is no proof to write down")
    writer = Writer(name, statement)
    for step in statement.proof.steps:
        writer.take(step)
    return writer.whole(statement.proof.steps[-1].name)


@dataclass
class _Scope:
    """The lines of an induction: of its base, and of its step."""

    induction: Induction | None = None
    base: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def of(self, step: Step) -> list[str]:
        base = () if self.induction is None else self.induction.base
        return self.base if step in (base if isinstance(base, tuple) else (base,)) else self.lines


class Writer(Collector):
    """Takes the steps of a proof as the examiner does, and writes each one down."""

    def __init__(self, name: str, statement: Statement) -> None:
        super().__init__(statement)
        self.title, self.statement = name, statement
        self.text = Text()
        self.inferences = inferences(statement)
        self.lemmas: list[Lemma] = []
        self.scopes = [_Scope()]
        self.count = 0
        self.ranges: dict[Relation, str] = {}
        self.properties: dict[str, tuple[Function, str]] = {}
        self.of_settings: dict[str, Shown] = {}
        self.shown: dict[str, Shown] = {}
        for number, fact in enumerate(statement.facts):
            self.shown[fact.name] = self._fact(f"H_{number}", fact.name)

    def _fact(self, word: str, name: str) -> Shown:
        relation, reach = self.known[name], self.reach[name]
        running = _integers((relation,)) - reach.fixed
        return Shown(word, relation, _sorted(running), tuple(reach.ranges - {relation}))

    # What is known, at the present values of the symbols.

    def premise(
        self, name: str, values: dict[sp.Symbol, str] | None = None, within: dict[Relation, str] | None = None
    ) -> str:
        """A step or fact at the present values of its running symbols, or at others."""
        shown = self.established(name)
        places = [(values or {}).get(s) or self.text.symbol(s) for s in shown.running]
        ranges = []
        for one in shown.ranges:
            known = (within or {}).get(one) or self.ranges.get(one)
            if known is None:
                raise TypeError(f"{name!r} holds within {one} only")
            ranges.append(known)
        return f"({' '.join([shown.word, *places, *ranges])})" if places or ranges else shown.word

    def established(self, name: str) -> Shown:
        if name not in self.shown and name not in self.of_settings:
            if name not in SETTING:
                raise TypeError(f"{name!r} is not established")
            self.of_settings[name] = self._fact(f"Setting_{len(self.of_settings)}", name)
        return self.shown.get(name) or self.of_settings[name]

    def declared(self, f: Function, kind: str) -> str:
        """The hypothesis that a function, or each member of a family, has a declared property, for this member."""
        name = f.args[0].name
        word = f"{kind}_{self.text.name(('function', name), name)}"
        self.text.function(f), self.text.gradient(f)
        self.properties.setdefault(word, (f, kind))
        return f"({' '.join([word, *map(self.text.natural, f.args[1:])])})"

    # Steps.

    def take(self, step: Step) -> Relation:
        if isinstance(step, Induction):
            return self._take_induction(step)
        conclusion = super().take(step)
        if self.faults:
            raise TypeError(f"the proof has a fault: {self.faults[0]}")
        consumed: frozenset[sp.Symbol] = frozenset()
        if isinstance(step, Obligation):
            names = step.given
        elif isinstance(step, Use):
            names, consumed = step.given, uses.consumed(step)
        else:
            names, consumed = (step.of,), frozenset({step.index})
        reach = self.reach[step.name]
        inherited = {s for name in names for s in self.established(name).running} - consumed
        running = (_integers((conclusion,)) | inherited) - reach.fixed
        ranges = tuple(r for r in sorted(reach.ranges, key=str) if _integers((r,)) & running)
        self._write(step, Shown(self._word(), conclusion, _sorted(running), ranges))
        return conclusion

    def _word(self) -> str:
        self.count += 1
        return f"H{self.count}"

    def _write(self, step: Obligation | Use | Instance, shown: Shown) -> None:
        said = self.quantified(shown)
        names = {s: f"{self.text.binder(s)}_{self.count}" for s in shown.running}
        outer = self.ranges
        self.ranges = {**outer, **{r: f"Range{self.count}_{i}" for i, r in enumerate(shown.ranges)}}
        with self.text.binding(names):
            if isinstance(step, Obligation):
                body = self._apply_lemma()
            elif isinstance(step, Instance):
                body = self._at(step, shown.relation)
            else:
                body = [*self._apart(shown.relation), *uses.script(self, step, shown.relation)]
        intros = [*names.values(), *(self.ranges[r] for r in shown.ranges)]
        self.ranges = outer
        lines = self.scopes[-1].of(step)
        lines.append(f"assert ({shown.word} : {said}).")
        lines.append("{ " + (f"intros {' '.join(intros)}. " if intros else "") + "\n  ".join(body) + " }")
        self.shown[step.name] = shown

    def quantified(self, shown: Shown) -> str:
        """The relation for all its running symbols."""
        names = {s: self.text.binder(s) for s in shown.running}
        with self.text.binding(names):
            said = " -> ".join(map(self.text.relation, (*shown.ranges, shown.relation)))
        return f"forall {' '.join(names.values())} : nat, {said}" if names else said

    def _apply_lemma(self) -> list[str]:
        inference = self.inferences[len(self.found) - 1]
        given = inference.goal, inference.given, inference.certificate, inference.strict
        made = lemmas.lemma(f"{self.title}_{len(self.lemmas)}", *given, self.text.atoms, self.text.order)
        self.lemmas.append(made)
        values = [self.text.variable(v) for v in made.variables]
        names = {relation: name for name, relation in self.known.items() if name in self.shown}
        premises = [self.premise(names[fact]) for fact in made.more] + [self.premise(name) for name in inference.given]
        signs = ["ltac:(sign)"] * len(made.signed)
        return [f"exact ({' '.join([made.name, *values, *signs, *premises])})."]

    def _apart(self, relation: Relation) -> list[str]:
        """That expanded denominators are not zero, where their factors show it."""
        powers = relation.left.atoms(sp.Pow) | relation.right.atoms(sp.Pow)
        bases = {one.base for one in powers if one.exp.is_negative and one.base.is_Add}
        lines = []
        for base in sorted(bases, key=sp.default_sort_key):
            factors = sp.factor(base)
            if factors.is_Mul and not any(isinstance(s, Index) for s in base.free_symbols):
                shown = self.text.number(base), self.text.number(factors)
                proof = f"replace {shown[0]} with {shown[1]} by ring; Steps.nonzero"
                lines.append(f"first [assert ({shown[0]} <> 0) by ({proof}) | idtac].")
        return lines

    def _at(self, step: Instance, relation: Relation) -> list[str]:
        return uses.at_value(self, step.of, step.index, step.value, relation, step.within)

    def _take_induction(self, step: Induction) -> Relation:
        word, index, relation = self._word(), step.index, step.relation.unfolded
        fixed = frozenset().union(*(self.reach[name].fixed for name in names_used(step) if name in self.reach))
        others = _sorted(_integers((relation,)) - fixed - {index})
        place, hypothesis, range_word = f"{self.text.binder(index)}_{self.count}", f"Hypothesis_{word}", f"Range_{word}"
        names = {s: f"{self.text.binder(s)}_{self.count}" for s in others}
        outer, ranges, scope = dict(self.shown), self.ranges, _Scope(step)
        self.scopes.append(scope)
        assumed = self.shown[f"{step.name} (hypothesis)"] = Shown(hypothesis, relation, others)
        limit = Relation(index, "<=", outer[step.within].relation.right) if step.within else None
        if limit:
            self.shown[f"{step.name} (range)"] = Shown(range_word, Relation(index + 1, "<=", limit.right))
        with self.text.binding({**names, index: place}):
            at_place = self.quantified(assumed)
            conclusion = super().take(step)
            base = step.base[-1] if isinstance(step.base, tuple) else step.base
            first, last = self.premise(base.name), self.premise(step.step[-1].name)
            within = "" if limit is None else self.text.relation(Relation(index + 1, "<=", limit.right))
        self.scopes.pop()
        self.shown, self.ranges = outer, ranges
        shown = Shown(word, conclusion, (index, *others), () if limit is None else (limit,))
        bridge = BRIDGE[relation.op]
        intros = f"intros {' '.join(names.values())}. " if names else ""
        opening = [f"intro {range_word}_0. assert ({range_word} : {within}) by (rewrite S_INR in {range_word}_0; lra)."]
        opening.append(f"assert ({hypothesis} : {at_place}) by (intros; apply {hypothesis}_0; lra).")
        lines = self.scopes[-1].of(step)
        lines.append(f"assert ({word} : {self.quantified(shown)}).")
        cases = f"[|{place} {hypothesis}{'_0' if limit else ''}]"
        lines.append(f"{{ intro {place}. induction {place} as {cases}; {intros or 'idtac.'}")
        lines += ["{", *(["intros _."] if limit else []), *scope.base, f"{bridge} {first}.", "}"]
        lines += ["{", *(opening if limit else []), *scope.lines, f"{bridge} {last}.", "} }"]
        self.shown[step.name] = shown
        if limit is not None:
            # At the value of the index that the statement is about.
            here = Shown(self._word(), conclusion, others)
            lines.append(f"assert ({here.word} : {self.quantified(here)}) by (intros; apply {word}; lra).")
            self.shown[f"{step.name} (every)"], self.shown[step.name] = shown, here
        return conclusion

    # The whole.

    def whole(self, last: str) -> Lemma:
        """The theorem: its variables, their signs, what is declared, the hypotheses, and the statement."""
        assert self.statement.relation is not None
        conclusion = self.shown[last]
        closing = self.premise(last, None, {r: f"Range_{i}" for i, r in enumerate(conclusion.ranges)})
        said = list(map(self.text.relation, (*conclusion.ranges, self.statement.relation.unfolded)))
        named = [fact.name for fact in self.statement.facts]
        stated = [*(self.shown[name] for name in named), *self.of_settings.values()]
        facts = {shown.word: self.quantified(shown) for shown in stated}
        for f in tuple(self.text.functions.values()):
            if f.properties.lower is not None and f.properties.lower.is_nonnegative:
                self.declared(f, "lower")
        declared = {word: self.text.declared(f, kind) for word, (f, kind) in self.properties.items()}
        types = dict(self.text.types)
        means = {f"mean_{word}": f"mean {word}" for word, kind in types.items() if kind.startswith("operator")}
        signs = {f"Sign_{word}": said for word, said in self.text.signs.items()}
        variables: list[str] = []
        for symbol, word in self.text.free.items():
            kind = "nat" if symbol.is_integer else "R"
            variables.append(f"({word} : {kind})")
            if symbol.is_positive:
                signs[f"Sign_{word}"] = f"(0 < {word})%nat" if kind == "nat" else f"0 < {word}"
            elif symbol.is_nonnegative and kind == "R":
                signs[f"Sign_{word}"] = f"0 <= {word}"
        variables += [f"({word} : {kind})" for word, kind in types.items()]
        premises = {**signs, **means, **declared, **facts}
        ranges = {f"Range_{i}": text for i, text in enumerate(said[:-1])}
        bound = f"forall (V : space) {' '.join(variables)},\n    "
        statement = bound + " ->\n    ".join([*(f"({text})" for text in premises.values()), *said])
        words = [v[1:].partition(" ")[0] for v in variables]
        lines = [f"intros {' '.join(['V', *words, *premises, *ranges])}.", *self.scopes[0].lines, f"exact {closing}."]
        proof = "\n  ".join(lines)
        text = f"Theorem {self.title} : {statement}.\nProof.\n  {proof}\nQed."
        whole = "\n\n".join([*(one.text for one in self.lemmas), text])
        return Lemma(self.title, statement, whole, parts=tuple(self.lemmas))


def _integers(relations: Iterable[Relation]) -> frozenset[sp.Symbol]:
    """The symbols that may run through 0, 1, 2, ...; a number of clients or rounds is one number throughout."""
    free = {s for r in relations for s in r.left.free_symbols | r.right.free_symbols}
    return frozenset(s for s in free if s.is_integer and s.is_nonnegative and not s.is_positive)


def _sorted(symbols: Iterable[sp.Symbol]) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(symbols, key=sp.default_sort_key))
