"""A Claim: one numbered statement of a paper, its hypotheses and its proof.

A claim is data. Nothing here says whether it is true: the proofs are checked by `examiner.examine`, the
counterexamples are replayed by the check in `verify`, and the verdict follows from both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Operator
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.steps import Proof
from cflag_theory.claims.engine.terms import Basis, is_vector

Pairs = tuple[tuple[sp.Expr, sp.Expr], ...]


@dataclass(frozen=True)
class Source:
    """Where an imported fact comes from: a statement of a claim, by part and role. `claims.imports` compares the two.

    Attributes
    ----------
    at : tuple of pairs
        What stands here for a symbol, a function or a vector of that statement: it must fit. What a term of that
        statement is called here is told to readers.
    taken : tuple of pairs
        A term of that statement and what it is taken to be here, where nothing shows that they are equal: readers are
        told.
    ends : tuple of pairs
        A vector with which the round of that statement ends, and the one here with which the next round begins: they
        have one law, which is what makes rounds a run. Readers are told.
    here : tuple of pairs
        What a symbol of the importing statement stands for, in the symbols of that one.
    over : tuple of operators and powers
        What is done to both sides of that statement, in order: means and sums; powers, where no side is negative.
    besides : tuple of str
        By name, what that statement assumes and the importing one does not say: readers are told.
    granted : bool
        For the hypothesis of a paper's own argument: what the paper prints is granted, whether it is true or not.
    """

    claim: str
    part: str = "1"
    on: str = "printed"
    at: Pairs = ()
    here: Pairs = ()
    over: tuple[Operator | int, ...] = ()
    besides: tuple[str, ...] = ()
    granted: bool = False
    taken: Pairs = ()
    ends: Pairs = ()

    @property
    def place(self) -> tuple[str, str, str]:
        """Claim, part and role."""
        return self.claim, self.part, self.on

    def __str__(self) -> str:
        role = ", as printed" if self.granted else "" if self.on == "printed" else f", {self.on}"
        needs = f", which also assumes {', '.join(self.besides)}" if self.besides else ""
        terms = (pair for pair in self.at if isinstance(pair[0], sp.Expr) and unfold(pair[0]) != pair[0] != pair[1])
        called = (*terms, *self.taken, *self.ends, *((meant, name) for name, meant in self.here))
        where = "".join(f", where {old} is {new}" for old, new in called)
        return f"{self.claim}, part {self.part}{role}{needs}{where}"


@dataclass(frozen=True)
class Fact:
    """A named relation: a hypothesis of a statement or a definition that it uses.

    A hypothesis holds for the values of its symbols that the statement is about, and for every value of the indices
    in `forall`. What other statements of the ledger show has them as its `sources`, of which it must be a consequence.
    """

    name: str
    relation: Relation
    words: str
    forall: tuple[sp.Symbol, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def told(self) -> str:
        """The words, and where the fact comes from."""
        return f"{self.words}  [from {' and '.join(map(str, self.sources))}]" if self.sources else self.words


#: What the named vectors and the indices of an algorithm are, by name: see `setting`.
SETTING: dict[str, Fact] = {}


def setting(name: str, relation: Relation, words: str) -> str:
    """Declare what named vectors or an algorithm's indices are, and return the name for proofs to use.

    An equation that defines a vector, such as a step of the algorithm; the mean of a named vector, such as a noise;
    a minimiser; the range of an index such as tau_{k,j} <= k. Every run satisfies it, for every value of its indices.

    Raises
    ------
    ValueError
        If the relation is anything else: it would restrict statements, and belongs to their hypotheses. If the name
        is taken. What restricts together with other settings is refused where a proof uses it.
    """
    left, op, right = relation.left, relation.op, relation.right
    equation = op == "==" and isinstance(left, Basis) and (right == 0 or is_vector(right))
    index = op == "<=" and isinstance(left, AppliedUndef) and sort_of(left) is Sort.NATURAL and Sort.NATURAL.fits(right)
    if not (equation or index):
        raise ValueError(f"{name!r} is neither an equation of vectors nor a range of an index: make it a hypothesis")
    fact = Fact(name, relation, words)
    if SETTING.setdefault(name, fact) != fact:
        raise ValueError(f"two settings are named {name!r}")
    return name


@dataclass(frozen=True)
class Statement:
    """What is said, under which hypotheses, and a proof where there is one.

    Attributes
    ----------
    words : str
        The statement in words, with the reading of anything that the paper leaves open.
    relation : Relation or None
        The statement between scalars: coordinates for linear vector identities, Gram entries for norms. None where the
        statement is about a table, a count or a limit; the check then brings evidence of its own.
    hypotheses : tuple of Fact
        Ranges and assumptions, each by name; a point counts against the statement only if it satisfies them.
    definitions : tuple of Fact
        What the quantities in the statement and its proof stand for. Those that restrict anything count as hypotheses:
        see `definitions.assumptions`.
    proof : Proof or None
        None where the statement is not expected to be provable.
    """

    words: str
    relation: Relation | None
    hypotheses: tuple[Fact, ...] = ()
    proof: Proof | None = field(default=None, hash=False)  # A table of statements would read the steps of each.
    definitions: tuple[Fact, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Hypotheses, then definitions."""
        return (*self.hypotheses, *self.definitions)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relation, where there is one, and those of the facts."""
        own = () if self.relation is None else (self.relation,)
        return (*own, *(fact.relation for fact in self.facts))


@dataclass(frozen=True)
class Repair:
    """The nearest true statement: `kind` is "typo" or "needs-hypothesis", `words` name the change."""

    kind: str
    words: str
    statement: Statement


@dataclass(frozen=True)
class Sharp:
    """The best constant that is proved: its value, the printed one, their ratio and the statement with it.

    `at` are values at which the two constants stand before the same term, where they do not everywhere.
    """

    words: str
    printed: sp.Expr
    value: sp.Expr
    statement: Statement
    at: Pairs = ()

    @property
    def factor(self) -> float:
        """Printed constant over the sharp one."""
        return float(self.printed / self.value)


#: What a part is. A claim of a paper, or a theorem of ours, has a verdict. An assumption, which a paper makes, and a
MEANINGS = {
    "holds": "true as printed, over its whole stated hypothesis range",
    "loose": "true as printed, and a sharper constant is proved",
    "open": "not decided",
    "typo": "false as printed; an evident local repair is named and proved",
    "needs-hypothesis": "false as printed; true under named hypotheses that the algorithm can satisfy",
    "false": "false as printed, and no such repair is proved",
}
#: question, which neither paper answers, have findings and no verdict.
KINDS = ("claim", "assumption", "question")


@dataclass(frozen=True)
class Part:
    """One of the statements of a claim: as printed, and the statement that replaces it if it fails.

    `kind` is one of `KINDS`. `reading` names the reading that the part decides, if the printed words can
    fairly be read in another way; the other reading is a part of its own.

    `refutation` is a proved statement about an explicit instance that contradicts the printed one, such as a closed
    form of the iterates for a statement about a limit; its words say why. The examiner's engines must find the
    contradiction; `family` gives the values of the printed statement's symbols in the instance. For a limit or "for no
    constant" they cannot: `unseen` says why, and this last step is not machine-checked.
    """

    key: str
    printed: Statement
    repair: Repair | None = None
    sharp: Sharp | None = None
    refutation: Statement | None = None
    family: tuple[tuple[sp.Expr, sp.Expr], ...] = ()
    unseen: str = ""
    kind: str = "claim"
    reading: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the kind of a part is {self.kind!r}: use {', '.join(KINDS)}")


def statements(part: Part) -> dict[str, Statement]:
    """The statements of a part by role; a refutation is evidence on the printed one and has no role here."""
    found = {"printed": part.printed}
    if part.repair:
        found["repair"] = part.repair.statement
    if part.sharp:
        found["sharp"] = part.sharp.statement
    return found


def every_statement(part: Part) -> dict[str, Statement]:
    """The statements of a part by role, a refutation among them."""
    return statements(part) | ({"refutation": part.refutation} if part.refutation else {})


@dataclass(frozen=True)
class Claim:
    """One row of the ledger.

    Attributes
    ----------
    id : str
        Stable name: "paper.name".
    where : str
        The place in the paper.
    title : str
        The claim in a few words.
    parts : tuple of Part
        One, or several where the row makes several statements.
    notes : tuple of str
        Readings, remarks and ranges.
    instances : tuple of `pages.instances.Instances`
        Values for the symbols of the statements, to replay them at.
    """

    id: str
    where: str
    title: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    instances: tuple[Any, ...] = ()

    @property
    def paper(self) -> str:
        """Of the id: "C-FLAG", "CFL", "ours", or what stands before the point."""
        name = self.id.partition(".")[0]
        return {"cflag": "C-FLAG", "cfl": "CFL"}.get(name, name)

    @property
    def instead(self) -> tuple[str, ...]:
        """Theorems of our own to which the notes point."""
        return tuple(dict.fromkeys(re.findall(r"ours\.\w+", " ".join(self.notes))))
