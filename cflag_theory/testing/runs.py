"""Claims and bounds of the ledger, compared with a recorded run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.c_flag.forgetting import terms
from cflag_theory.claims.c_flag.local_steps import drift, sums
from cflag_theory.claims.engine.claim import Part, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k, m, r
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.claims.ledger import claim as claim_of
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Trace
from cflag_theory.kernels.numbers import Array
from cflag_theory.studies.stepsize.conditions import step_sizes
from cflag_theory.studies.stepsize.estimates import estimate_constants
from cflag_theory.verify.evidence import TOLERANCE, evaluate
from cflag_theory.verify.instances.c_flag import TABLE

#: What every round of a C-FLAG run shows.
_PER_ROUND = (
    *(L, alpha, beta, E, k, grad_g, terms.memory, terms.grad_union, terms.Gamma),
    *(drift.drift(k), drift.error(k), sums.rho_sum, sums.error_sum),
)
#: What a bound is on, by its words in `cflag stepsize`.
_LEFT: dict[str, tuple[str, Callable[[Array], Any]]] = {
    "mean ||grad f||^2": ("grad_f2", np.mean),
    "min ||grad f||^2": ("grad_f2", np.min),
    "min 𝔼||grad f||^2": ("grad_f2", np.min),
    "mean 𝔼||grad f||^2": ("grad_f2", np.mean),
    "mean ||grad g||^2": ("grad_g2", np.mean),
    "min ||grad h~||^2": ("grad_h2", np.min),
    "mean 𝔼 Gamma": ("Gamma", np.mean),
}


@dataclass(frozen=True)
class Held:
    """A bound compared with a run.

    Attributes
    ----------
    claim, quantity : str
        The theorem, and what it bounds.
    measured : float
        That quantity along the run: the mean over the replicas of each replica's.
    bound : float
        The theorem's right side at the numbers of the run.
    """

    claim: str
    quantity: str
    measured: float
    bound: float

    @property
    def holds(self) -> bool:
        """Whether the run is below the bound, up to rounding."""
        return self.measured <= self.bound * (1 + TOLERANCE)

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class _Rounds:
    """A trace with the names that `quantities.c_flag.TABLE` reads."""

    trace: Trace
    L: float
    alpha: float
    beta: float
    local_steps: int

    def root(self, name: str) -> Array:
        return self.trace.root(name)

    def column(self, name: str) -> Array:
        return self.trace.column(name)


def _config(trace: Trace) -> dict[str, Any]:
    config = trace.config
    algorithm = config["algorithm"]
    if not (algorithm["memory"] and algorithm["correction"] == "tracking" and algorithm["adaptive"] == "none"):
        raise InvalidInput(
            f"the run is of {algorithm['name']!r}: these claims are about C-FLAG with constant step sizes"
        )
    steps = {name: float(sp.Rational(config[name])) for name in ("alpha", "beta")}
    return {**steps, "E": int(config["local_steps"]), "T": trace.rounds}


def assert_claim(id: str, trace: Trace, *, L: float, **numbers: float) -> int:
    """Check a proved claim in every round of a run; raise AssertionError at the first round that violates it.

    Parameters
    ----------
    id : str
        A claim of the ledger, with a part as in "cflag.eq25.1" or without, for all proved parts. If the printed
        statement is not proved, its repair is used.
    trace : Trace
        A run of C-FLAG with constant step sizes and diagnostics="all".
    L : float
        Smoothness constant of all components.
    **numbers : float
        m and r where the statement has them.

    Returns
    -------
    int
        Rounds, over all replicas and parts, in which the hypotheses held and the claim was compared.

    Raises
    ------
    AssertionError
        A round violates the claim: the message has the round, both sides and the numbers.
    InvalidInput
        The claim is not proved, is about something that a run does not measure, or its hypotheses hold in no round.
    """
    given = _config(trace)
    row, _, key = id.rpartition(".")
    subject = claim_of(row if row in LEDGER else id)
    state = _Rounds(trace, float(L), given["alpha"], given["beta"], given["E"])
    extra = {m: numbers.pop("m")} if "m" in numbers else {}
    extra |= {r: numbers.pop("r")} if "r" in numbers else {}
    if numbers:
        raise InvalidInput(f"{next(iter(numbers))} is not a number of these claims: give L, m or r")
    chosen = [part for part in subject.parts if id == subject.id or key == part.key]
    if not chosen:
        raise InvalidInput(f"{subject.id} has no part {key!r}: use one of {', '.join(p.key for p in subject.parts)}")
    proved = [(part, statement) for part in chosen if (statement := _proved(part)) is not None]
    if not proved:
        raise InvalidInput(f"{id} is proved neither as printed nor repaired: see cflag show {subject.id}")
    unseen = {part.key: _not_shown(f"{subject.id}.{part.key}", statement, extra) for part, statement in proved}
    if all(unseen.values()):
        raise InvalidInput(next(iter(unseen.values())))
    shown = [(part, statement) for part, statement in proved if not unseen[part.key]]
    done = sum(_compare(f"{subject.id}.{part.key}", statement, state, extra) for part, statement in shown)
    if not done:
        words = "; ".join(fact.words for _, one in shown for fact in one.hypotheses)
        raise InvalidInput(f"the hypotheses of {id} hold in no round of this run: {words}")
    return done


def _proved(part: Part) -> Statement | None:
    if part.printed.proof is not None:
        return part.printed
    return part.repair.statement if part.repair is not None and part.repair.statement.proof is not None else None


def _not_shown(name: str, statement: Statement, extra: Mapping[sp.Expr, Any]) -> str:
    """Why a run says nothing about a statement; empty where it does."""
    if statement.relation is None:
        return f"{name} is not a relation between numbers: a run says nothing about it"
    strange = sorted(str(term) for term in _needed(statement) - set(_PER_ROUND) - set(extra))
    if not strange:
        return ""
    own = all(one in ("m", "r") for one in strange)
    remedy = f"give {', '.join(strange)}" if own else "choose a claim about single rounds"
    return f"{name} speaks of {', '.join(strange)}, which the run does not show: {remedy}"


def _needed(statement: Statement) -> set[sp.Expr]:
    relations = [fact.relation for fact in statement.hypotheses]
    return {term for one in (statement.relation, *relations) for term in _terms(one)}


def _compare(name: str, statement: Statement, state: _Rounds, extra: Mapping[sp.Expr, Any]) -> int:
    relation = statement.relation
    assert relation is not None
    values = {term: extra[term] if term in extra else TABLE[term](state) for term in _needed(statement)}
    gap, size, _ = evaluate(relation, values)
    inside = np.ones(gap.shape, dtype=bool)
    for fact in statement.hypotheses:
        room, scale, _ = evaluate(fact.relation, values)
        inside &= ~(np.broadcast_to(room, gap.shape) < -TOLERANCE * scale)
    broken = np.argwhere(inside & (gap < -TOLERANCE * size))
    if len(broken):
        at = tuple(broken[0])
        left, right = (sp.lambdify(list(values), side)(*values.values()) for side in (relation.left, relation.right))
        sides = [float(np.broadcast_to(side, gap.shape)[at]) for side in (left, right)]
        raise AssertionError(
            f"{name} fails in replica {at[0]}, round {at[-1]}: {sides[0]:.9g} on the left, {sides[1]:.9g} on the right"
        )
    return int(inside.sum())


def _terms(relation: Any) -> set[sp.Expr]:
    """Symbols and members of sequences, those inside of members not counted."""
    found = {term for side in (relation.left, relation.right) for term in side.atoms(sp.Symbol, AppliedUndef)}
    inner = {symbol for term in found if isinstance(term, AppliedUndef) for symbol in term.free_symbols}
    return {term for term in found if term not in inner or term in (E, k)}


def bound(id: str, trace: Trace, *, L: float, m: float = 0.0, **numbers: float) -> Held:
    """A theorem's bound at the numbers of a run, and what the run measured.

    Parameters
    ----------
    id : str
        A theorem with a bound in `cflag stepsize`, such as "ours.drawn_once". Only what is proved is compared.
    trace : Trace
        A run of C-FLAG with constant step sizes.
    L, m : float
        Smoothness constant and the m of (27): true ones, not measured.
    **numbers : float
        Others that the bound needs, as `cflag stepsize` names them: gap, r, grad_g0, omega and the like. The root mean
        square of ||grad g|| is taken from the run.

    Raises
    ------
    InvalidInput
        The theorem is unknown or not proved; its conditions are not met; a number is missing; or the run shows that L
        or m is larger than what was given.
    """
    given = _config(trace)
    for one in estimate_constants(trace).estimates:
        stated = {"L": L, "m": m}.get(one.name)
        if stated is not None and one.value is not None and one.value > stated * (1 + 1e-9):
            raise InvalidInput(
                f"{one.name} = {stated:g} was given, and the run shows that it is at least {one.value:.6g}"
            )
    grad = math.sqrt(float(np.mean(trace.column("grad_g2"))))
    known: dict[str, Any] = {**given, "grad_g": grad, **numbers}
    found = step_sizes(L=L, m=m, **known)
    rows = [one for one in found.bounds if one.claim == id]
    chosen = [one for one in rows if one.kind != "printed"]
    if not chosen:
        names = ", ".join(dict.fromkeys(one.claim for one in found.bounds if one.kind != "printed"))
        why = "is not proved as printed" if rows else "has no bound here"
        raise InvalidInput(f"{id} {why}: use one of {names}")
    theorem = chosen[0]
    memory = trace.config["memory"] or {}
    if "memory drawn anew" in theorem.note and not memory.get("redraw", False):
        raise InvalidInput(f"{id} is about memories that are drawn anew in every round, and this run has one memory")
    if theorem.fails:
        raise InvalidInput(f"the hypotheses of {id} are not met by this run: {'; '.join(theorem.fails)}")
    if theorem.needs or theorem.value is None:
        raise InvalidInput(f"the bound of {id} needs {', '.join(theorem.needs)}: give them")
    if theorem.quantity not in _LEFT:
        raise InvalidInput(f"{id} bounds {theorem.quantity}, which a run does not show: use another theorem")
    name, how = _LEFT[theorem.quantity]
    measured = float(np.mean([how(row) for row in trace.column(name)]))
    return Held(id, theorem.quantity, measured, theorem.value)
