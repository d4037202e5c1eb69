"""Obligations as Coq lemmas: each a statement about real numbers, with its certificate as the proof.

The text uses Coq's standard library alone. Terms that are not polynomial become variables, as for the other engines;
a comment says what they stand for. A division is Coq's, where 1 / 0 is some number: a denominator that the premises do
not keep away from zero makes `field` fail, so that Coq checks what rational functions take for granted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.relation import Relation

#: What every file begins with, before the tactics.
PREAMBLE = """\
Require Import Reals Lra Psatz.
Open Scope R_scope.

Lemma by_certificate : forall l r u a : R, 0 < u -> 0 <= a -> (r - l) * u = a -> l <= r.
Proof.
  intros l r u a Hu Ha E. apply Rnot_lt_le. intro H.
  assert (0 < (l - r) * u) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma by_strict_certificate : forall l r u a : R, 0 < u -> 0 < a -> (r - l) * u = a -> l < r.
Proof.
  intros l r u a Hu Ha E. apply Rnot_le_lt. intro H.
  assert (0 <= (l - r) * u) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma by_residuals : forall l r u : R, 0 < u -> (r - l) * u = 0 -> l = r.
Proof. intros l r u Hu E. apply Rmult_integral in E. lra. Qed.
"""

#: Tactics for signs and denominators.
TACTICS = """\
Ltac positive :=
  match goal with
  | |- 0 < _ + _ => first [ apply Rplus_lt_le_0_compat; [positive | nonnegative]
                          | apply Rplus_le_lt_0_compat; [nonnegative | positive] ]
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
  | |- 0 < _ ^ _ => apply pow_lt; positive
  | |- 0 < / _ => apply Rinv_0_lt_compat; positive
  | |- _ => lra
  end
with nonnegative :=
  match goal with
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nonnegative
  | |- 0 <= _ * _ => apply Rmult_le_pos; nonnegative
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; nonnegative
  | |- _ => lra
  end.
Ltac nonzero :=
  match goal with
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
  | |- _ ^ _ <> 0 => apply pow_nonzero; nonzero
  | |- _ => first [apply Rgt_not_eq; unfold Rgt; first [lra | positive] | apply Rlt_not_eq; lra]
  end.
