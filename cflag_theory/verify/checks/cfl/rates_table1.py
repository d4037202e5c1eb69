"""Table 1: the rates as printed, our entries against the theorems, and the units of every term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.pages.formula import Words, formulas
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

mu, sigma, eps, N, K, L, H = sp.symbols("mu sigma epsilon N K L H", positive=True)
A, B, G, D, R = sp.symbols("A B G D R", nonnegative=True)
#: The caption's c_{p_B} and c_A; the theorems' c_O is the same as c_{p_B}, and Theorem B.5's c_A contains G^2.
c_pB = 1 + B**2 + A**2
c_A = D**2 * R**2 / (R**2 + D**2)

STRONG, GENERAL = "strongly convex", "general convex"


@dataclass(frozen=True)
class Rate:
    """One entry of Table 1: who, for which functions, and its terms."""

    algorithm: str
    source: str
    functions: str
    terms: tuple[sp.Expr, ...]

    @property
    def name(self) -> str:
        """Row and column."""
        return f"{self.algorithm}, {self.source}, {self.functions}"


#: Algorithm, source, functions and terms.
_PRINTED = """
SGD | | strongly convex | sigma^2/(mu N K eps), 1/mu
SGD | | general convex | sigma^2/(N K eps^2), 1/eps
FedAvg | Li et al. | strongly convex | sigma^2/(mu^2 N K eps), (G^2 + D^2) K/(mu^2 eps)
FedAvg | Khaled et al. | strongly convex | spread2/(mu N K eps), spread/(mu sqrt(eps)), N (A^2 + B^2)/mu
FedAvg | Khaled et al. | general convex | spread2/(N K eps^2), spread/(mu eps^(3/2)), N (A^2 + B^2)/eps
FedAvg | Karimireddy et al. | strongly convex | sigma^2/(mu N K eps), (G + D)/(mu sqrt(eps)), c_pB/mu
FedAvg | Karimireddy et al. | general convex | sigma^2/(K N eps^2), (G + D)/eps^(3/2), c_pB (D^2 + G^2)/eps
FedAvg | Woodworth et al. | strongly convex | sqrt(c_pB)/(K sqrt(mu eps)), sigma^2 c_pB/(N K eps^2),
    (G + D)/(mu sqrt(eps)), sigma/(mu sqrt(K eps))
FedAvg | Woodworth et al. | general convex | c_pB/(K eps), sigma^2 c_pB/(N K eps^2), (G + D) c_pB/eps^(3/2),
    sigma c_pB/sqrt(K eps^(3/2))
FedAvg | ours | strongly convex | sigma^2/(mu N K eps), (G^2 + D^2)/(mu eps), c_pB/mu
FedAvg | ours | general convex | c_pB/eps, sigma^2/(N K eps^2), (G^2 + D^2)/eps^2
CL | Yin et al. | strongly convex | mu/eps
CL | ours | strongly convex | (1 + A^2)/mu, sigma^2/(mu K eps), c_A/(mu eps)
CL | ours | general convex | c_pB/eps, sigma^2/(K eps^2), c_A/eps^2
CFL | ours | strongly convex | c_pB/mu, sigma^2/(mu N K eps), (c_A + G^2)/(mu eps)
CFL | ours | general convex | c_pB/eps, sigma^2/(N K eps^2), (c_A + G^2)/eps^2
"""
_WORDS = Words({**globals(), "sqrt": sp.sqrt, "spread": sigma + G + D, "spread2": sigma**2 + G**2 + D**2})
_CELLS = (map(str.strip, row.split("|")) for row in _PRINTED.replace("\n    ", " ").strip().splitlines())
TABLE_1 = tuple(Rate(who, source, what, tuple(formulas(terms, _WORDS))) for who, source, what, terms in _CELLS)


def theorem(algorithm: str, functions: str) -> tuple[sp.Expr, ...]:
    """The terms of Theorems 4.4 (FedAvg) and 4.1, at N = 1 for CL (Remark 4.2), with L and H = ||w_0 - w*||^2."""
    clients = sp.S.One if algorithm == "CL" else N
    noise, variance = sigma**2 / (clients * K), G**2 + (D**2 if algorithm == "FedAvg" else c_A)
    if functions == STRONG:
        return L * c_pB / mu, noise / (mu * eps), variance / (mu * eps)
    return L * c_pB * H / eps, noise * H / eps**2, variance * H / eps**2


#: Powers of J and m.
Unit = tuple[sp.Rational, sp.Rational]
UNITS: dict[sp.Symbol, Unit] = {
    one: (sp.Integer(joules), sp.Integer(metres))
    for alike, joules, metres in (
        ((A, B, N, K), 0, 0),
        ((G, D, R, sigma), 1, -1),
        ((L, mu), 1, -2),
        ((H,), 0, 2),
        ((eps,), 1, 0),
    )
    for one in alike
}


def unit(expr: sp.Expr) -> Unit:
    """The unit of an expression."""
    if expr.is_number:
        return sp.S.Zero, sp.S.Zero
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
    return f"needs the factor ||w_0 - w*||^({2 * b})" if b < 0 or (b and functions == STRONG) else None


def faults(rates: list[Rate]) -> list[str]:
    """What `fault` finds in the terms of the entries."""
    found = ((rate, term, fault(term, rate.functions)) for rate in rates for term in rate.terms)
    return [f"{rate.name}: {term} {wrong}" for rate, term, wrong in found if wrong]


def vanishes(rate: Rate) -> bool:
    """Whether no term is left where sigma = G = D = 0."""
    return bool(sp.Add(*rate.terms).subs({sigma: 0, G: 0, D: 0}) == 0)


def differences(rates: list[Rate], *, alone: bool) -> list[str]:
    """Entries that are not the theorem's with L = H = 1; with G = B = 0 for CL if `alone`."""
    found = []
    for rate in rates:
        put = {L: 1, H: 1} | ({G: 0, B: 0} if alone and rate.algorithm == "CL" else {})
        more = sp.simplify(sp.Add(*theorem(rate.algorithm, rate.functions), *(-term for term in rate.terms)).subs(put))
        if more != 0:
            found.append(f"{rate.name}: the theorem has {more} more than the table")
    return found


def _evidence(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    def counted(part: str, on: str, found: list[str], total: int, words: str) -> Evidence:
        data = {"instance": found, "compared": total}
        summary = f"{len(found)} of {total} {words}."
        return Evidence("recomputation", part, on, REFUTES if found else SUPPORTS, summary, data)

    ours = [rate for rate in TABLE_1 if rate.source == "ours"]
    for on, alone in (("printed", False), ("repair", True)):
        yield counted("1", on, differences(ours, alone=alone), len(ours), "entries differ from the theorems")
    terms = sum(len(rate.terms) for rate in ours)
    yield counted("2", "printed", faults(ours), terms, "terms are no numbers for any such factors")
    general = [rate for rate in TABLE_1 if rate.functions == GENERAL]
    with_mu = [f"{rate.name}: {term}" for rate in general for term in rate.terms if term.has(mu)]
    yield counted("4", "printed", with_mu, sum(len(rate.terms) for rate in general), "terms contain mu")
    none = [f"{rate.name}: {rate.terms}" for rate in general if vanishes(rate)]
    yield counted("5", "printed", none, len(general), "entries vanish where sigma = G = D = 0")


CHECKS = {"cfl.table1": Check(further=_evidence)}
