"""Table 1: the rates as printed, entry by entry, and the theorems that ours should agree with."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.pages.formula import Words, formulas

mu, sigma, eps = sp.symbols("mu sigma epsilon", positive=True)
N, K, L, H = sp.symbols("N K L H", positive=True)
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

#: Theorems 4.4 and 4.1 by algorithm; CL is Theorem 4.1 at N = 1 (Remark 4.2).
_VARIANCE = {"FedAvg": G**2 + D**2, "CFL": G**2 + c_A, "CL": G**2 + c_A}


def theorem(algorithm: str, functions: str) -> tuple[sp.Expr, ...]:
    """The terms of the rate in Theorem 4.4 (FedAvg) or 4.1, with L and H = ||w_0 - w*||^2."""
    clients = sp.S.One if algorithm == "CL" else N
    first, noise, variance = L * c_pB, sigma**2 / (clients * K), _VARIANCE[algorithm]
    if functions == STRONG:
        return first / mu, noise / (mu * eps), variance / (mu * eps)
    return first * H / eps, noise * H / eps**2, variance * H / eps**2