Ltac identity := first [ring | field; repeat split; nonzero].
"""

_OPERATORS = {"==": "=", "<=": "<=", "<": "<"}
_WORDS = """
R as at cofix else end exists fix for forall fun if in let match mod return Set Prop SProp Type then using where with
"""
#: Words of the language, and the type of the variables.
RESERVED = frozenset(_WORDS.split())


@dataclass(frozen=True)
class Lemma:
    """A statement for the reader, and the statement with its proof for Coq.

    `variables`, those with a `sign` among them and `more` strict premises are what a theorem needs to apply it: the
    premises are the signs, then `more`, then what is given. `parts` are the lemmas that a theorem applies.
    """

    name: str
    statement: str
    text: str
    variables: tuple[sp.Symbol, ...] = ()
    more: tuple[Relation, ...] = ()
    parts: tuple[Lemma, ...] = ()

    @property
    def signed(self) -> tuple[sp.Symbol, ...]:
        """The variables whose sign is a premise, in order."""
        return tuple(variable for variable in self.variables if variable.is_nonnegative)


class Words:
    """A Coq identifier for every symbol, never one for two."""

    def __init__(self, atoms: Mapping[sp.Expr, sp.Symbol]) -> None:
        self.atoms = {variable: term for term, variable in atoms.items()}
        self.of: dict[sp.Symbol, str] = {}

    def __call__(self, symbol: sp.Symbol) -> str:
        if symbol not in self.of:
            word = re.sub(r"\W+", "_", str(self.atoms.get(symbol, symbol)), flags=re.ASCII).strip("_")
            if not re.match(r"[A-Za-z]", word) or word in RESERVED or word.startswith(("by", "cert_")):
                word = f"v_{word}"
            taken, numbered, count = set(self.of.values()), word, 1
            while numbered in taken:
                count += 1
                numbered = f"{word}_{count}"
            self.of[symbol] = numbered
        return self.of[symbol]

    def meanings(self, variables: Sequence[sp.Symbol]) -> list[str]:
        """What variables stand for, where their names do not say it."""
        found = [
            f"{self(v)} is {self.atoms[v]}" for v in variables if v in self.atoms and self(v) != str(self.atoms[v])
        ]
        # A comment must not end before its end.
        return [re.sub(r"\(\*|\*\)|\"", "'", meaning) for meaning in found]


@dataclass(frozen=True)
class Printer:
    """Expressions in Coq's notation, with some symbols replaced by text."""

    words: Words
    texts: Mapping[sp.Symbol, str]
    #: What terms and factors are sorted by; by default sympy's order, which may change from process to process.
    order: Callable[[sp.Expr], str] | None = None

    def __call__(self, expr: sp.Expr) -> str:
        if expr.is_Rational:
            number = f"{expr.p}" if expr.q == 1 else f"{expr.p} / {expr.q}"
            return number if number.isdigit() else f"({number})"
        if expr.is_Symbol:
            return self.texts[expr] if expr in self.texts else self.words(expr)
        if isinstance(expr, sp.Add):
            terms = sorted(expr.args, key=self.order) if self.order else expr.as_ordered_terms()
            return "(" + " + ".join(map(self, terms)) + ")"
        if isinstance(expr, sp.Mul):
            factors = sorted(expr.args, key=self.order) if self.order else expr.as_ordered_factors()
            return "(" + " * ".join(map(self, factors)) + ")"
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
            base, power = self(expr.base), abs(int(expr.exp))
            raised = base if power == 1 else f"{base} ^ {power}"
            return f"(/ {base})" if expr.exp == -1 else f"(/ ({raised}))" if expr.exp < 0 else f"({raised})"
        raise TypeError(f"Coq has no word for {expr!r}")

    def relation(self, relation: Relation) -> str:
        """A relation in Coq's notation."""
        return f"{self(relation.left)} {_OPERATORS[relation.op]} {self(relation.right)}"


@dataclass(frozen=True)
class _Shape:
    """(right - left) under = above + rest; above and under not negative, and a residual in every term of rest.

    `stands_for` says what the slacks, squares and residuals among the symbols mean.
    """

    above: sp.Expr
    rest: sp.Expr
    under: sp.Expr
    stands_for: Mapping[sp.Symbol, sp.Expr]
    residuals: tuple[sp.Symbol, ...]


def _shape(given: Mapping[str, Relation], certificate: sp.Expr, atoms: algebra.Atoms) -> _Shape:
    slacks, residuals, stands_for = {}, {}, {}
    for number, (key, fact) in enumerate(given.items()):
        if fact.op == "==":
            residuals[algebra.residual(key)] = mark = sp.Dummy(f"r{number}", real=True)
            stands_for[mark] = fact.left - fact.right
        else:
            sign = {"positive": True} if fact.op == "<" else {"nonnegative": True}
            slacks[algebra.slack(key)] = mark = sp.Dummy(f"s{number}", **sign)
            stands_for[mark] = fact.right - fact.left
    marks = slacks | residuals
    squares = {}
    for number, term in enumerate(sorted(certificate.atoms(algebra.square), key=str)):
        squares[term] = mark = sp.Dummy(f"q{number}", nonnegative=True)
        stands_for[mark] = sp.Pow(atoms(term.args[0].xreplace(marks)), 2, evaluate=False)
    whole, under = sp.fraction(sp.together(sp.expand(atoms(certificate.xreplace(squares).xreplace(marks)))))
    whole, under = sp.expand(whole), sp.expand(under)
    if under.could_extract_minus_sign():
        whole, under = sp.expand(-whole), sp.expand(-under)
    above = whole.xreplace(dict.fromkeys(residuals.values(), sp.S.Zero))
    return _Shape(above, sp.expand(whole - above), under, stands_for, tuple(residuals.values()))


