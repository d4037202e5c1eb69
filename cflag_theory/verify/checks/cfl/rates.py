"""The convex rates of CFL and FedAvg: floors over all draws, and gradient descent where there is no noise; Table 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.pages.formula import Words, formulas
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.instances.drift_rounds import DriftRounds, Rows, Run, current, even
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

#: What is measured, and the floor that it exceeds where it refutes.
Found = tuple[Fraction, Fraction]
_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)
#: Within eta <= (sqrt(7) - 2)/(6 L) = 0.1076/L.
STEP = Fraction(1, 10)


def gaps(world: DriftRounds) -> list[Fraction]:
    """𝔼 f(w_t) - f* at the start and after every round, over all draws, for f = a w^2 / 2."""
    return [world.expectation(lambda run, t=t: world.f(run.w[t])) for t in range(1, world.rounds + 2)]  # type: ignore[misc]


def fresh(start2: Fraction, step: Fraction, drift: Fraction, rounds: int) -> list[Fraction]:
    """𝔼||w_t - w*||^2 of FedAvg on w^2/2 with N = K = 1 and fresh drifts of second moment `drift`."""
    path = [start2]
    for _ in range(rounds):
        path.append((1 - step) ** 2 * path[-1] + step**2 * drift)
    return path


def fixed_clients(weights: Callable[[int], Rows], rounds: int, local_steps: int = 1) -> Found:
    """The least 𝔼 f(w_t) - f* over the rounds and the floor G^2/(4 N), with N = 1, G = D = w_0 = 1, eta_l = 1/2."""
    return min(gaps(DriftRounds(weights(rounds), _ONE, local_steps=local_steps, G=_ONE, D=_ONE))), Fraction(1, 4)


def time_drifts(rounds: int, eta_l: Fraction) -> Found:
    """The same for D = 1, G = 0 and w_0 = 1/2: the floor is D^2/(4 N T) for T = 4."""
    return min(gaps(DriftRounds(even(rounds), _HALF, eta_l=eta_l, D=_ONE))), Fraction(1, 4 * rounds)


def noisy(rounds: int, step: Fraction) -> Found:
    """The same with gradient noise alone, from the closed form: the floor is sigma^2/(4 mu T)."""
    return min(fresh(Fraction(1, rounds), step, _ONE, rounds)) / 2, Fraction(1, 4 * rounds)


def behind(rounds: int, smooth: int = 1) -> Found:
    """𝔼[f(w_T) - f*] over all draws, f the mean of the T losses w^2/2 - xi_t w, and 2 L/(3 T^2): eta = 1/(9 L)."""
    world = DriftRounds(even(rounds), eta_l=Fraction(1, 9 * smooth), D=_ONE)

    def excess(run: Run) -> Fraction:
        return (run.w[-1] - sum((drawn[0][0] for drawn in run.time[1:]), _ZERO) / rounds) ** 2 / 2

    return world.expectation(excess), Fraction(2 * smooth, 3 * rounds**2)


def plateau(root: int, rounds: int) -> Found:
    """f(w_T) - f* and sqrt(n) D/(2 T) for n = root^2 and L = D = 1, eta = 1/9, all signs being alike by symmetry."""
    n, eta = root**2, Fraction(1, 9)
    w = [_ZERO] * n
    for drawn, t in enumerate(range(rounds - n + 1, rounds + 1), 1):
        w = [x + eta / t if j < drawn else x for j, x in enumerate(w)]
        if sum(x * x for x in w) > 1:
            raise ArithmeticError(f"round {t} leaves the unit ball")
    mean = Fraction(root, rounds)
    return mean + mean**2 / 2 - sum(w, _ZERO) / rounds, mean / 2


def at_rest(clients: int, rounds: int) -> Found:
    """The least 𝔼 f(w_t) - f* over the rounds and 2^{-N} (f(w_0) - f*), with f_{t,i} = (1 - s_i) w^2/2, so B = 1."""
    # L = 2 and c_O = 2, so the largest step is 0.0575/L = 0.0288.
    found = gaps(DriftRounds(current(rounds), _ONE, clients=clients, eta_l=Fraction(1, 40), B=_ONE))
    return min(found), found[0] / 2**clients


def scaled(rounds: int, smooth: int) -> Found:
    """f(w_T) - f* after T steps 1/(10 L) on f = L w^2/(2 T) from w_0 = 1, and 7 L/(18 T)."""
    curvature = Fraction(smooth, rounds)
    return curvature / 2 * (1 - STEP / smooth * curvature) ** (2 * rounds), Fraction(7 * smooth, 18 * rounds)


def late(rounds: int) -> Found:
    """phi at D = R = ||w_0 - w*|| = 1 and mu eta = 1/10, and what is proved of it."""
    weights = [Fraction(20, 19) ** t for t in range(rounds)]
    lost = sum((q * Fraction(2 * t, 2 * t + 1) for t, q in enumerate(weights)), _ZERO)
    return lost / sum(weights), 1 - Fraction(1600, rounds)


#: Of each instance the part, what it is and what it comes to.
Cases = Iterator[tuple[str, str, Found]]
_LEAST = "the least 𝔼 f(w_t) - f* of the rounds"


def _strongly() -> Cases:
    for rounds in (1, 5):
        words = f"f = w^2/2, G = D = 1, R = 0, N = K = 1, p_tau = 1/t, eta_l = 1/2, w_0 = 1, T = {rounds}: {_LEAST}"
        yield "clients", words, fixed_clients(even, rounds)
    for eta_l in (STEP, _HALF):
        words = f"f = w^2/2, D = 1, G = R = 0, N = K = 1, p_tau = 1/t, eta_l = {eta_l}, w_0 = 1/2, T = 4: {_LEAST}"
        yield "time", words, time_drifts(4, eta_l)


def _linear() -> Cases:
    yield from _strongly()
    for rounds, smooth in ((3, 1), (9, 1), (6, 2)):
        words = f"f_t = w^2/2 - xi_t w, D = 1, L = {smooth}, p_tau = 1/t, eta_l = 1/(9 L), w_0 = 0, T = {rounds}"
        yield "sum", f"{words}: the last 𝔼 f(w_t) - f*", behind(rounds, smooth)


def _flat() -> Cases:
    yield from _strongly()
    for clients, rounds in ((1, 40), (3, 6)):
        words = f"f_i = (1 - s_i) w^2/2, fair signs, N = {clients}, K = 1, p_t = 1, eta_l = 1/40, w_0 = 1, T = {rounds}"
        yield "gradient", f"{words}: {_LEAST}", at_rest(clients, rounds)
    for root, rounds in ((2, 8), (10, 500)):
        words = f"n = {root**2} orthogonal drifts in the last rounds, L = D = 1, eta_l = 1/9, w_0 = 0, T = {rounds}"
        yield "sum", f"{words}: the last f(w_t) - f*", plateau(root, rounds)
    for smooth in (1, 100):
        words = f"f = {smooth}/10 w^2/2, L = {smooth}, w_0 = 1, eta = 1/(10 L), T = 10, no noise: the last f(w_t) - f*"
        yield "units", words, scaled(10, smooth)


def _fedavg() -> Cases:
    for part in ("strongly", "generally"):
        for rounds, K in ((1, 1), (5, 1), (5, 2)):
            words = f"f = w^2/2, G = D = 1, N = 1, K = {K}, p_t = 1, eta_l = 1/2, w_0 = 1, T = {rounds}: {_LEAST}"
            yield part, words, fixed_clients(current, rounds, K)
    for rounds, step in ((4, STEP), (4, _HALF), (8, Fraction(1, 5))):
        words = f"f = w^2/2, sigma = 1, no drift, N = K = 1, eta_l = {step}, w_0^2 = 1/T, T = {rounds}: {_LEAST}"
        yield "noise", words, noisy(rounds, step)


def _bias() -> Cases:
    for rounds in (40, 120):
        words = f"D = R = ||w_0 - w*|| = 1, mu eta = 1/10, T = {rounds}: phi, with 2 T (1 - phi) to grow like ln T,"
        yield "2", words, late(rounds)


def _found(cases: Callable[[], Cases]) -> Callable[[Claim, int, int], Iterable[Evidence]]:
    def further(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
        for part, words, (least, floor) in cases():
            summary = f"{words} is {float(least):.6g}, the floor {float(floor):.6g}."
            data: dict[str, Any] = {"least": str(least), "floor": str(floor)}
            yield Evidence("property", part, "printed", REFUTES if least >= floor else SUPPORTS, summary, data)

    return further


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


CHECKS = {
    "cfl.sc_rate": Check(further=_found(_linear)),
    "cfl.gc_rate": Check(further=_found(_flat)),
    "cfl.fedavg_rates": Check(further=_found(_fedavg)),
    "cfl.phi_rate": Check(further=_found(_bias)),
    "cfl.table1": Check(further=_evidence),
}
