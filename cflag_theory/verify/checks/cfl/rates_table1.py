"""Table 1: our entries against the theorems, and the units of every term."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from cflag_theory.claims.cfl.table1 import (
    GENERAL,
    STRONG,
    TABLE_1,
    A,
    B,
    D,
    G,
    H,
    K,
    L,
    N,
    R,
    Rate,
    eps,
    mu,
    sigma,
    theorem,
)
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

#: Powers of J and m.
Unit = tuple[sp.Rational, sp.Rational]
_ZERO = sp.S.Zero
UNITS: dict[sp.Symbol, Unit] = {
    **dict.fromkeys((A, B, N, K), (_ZERO, _ZERO)),
    **dict.fromkeys((G, D, R, sigma), (sp.S.One, -sp.S.One)),
    **dict.fromkeys((L, mu), (sp.S.One, sp.Integer(-2))),
    H: (_ZERO, sp.Integer(2)),
    eps: (sp.S.One, _ZERO),
}


def unit(expr: sp.Expr) -> Unit:
    """The unit of an expression.

    Raises
    ------
    ArithmeticError
        If terms of different units are added.
    """
    if expr.is_number:
        return _ZERO, _ZERO
    if expr.is_Symbol:
        return UNITS[expr]
    if isinstance(expr, sp.Pow):
        joules, metres = unit(expr.base)
        return joules * expr.exp, metres * expr.exp
    parts = [unit(part) for part in expr.args]
    if isinstance(expr, sp.Mul):
        return sp.Add(*(joules for joules, _ in parts)), sp.Add(*(metres for _, metres in parts))
    if len(set(parts)) > 1:
        raise ArithmeticError(f"{expr} adds terms of different units")
    return parts[0]


def fault(term: sp.Expr, functions: str) -> str | None:
    """What is wrong with a term of a number of rounds, if anything."""
    if functions == GENERAL and term.has(mu):
        return "contains mu"
    joules, metres = unit(term)
    # L^a H^b times the term must be a number: J^a m^(2b - 2a).
    a, b = -joules, -joules - metres / 2
    if a < 0:
        return f"needs the factor L^({a})"
    if b < 0 or (b and functions == STRONG):
        return f"needs the factor ||w_0 - w*||^({2 * b})"
    return None


def faults(rates: list[Rate]) -> list[str]:
    """What `fault` finds in the terms of the entries."""
    return [
        f"{rate.name}: {term} {wrong}"
        for rate in rates
        for term in rate.terms
        if (wrong := fault(term, rate.functions))
    ]


def _counted(part: str, found: list[str], total: int, words: str) -> Evidence:
    finding = REFUTES if found else SUPPORTS
    return Evidence(
        "recomputation",
        part,
        "printed",
        finding,
        f"{len(found)} of {total} {words}.",
        {"instance": found, "compared": total},
    )


def vanishes(rate: Rate) -> bool:
    """Whether no term is left where sigma = G = D = 0."""
    return bool(sp.Add(*rate.terms).subs({sigma: 0, G: 0, D: 0}) == 0)


def differences(rates: list[Rate], *, alone: bool) -> list[str]:
    """Entries that are not the theorem's with L = H = 1; with G = B = 0 for CL if `alone`."""
    found = []
    for rate in rates:
        put = {L: 1, H: 1} | ({G: 0, B: 0} if alone and rate.algorithm == "CL" else {})
        stated = sp.Add(*theorem(rate.algorithm, rate.functions)).subs(put)
        printed = sp.Add(*rate.terms).subs(put)
        if sp.simplify(stated - printed) != 0:
            found.append(f"{rate.name}: the theorem has {sp.simplify(stated - printed)} more than the table")
    return found


def _evidence(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    ours = [rate for rate in TABLE_1 if rate.source == "ours"]
    for on, alone in (("printed", False), ("repair", True)):
        wrong = differences(ours, alone=alone)
        summary = f"{len(wrong)} of {len(ours)} entries differ from the theorems."
        yield Evidence(
            "recomputation",
            "1",
            on,
            REFUTES if wrong else SUPPORTS,
            summary,
            {"instance": wrong, "compared": len(ours)},
        )
    terms = sum(len(rate.terms) for rate in ours)
    yield _counted("2", faults(ours), terms, "terms are no numbers for any such factors")
    general = [rate for rate in TABLE_1 if rate.functions == GENERAL]
    with_mu = [f"{rate.name}: {term}" for rate in general for term in rate.terms if term.has(mu)]
    yield _counted("4", with_mu, sum(len(rate.terms) for rate in general), "terms contain mu")
    none = [f"{rate.name}: {rate.terms}" for rate in general if vanishes(rate)]
    yield _counted("5", none, len(general), "entries vanish where sigma = G = D = 0")


CHECKS = {
    "cfl.table1": Check(
        further=_evidence,
        # A family that does not pass twice the constant proves nothing.
    )
}