def lemma(
    name: str,
    goal: Relation,
    given: Mapping[str, Relation],
    certificate: sp.Expr,
    established: Sequence[Relation] = (),
    atoms: algebra.Atoms | None = None,
    order: Callable[[sp.Expr], str] | None = None,
) -> Lemma:
    """An obligation as a lemma of this name, see `proof.Obligation`.

    Of what else is `established`, strict inequalities become premises where they keep a denominator away from zero that
    nothing given does. `atoms` and `order` are those of a theorem that applies the lemma.

    Raises
    ------
    TypeError
        Something that is not rational in its atoms.
    """
    atoms = algebra.Atoms() if atoms is None else atoms

    def opened(fact: Relation) -> Relation:
        return Relation(atoms(fact.left), fact.op, atoms(fact.right))

    unopened = {opened(fact): fact for fact in established}
    goal, given = opened(goal), {key: opened(fact) for key, fact in given.items()}
    shape = _shape(given, sp.sympify(certificate), atoms)
    words = Words(atoms.of)
    variables: list[sp.Symbol] = []
    strict = [opened(fact) for fact in established if fact.op == "<"]
    sides = [side for fact in (*given.values(), goal) for side in (fact.left, fact.right)]
    apart = _apart((*sides, shape.rest), [fact for fact in given.values() if fact.op == "<"], strict)
    more = [fact for fact in dict.fromkeys(one.fact for one in apart) if fact not in given.values()]
    sides += [side for fact in more for side in (fact.left, fact.right)]
    for expr in (*sides, shape.above, shape.under, shape.rest, *shape.stands_for.values()):
        for symbol in sorted(expr.free_symbols - set(shape.stands_for), key=sp.default_sort_key):
            if symbol not in variables:
                variables.append(symbol)
    plain = Printer(words, {}, order)
    inside = _filled(plain, shape.stands_for)
    filled = Printer(words, {mark: f"({inside(meaning)})" for mark, meaning in shape.stands_for.items()}, order)
    signs = [f"0 {'<' if v.is_positive else '<='} {words(v)}" for v in variables if v.is_nonnegative]
    premises = [*signs, *map(plain.relation, (*more, *given.values()))]
    bound = f"forall {' '.join(map(words, variables))} : R,\n    " if variables else ""
    statement = bound + " ->\n    ".join([*premises, plain.relation(goal)])
    proof = _equation(plain, filled, shape) if goal.op == "==" else _inequality(plain, filled, shape, goal.op == "<")
    meanings = words.meanings(variables)
    comment = ["(* " + "; ".join(meanings) + " *)"] if meanings else []
    lines = [
        *comment,
        f"Lemma {name} : {statement}.",
        "Proof.",
        "  intros.",
        *_denominators(plain, apart),
        *proof,
        "Qed.",
    ]
    return Lemma(name, statement, "\n".join(lines), tuple(variables), tuple(unopened[fact] for fact in more))


def _filled(plain: Printer, of: Mapping[sp.Symbol, sp.Expr]) -> Printer:
    """A printer for what squares are made of: slacks and residuals inside of them are spelled out."""
    texts = {mark: f"({plain(meaning)})" for mark, meaning in of.items() if not meaning.free_symbols & set(of)}
    return Printer(plain.words, texts, plain.order)


def _equation(plain: Printer, filled: Printer, shape: _Shape) -> list[str]:
    marks = shape.stands_for
    return [
        _sign(plain, "cert_under", shape.under, marks),
        _rest(plain, shape),
        f"  apply (by_residuals _ _ {filled(shape.under)}); [{_apply('cert_under', shape.under, marks)} |].",
        f"  transitivity {filled(shape.rest)}; [identity | {_apply('cert_rest', shape.rest, marks)}].",
    ]


