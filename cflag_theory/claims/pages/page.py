"""Pages of the ledger: text with one line a fact and a step, read into Claims.

A page is written as a paper is: notation, facts, schemes of steps that several proofs share, and claims. Nothing on a
page is believed: the examiner takes its Claims, Facts and Steps. The blocks of a page are the keys of `_BLOCKS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Source, Statement, setting
from cflag_theory.claims.engine.meanings import LATEX, sequence, symbol
from cflag_theory.claims.engine.operators import Largest, Least, index, mean_over, sum_over
from cflag_theory.claims.engine.printing import in_text
from cflag_theory.claims.engine.terms import DECLARED, function, ln
from cflag_theory.claims.pages.formula import (
    Vectors,
    Words,
    counted,
    declared_sort,
    formula,
    formulas,
    head_of,
    in_tex,
    names_of,
    read,
    relation,
    two_names,
    with_places,
)
from cflag_theory.claims.pages.proofs import Scheme
from cflag_theory.claims.pages.statements import check, claim_of, statement_of
from cflag_theory.claims.pages.text import Line, Piece, lines, only, shown

ROOT = "cflag_theory.claims"
#: Words of every page.
ALWAYS: Mapping[str, Any] = {name: getattr(sp, name) for name in ("exp", "sqrt", "cbrt", "expand")} | {
    "max": Largest,
    "min": Least,
    "sum": sum_over,
    "ln": ln,
    "larger": sp.Max,
    "smaller": sp.Min,
}
#: What no page may call anything: formulas and proofs read these words otherwise.
RESERVED = {*ALWAYS, *rules.USES, "grad", "hence", "from", "by", "for", "hypothesis", "range"}
#: Blocks of which several may stand on one line, with "; " between them, if none has words.
_LISTED = ("use", "let", "symbol", "sequence", "vector", "fact")


class Page:
    """The words, facts and claims of a page.

    Attributes
    ----------
    words : Words
        What names mean in its formulas.
    public : dict
        Those of its own.
    facts : dict of str to Fact
        By name, for the lists of a claim.
    claims : dict of str to callable
        Builders by id; a claim with constants can be built with others.
    """

    #: Whether it is of the ledger, whose names are its own, or of a folder; whether proofs are read only if asked for.
    of_ledger, proofs_later = True, False

    def __init__(self, text: str, where: str = "page", words: Mapping[str, Any] | None = None) -> None:
        self.where = where
        self.words = Words({**ALWAYS, **(words or {})})
        self.public: dict[str, Any] = {}
        self.facts: dict[str, Fact] = {}
        self.claims: dict[str, Callable[..., Claim]] = {}
        self.blocks: dict[str, Line] = {}
        self._named: dict[str, Line] = {}
        self._latex: dict[str, str] = {}
        for line in lines(text, where):
            if line.kind not in _BLOCKS:
                raise line.error(f"{line.kind!r} begins no block: use one of {', '.join(_BLOCKS)}")
            with line.placed():
                rest = line.said.behind(line.kind)
                for one in rest.listed("; ") if line.kind in _LISTED and not line.words else [rest]:
                    _BLOCKS[line.kind](self, line, one)

    def own(self, name: str) -> str:
        """The full name of a symbol, a vector, a function, a mean or a setting of the page."""
        return name

    def _name(self, name: str, value: Any, line: Line) -> None:
        """Give something its name, which nothing else on the page has."""
        if not re.fullmatch(r"[A-Za-z_]\w*'*", name, re.ASCII):
            raise line.error(f"{name!r} is no name: use letters a to z, digits and _, a letter first")
        if name in RESERVED:
            raise line.error(f"{name!r} is a word of every page: use another name")
        if name in self._named:
            raise line.error(f"{name!r} has a meaning since {self._named[name].place(line)}: use another name")
        self._named[name] = line
        self.public[name] = value
        self.words.define(name, value)

    def _drawn(self, name: str, latex: str, line: Line) -> None:
        """Refuse what a reader would take for something else of the page."""
        if self._latex.setdefault(latex, name) != name:
            raise line.error(
                f"{self._latex[latex]!r} and {name!r} would both be printed as {latex}: draw one otherwise"
            )

    def use(self, line: Line, rest: Piece) -> None:
        """`use module name other as here`: these names, or all, of a module or of another page."""
        place, *names = re.sub(r" as (\w+)", r"=\1", rest).split()
        known, get, facts = self._theirs(place, line)
        for both in names or known:
            name, _, here = both.partition("=")
            value, here = get(name), here or name
            if names and self._named.setdefault(here, line) is not line:
                at = self._named[here].place(line)
                raise line.error(f"{here!r} has a meaning since {at}: use it as another name")
            if names or here not in self.words:
                self.words.define(here, value)
            if isinstance(value, Fact):
                self.facts.setdefault(value.name, value)
                self.facts.update({here: value} if names else {})
        self.facts = {**facts, **self.facts}

    def _theirs(self, place: str, line: Line) -> tuple[list[str], Callable[[str], Any], dict[str, Fact]]:
        """What a page or a module gives to those that use all of it, what a name of it means, and its facts."""
        module = import_module(f"{ROOT}.{place}")
        page = getattr(module, "PAGE", None)
        words = page.words if page else {}

        def get(name: str) -> Any:
            if name not in words and not hasattr(module, name):
                raise line.error(f"{place} has no {name!r}")
            return words[name] if name in words else getattr(module, name)

        return [name for name in vars(module) if not name.startswith("_")], get, page.facts if page else {}

    def let(self, line: Line, rest: Piece) -> None:
        """`let name(a, b) = formula`: an abbreviation; a relation is one too."""
        head, body = rest.cut(" = ")
        name, places = head_of(head)
        self._name(name, read(body, self.words) if places is None else self._function(places, body), line)

    def _function(self, places: list[Piece], body: Piece) -> Callable[..., Any]:
        def at(*values: Any) -> Any:
            return read(body, self.words.with_own(self.bound(places, values)))

        # `sequence` asks a function how many places it has.
        fixed: dict[int, Callable[..., Any]] = {1: lambda a: at(a), 2: lambda a, b: at(a, b)}
        return at if any(" = " in place for place in places) else fixed.get(len(places), at)

    def bound(self, places: list[Piece], values: tuple[Any, ...]) -> dict[str, Any]:
        """Places by name, with what they are given or else their defaults."""
        split = [place.cut(" = ") for place in places]
        if len(values) > len(places):
            raise TypeError(f"{len(values)} values for {', '.join(places) or 'no place'}")
        late = [formula(default, self.words) if default else None for _, default in split[len(values) :]]
        if None in late:
            raise TypeError(f"{len(values)} values for {', '.join(places)}")
        exact = (sp.sympify(value) if isinstance(value, int) else value for value in values)
        return dict(zip((str(name) for name, _ in split), (*exact, *late), strict=True))

    def symbol(self, line: Line, rest: Piece) -> None:
        r"""`symbol W positive natural : W`, `symbol least = formula : \LaTeX`; `symbol long as short` has two names.

        `symbol k, n natural` are two symbols.
        """
        head, latex = rest.drawn()
        head, body = head.cut(" = ")
        *others, last = [head] if body else head.listed(", ")
        name, short, sort = names_of(last)
        declared = declared_sort(sort)
        for each, here in (*(two_names(one, "the sort stands last: k, n natural") for one in others), (name, short)):
            if latex or not self.of_ledger:
                means = formula(body, self.words) if body else None
                made = symbol(self.own(each), latex or in_tex(here), means, **declared)
            else:
                made = sp.Symbol(each, **declared)
            self._name(here, made, line)
            self._drawn(here, latex or in_tex(here), line)

    def sequence(self, line: Line, rest: Piece) -> None:
        r"""`sequence drift(k) = formula : \LaTeX`; or with a sort and no meaning, `sequence d nonnegative : d_{@}`."""
        head, latex = rest.drawn()
        head, body = head.cut(" = ")
        named, places = head, None
        if "(" in head.unquoted and not head.startswith('"'):
            opened, closed = head.index("("), head.index(")")
            named = Piece.of(line, head[:opened] + head[closed + 1 :], head.start)
            places = head.part(opened + 1, closed).listed(", ")
        name, short, sort = names_of(named)
        means = self._function(places, body) if body and places else None
        if not (self.of_ledger or latex):
            latex = Piece.of(line, with_places(short, len(places or "k")))
        own = self.own(name)
        made = sequence(own, latex, means, **declared_sort(sort)) if latex else sp.Function(own, **declared_sort(sort))
        self._name(short, made, line)

    def vector(self, line: Line, rest: Piece) -> None:
        r"""`vector x, y`; called with indices `vector x as point : x_{@}`, `vector x(k)`; in the ledger with these."""
        head, latex = rest.drawn()
        for one in [head] if latex else head.listed(", "):
            taken = re.search(r"\(([\w, ]*)\)(?= as |$)", one)
            named = Piece.of(line, one[: taken.start()] + one[taken.end() :], one.start) if taken else one
            name, short = two_names(named, "a vector has no sort, and between several stand commas: vector x, y")
            fixed = formulas(taken[1], self.words) if taken and self.of_ledger else None
            places = len(re.findall(r"\w+", taken[1])) if taken and not self.of_ledger else 0
            made = Vectors(self.own(name), latex or with_places(name, places))
            self._name(short, made if fixed is None else made(*fixed), line)

    def function(self, line: Line, rest: Piece) -> None:
        r"""`function f as loss; smooth = L; mu = m; lower = 0 : f`: what is declared of it."""
        head, latex = rest.drawn()
        named, *declared = head.listed("; ")
        name, short = two_names(named, "write function f; smooth = L; mu = m; lower = 0")
        constants = {}
        for key, body in (one.cut(" = ") for one in declared):
            if key not in DECLARED:
                raise key.error(f"{key!r} is not declared of a function: use smooth, mu or lower")
            constants[str(key)] = formula(body, self.words)
        self._name(short, function(self.own(name), latex or name, **constants), line)

    def index(self, line: Line, rest: Piece) -> None:
        """`index l as ell`: of means, sums and maxima."""
        for one in rest.listed(", "):
            name, short = two_names(one, "between indices stand commas: index i, j")
            self._name(short, made := index(self.own(name)), line)
            if LATEX.setdefault(made, in_tex(short)) != in_tex(short) and self.of_ledger:
                raise line.error(f"the index {name} prints as {LATEX[made]} elsewhere: give it the same short name")

    def mean(self, line: Line, rest: Piece) -> None:
        r"""`mean clients as of_all over i : \LaTeX`: with non-negative weights that sum to one, or an expectation."""
        head, latex = rest.drawn()
        head, over = head.cut(" over ")
        name, short = two_names(head, "write mean clients over i")
        self._name(short, mean_over(self.own(name), formula(over, self.words), *([latex] if latex else [])), line)

    def setting(self, line: Line, rest: Piece) -> None:
        """`setting NAME = key: relation -- words`: what a vector or an index is in every run; NAME may be left out."""
        named = re.match(r"(\w+) = .*?: ", rest)
        fact = self.read_fact(rest.part(named.end(1) + 3) if named else rest, line, self.words)
        key = setting(self.own(fact.name), fact.relation, fact.words)
        if named:
            self._name(named[1], key, line)

    def fact(self, line: Line, rest: Piece) -> None:
        """`fact NAME = name: relation -- words`, or with places, `fact NAME(a) = ...`, or `fact name: relation`."""
        if not re.match(r"\w+(\([\w, ]*\))? = .*?: ", rest):
            made = self.read_fact(rest, line, self.words)
            if made.name in self.facts and (not self.of_ledger or self._named.get(f"fact {made.name}")):
                raise line.error(f"two facts of the page are named {made.name!r}")
            self._named[f"fact {made.name}"] = line
            self.facts[made.name] = made
            return
        head, _ = rest.cut(" = ")
        body = rest.part(rest.index(" = ") + 3)
        name, places = head_of(head)
        if places is not None:
            self._name(name, lambda *v: self.read_fact(body, line, self.words.with_own(self.bound(places, v))), line)
            return
        made = self.read_fact(body, line, self.words)
        self._name(name, made, line)
        if not self.of_ledger and self.facts.get(made.name, made) != made:
            raise line.error(f"a fact named {made.name!r} is known here already: use another name")
        self.facts.setdefault(made.name, made)
        self.facts[name] = made

    def several(self, line: Line, rest: Piece) -> None:
        """`facts NAME = name; name`: several under one name; with places, `facts NAME(X) = name(X); name`."""
        head, listed = rest.cut(" = ")
        name, places = head_of(head)

        def made(*values: Any) -> tuple[Fact, ...]:
            return tuple(self.listed(listed, line, self.words.with_own(self.bound(places or [], values))))

        self._name(name, made() if places is None else made, line)

    def listed(self, text: Piece, line: Line, words: Words) -> Iterator[Fact]:
        """The facts of a list: names, calls of facts with places, and facts that are written out."""
        for item in [text] if line.words else text.listed("; "):
            if not item.quoted and ": " in item:
                yield self.read_fact(item, line, words)
                continue
            item = item.unquoted
            named = self.facts[item] if item in self.facts else formula(item, words)
            if not isinstance(named, Fact | tuple):
                raise item.error(f"{item!r} is no fact")
            yield from named if isinstance(named, tuple) else (named,)

    def read_fact(self, text: Piece, line: Line, words: Words) -> Fact:
        """`name: relation -- words`, with `for every i,` before and `by SOURCE` behind the relation."""
        name, body = text.cut(": ")
        body, source = body.cut(" by ")
        many = body.startswith("for every ")
        running, body = body.behind("for every").cut(", ") if many else (body, body)
        every = tuple(counted(one, words) for one in running.listed(" and ")) if many else ()
        found = relation(body, words)
        sources = tuple(_flat(formulas(source, words)))
        return Fact(str(name.unquoted), found, shown(line.words, words.told) or f"{in_text(found)}.", every, sources)

    def source(self, line: Line, rest: Piece) -> None:
        """`source name = claim, part, role`, with `at a := b; ...`, `besides x; y` and the like under it."""
        name, what = rest.cut(" = ")
        place = [str(one.unquoted) for one in what.listed(", ")]
        claim, part, role = (*place, *("", "1", "printed")[len(place) :])
        parts: dict[str, list[Piece]] = {}
        only(line, ("at", "ends", "here", "taken", "over", "besides", "granted"), "a source")
        for one in line.inside:
            parts.setdefault(one.kind, []).extend(Piece.of(one, one.text).behind(one.kind).listed("; "))

        def pairs(key: str) -> tuple[Any, ...]:
            split = (item.cut(" := ") for item in parts.get(key, ()))
            return tuple((formula(a, self.words), sp.sympify(formula(b, self.words))) for a, b in split)

        over = tuple(int(one) if one.isdigit() else formula(one, self.words) for one in parts.get("over", ()))
        besides = tuple(str(one.unquoted) for one in parts.get("besides", ()))
        granted, taken, ends = "granted" in parts, pairs("taken"), pairs("ends")
        self._name(
            name, Source(claim, part, role, pairs("at"), pairs("here"), over, besides, granted, taken, ends), line
        )

    def scheme(self, line: Line, rest: Piece) -> None:
        """`scheme name(a, b = default)`: steps under a name; `{name}` is the label of the line that uses it."""
        name, places = head_of(rest)
        self._name(name, Scheme(self, line, name, places or []), line)

    def instances(self, line: Line, rest: Piece) -> None:
        """`instances NAME`: exact instances that several claims share."""
        self._name(str(rest.cut(" | ")[0]), line, line)

    def statement(self, line: Line, rest: Piece) -> None:
        """`statement name(a)`: say, for, where and proof, for repairs and refutations that several claims share."""
        name, places = head_of(rest)
        check(line)

        def made(*values: Any) -> Statement:
            return statement_of(self, line, self.words.with_own(self.bound(places or [], values)))

        self._name(name, made, line)

    def claim(self, line: Line, rest: Piece) -> None:
        """`claim id | where | title`, and under it `with c = 4`, parts and notes."""
        head = [str(one) for one in rest.listed(" | ")]
        if len(head) != 3:
            raise line.error("a claim is written 'claim id | where | title'")
        if not re.fullmatch(r"[a-z]\w*\.\w+", head[0]):
            raise line.error(f"{head[0]!r} is no id of a claim: write paper.name")
        if head[0] in self.claims:
            raise line.error(f"the claim {head[0]} stands on the page twice")
        check(line)
        self.claims[head[0]] = claim_of(self, line, *head)


def _flat(found: list[Any]) -> Iterator[Source]:
    for one in found:
        yield from one if isinstance(one, tuple) else (one,)


_BLOCKS: Mapping[str, Callable[[Page, Line, Piece], None]] = {
    "use": lambda page, line, rest: page.use(line, rest),
    "let": Page.let,
    "symbol": Page.symbol,
    "sequence": Page.sequence,
    "vector": Page.vector,
    "function": Page.function,
    "index": Page.index,
    "mean": Page.mean,
    "setting": Page.setting,
    "fact": Page.fact,
    "facts": Page.several,
    "source": Page.source,
    "scheme": Page.scheme,
    "instances": Page.instances,
    "statement": Page.statement,
    "claim": Page.claim,
    # `records` reads these.
    **dict.fromkeys(("prints", "letter"), lambda page, line, rest: None),
}


def load(place: Path, names: dict[str, Any]) -> None:
    """Put a page's own names, itself and its claims into the names of a module, which has those that it uses too."""
    page = Page(place.read_text(encoding="utf-8"), place.name)
    page.proofs_later = True

    def of_page(name: str) -> Any:
        if name not in page.words.page or name in ALWAYS:
            raise AttributeError(f"{place.name} has no {name!r}")
        return page.words[name]

    names.update(page.public, PAGE=page, CLAIMS=page.claims, __getattr__=of_page)