def _inequality(plain: Printer, filled: Printer, shape: _Shape, strict: bool) -> list[str]:
    by = "by_strict_certificate" if strict else "by_certificate"
    marks = shape.stands_for
    used = " ".join(filled(mark) for mark in marks if shape.rest.has(mark))
    return [
        _sign(plain, "cert_under", shape.under, marks),
        _sign(plain, "cert_above", shape.above, marks, strict=strict),
        _rest(plain, shape),
        f"  apply ({by} _ _ {filled(shape.under)} {filled(shape.above)});",
        f"    [{_apply('cert_under', shape.under, marks)} | {_apply('cert_above', shape.above, marks)} |].",
        f"  transitivity ({filled(shape.above)} + {filled(shape.rest)}); [identity |].",
        f"  rewrite (cert_rest {used}) by lra; ring." if used else "  ring.",
    ]


def _rest(plain: Printer, shape: _Shape) -> str:
    """That the terms with a residual vanish."""
    used = [mark for mark in shape.stands_for if shape.rest.has(mark)]
    zero = "".join(f"{plain.words(mark)} = 0 -> " for mark in used if mark in shape.residuals)
    quantifier = f"forall {' '.join(map(plain.words, used))} : R, {zero}" if used else ""
    return f"  assert (cert_rest : {quantifier}{plain(shape.rest)} = 0) by (intros; subst; ring)."


def _sign(plain: Printer, name: str, expr: sp.Expr, marks: Mapping[sp.Symbol, sp.Expr], *, strict: bool = True) -> str:
    """That an expression is positive, or not negative, whatever its slacks and squares are."""
    used = [mark for mark in marks if expr.has(mark)]
    ranges = "".join(f"0 {'<' if mark.is_positive else '<='} {plain.words(mark)} -> " for mark in used)
    quantifier = f"forall {' '.join(map(plain.words, used))} : R, {ranges}" if used else ""
    sign, tactic = ("<", "positive") if strict else ("<=", "nonnegative")
    return f"  assert ({name} : {quantifier}0 {sign} {plain(expr)}) by (intros; {tactic})."


def _apply(name: str, expr: sp.Expr, marks: Mapping[sp.Symbol, sp.Expr]) -> str:
    used = any(expr.has(mark) for mark in marks)
    return f"apply {name}; first [apply pow2_ge_0 | lra]" if used else f"exact {name}"


@dataclass(frozen=True)
class _Apart:
    """A denominator that is ratio * (right - left) of a strict fact, with a manifestly positive ratio."""

    denominator: sp.Expr
    ratio: sp.Expr
    fact: Relation


def _apart(expressions: Sequence[sp.Expr], given: Sequence[Relation], established: Sequence[Relation]) -> list[_Apart]:
    """What keeps the denominators that are not manifestly positive away from zero."""
    bases = {
        term.base
        for expr in expressions
        for term in sp.preorder_traversal(expr)
        if isinstance(term, sp.Pow)
        and term.exp.is_negative
        and not algebra.manifestly_nonnegative(term.base, strictly=True)
    }
    # What `field` asks for is cleared of fractions.
    cleared = {sp.expand(sp.fraction(sp.together(base))[0]) for base in bases}
    found = []
    for base in sorted(bases | cleared, key=sp.default_sort_key):
        for fact in (*given, *established):
            ratio = sp.cancel(base / fact.slack)
            signed = next((sign for sign in (1, -1) if _manifestly_positive(sign * ratio)), None)
            if signed is not None:
                found.append(_Apart(signed * base, signed * ratio, fact))
                break
    return found


def _manifestly_positive(expr: sp.Expr) -> bool:
    return algebra.manifestly_nonnegative(expr, strictly=True)


def _denominators(plain: Printer, apart: Sequence[_Apart]) -> list[str]:
    lines = []
    for number, one in enumerate(apart):
        above, under = sp.fraction(sp.together(one.ratio))
        product = f"{plain(above)} * ({plain(one.fact.right)} - {plain(one.fact.left)}) * / {plain(under)}"
        lines += [
            f"  assert (cert_apart{number} : 0 < {plain(one.denominator)}).",
            f"  {{ replace {plain(one.denominator)} with ({product}) by (field; repeat split; nonzero).",
            "    repeat apply Rmult_lt_0_compat; first [positive | lra]. }",
        ]
    return lines
