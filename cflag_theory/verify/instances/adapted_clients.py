"""Clients of exact rounds with adapted rates: what each symbol of the adaptive claims is, and the families of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.adaptive import algorithm3, clients, lemmas, rescaling, server
from cflag_theory.claims.c_flag.adaptive.ours import worst_case
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias_dot_sum, grad_dot_sum, m, sum2
from cflag_theory.claims.engine.points import put_in
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.instances.adapted import Round, norm, rounds_of_every_kind, with_gradients

#: Not given.
_OWN: Any = None


@dataclass(frozen=True, eq=False)
class Client:
    """A round and the client that stands for its kind, with the rates of Table 1's case.

    No client stands for the sums of a round in which none has transference. With `best` the client takes the rate at
    which its term is least, be there transference or not.
    """

    round: Round
    case: str
    client: int | None
    best: bool = False

    @property
    def words(self) -> str:
        """The round in one line."""
        which = "" if self.client is None else f" Client {self.client + 1}, {self.case} case: beta_i = {self.rate}."
        return self.round.words() + which

    @property
    def rate(self) -> Fraction:
        """beta_i."""
        assert self.client is not None
        return self.round.best(self.case, self.client) if self.best else self.betas[self.client]

    @property
    def raised(self) -> Fraction | None:
        """alpha_i, under interference."""
        kept = self.client is None or self.round.products[self.client] > 0
        return None if kept else self.round.rates(self.case)[self.client or 0][0]

    @property
    def betas(self) -> list[Fraction]:
        """beta_i of every client."""
        return [rate for _, rate in self.round.rates(self.case)]

    @property
    def alphas(self) -> list[Fraction]:
        """alpha_i of every client."""
        return [rate for rate, _ in self.round.rates(self.case)]

    @property
    def members(self) -> dict[str, list[Client]]:
        """Every client for which the rate is meant."""
        found = [i for i, a in enumerate(self.round.a) if (a.any() if self.best else self.round.products[i] > 0)]
        return {"rate": [Client(self.round, self.case, i, self.best) for i in found]}

    def taken(self, *, all_clients: bool = True) -> Array:
        """sum_i p_i beta_i a_i, of all clients or of those with transference."""
        at, chosen = self.round, [all_clients or product > 0 for product in self.round.products]
        found: Array = (at.problem.p * np.array(self.betas, dtype=object) * chosen) @ at.a
        return found

    def total(self, of: Callable[[Round, int, Fraction], Any], kind: str = "all", power: int = 1) -> Any:
        """The sum of p_i^power of(round, i, beta_i) over all clients, or those with transference or interference."""
        at = self.round
        kinds = ["transference" if product > 0 else "interference" for product in at.products]
        rows = [i for i, one in enumerate(kinds) if kind in ("all", one)]
        return sum((at.problem.p[i] ** power * of(at, i, self.betas[i]) for i in rows), Fraction(0))


def _own(of: Callable[[Client, int], Any]) -> Callable[[Client], Any]:
    return lambda at: None if at.client is None else of(at, at.client)


def _first(of: Callable[[Round], Array]) -> Callable[[Client], Any]:
    return lambda at: of(at.round)[0]


def _a2(at: Round, i: int, rate: Fraction) -> Any:
    return at.a[i] @ at.a[i]


def _product(at: Round, i: int, rate: Fraction) -> Any:
    return at.products[i]


_T, _I = "transference", "interference"
#: What each symbol of the adaptive claims is.
TABLE: Mapping[sp.Expr, Callable[[Client], Any]] = MappingProxyType(
    {
        L: lambda at: at.round.L,
        m: lambda at: 0,
        alpha: lambda at: at.round.alpha,
        beta: lambda at: at.round.beta,
        E: lambda at: at.round.local_steps,
        clients.N: lambda at: at.round.problem.clients,
        clients.memory: lambda at: norm(at.round.G),
        algorithm3.memory2: lambda at: at.round.G @ at.round.G,
        lemmas.root_2: lambda at: sp.sqrt(2),
        # S, in every spelling of it.
        sum2: lambda at: at.round.S @ at.round.S,
        server.Lambda: lambda at: at.round.G @ at.round.S,
        clients.sum2: lambda at: at.round.S @ at.round.S,
        clients.Lambda: lambda at: at.round.G @ at.round.S,
        grad_dot_sum: lambda at: at.round.G @ at.round.S,
        bias_dot_sum: lambda at: 0,
        rescaling.b_norm: lambda at: 0,
        rescaling.S_norm: lambda at: norm(at.round.S),
        # One client.
        clients.p_i: _own(lambda at, i: at.round.problem.p[i]),
        clients.weight: _own(lambda at, i: at.round.weight(at.case, i)),
        clients.a_i: _own(lambda at, i: norm(at.round.a[i])),
        algorithm3.length: _own(lambda at, i: norm(at.round.a[i])),
        clients.Lambda_i: _own(lambda at, i: at.round.products[i]),
        clients.alpha_i: lambda at: at.raised,
        clients.beta_i: _own(lambda at, i: at.rate),
        clients.Gamma_i: _own(lambda at, i: at.round.client_term(i, at.case)),
        worst_case.pull: _own(lambda at, i: at.round.products[i] / norm(at.round.a[i])),
        # Sums over clients.
        clients.client_sum: lambda at: at.total(lambda of, i, rate: of.client_term(i, at.case)),
        clients.own: lambda at: at.total(_a2, power=2),
        clients.cross: lambda at: at.round.S @ at.round.S - at.total(_a2, power=2),
        clients.plain: lambda at: at.total(_a2),
        clients.plain_Lambda: lambda at: at.total(_product, power=0),
        lemmas.N_T: lambda at: at.total(lambda of, i, rate: 1, _T, 0),
        lemmas.own_I: lambda at: at.total(_a2, _I, 2),
        lemmas.own_T: lambda at: at.total(_a2, _T, 2),
        lemmas.own_once: lambda at: at.total(lambda *of: of[2] * _a2(*of), _T, 2),
        lemmas.own_adapted: lambda at: at.total(lambda *of: of[2] ** 2 * _a2(*of), _T, 2),
        lemmas.spread: lambda at: at.total(lambda *of: (of[2] - at.round.beta) ** 2 * _a2(*of), _T, 2),
        lemmas.cross_adapted: lambda at: at.taken() @ at.taken() - at.total(lambda *of: of[2] ** 2 * _a2(*of), power=2),
        lemmas.Lambda_I: lambda at: at.total(_product, _I),
        lemmas.Lambda_T: lambda at: at.total(_product, _T),
        lemmas.Lambda2_I: lambda at: at.total(lambda *of: _product(*of) ** 2, _I),
        lemmas.Lambda_adapted: lambda at: at.total(lambda *of: of[2] * _product(*of), _T),
        lemmas.raised_I: lambda at: at.total(lambda of, i, rate: at.alphas[i] * of.products[i], _I),
        lemmas.alpha_mean: lambda at: at.total(lambda of, i, rate: at.alphas[i]),
        clients.Gamma: lambda at: at.round.simulated().column("Gamma")[0, 0],
        worst_case.moved2: lambda at: at.taken() @ at.taken(),
        worst_case.Lambda_moved: lambda at: at.round.G @ at.taken(),
        worst_case.moved_T2: lambda at: at.taken(all_clients=False) @ at.taken(all_clients=False),
        worst_case.gained_T: lambda at: at.total(lambda *of: _product(*of) ** 2 / _a2(*of), _T, 0),
        # Algorithm 3, in the first coordinate.
        update.x: _first(lambda at: at.problem.start),
        update.x_mean: _first(lambda at: at.problem.p @ at.ends),
        update.S: _first(lambda at: at.S),
        update.grad_f_memory: _first(lambda at: at.G),
        update.grad_g: _first(lambda at: at.problem.p @ at.grad_g_clients),
        update.grad_g_i: _own(lambda at, i: at.round.grad_g_clients[i, 0]),
        algorithm3.x_end: _own(lambda at, i: at.round.ends[i, 0]),
        algorithm3.a_sum: _own(lambda at, i: at.round.a[i, 0]),
        algorithm3.norm2: _own(lambda at, i: at.round.a[i] @ at.round.a[i]),
        algorithm3.line_a2: _own(lambda at, i: at.round.seen[i] @ at.round.seen[i]),
        algorithm3.line_Lambda: _own(lambda at, i: at.round.G @ at.round.seen[i]),
    }
)


@cache
def agrees(at: Round) -> None:
    """Raise unless the simulation computes the same, for every way to adapt the rates; as `Round.agree`."""
    printed = at.simulated(server="printed").iterates
    assert printed is not None
    end = at.problem.start - at.alpha * at.G - at.problem.p @ at.ends
    at.agree("The printed update", bool((printed[0, 1] == end).all()))
    star = max(Fraction(0), at.q * (at.G @ at.S) / (at.L * (at.S @ at.S))) if at.S.any() else 0
    at_star = at.L / 2 * star**2 * (at.S @ at.S) - star * at.q * (at.G @ at.S)
    at.agree("Gamma at the common rate", at.simulated("server").column("Gamma")[0, 0] == at_star)
    for row in ("none", "average", "worst"):
        trace, formula = at.simulated(row), lemmas.adapted_forgetting()
        if row == "none":
            formula = lemmas.constant_forgetting()
            at.agree("Lambda", (trace.column("Lambda")[0, 0] == at.products).all())
        values = {symbol: TABLE[symbol](Client(at, row, None)) for symbol in formula.atoms(sp.Symbol)}
        at.agree(f"Gamma ({row})", put_in(formula, values) == sp.sympify(trace.column("Gamma")[0, 0]))


def clients_of(rounds: Iterable[Round], worst: int, nearest: int, best: int) -> Iterator[Client]:
    """Every client of rounds, in both of Table 1's cases or in one (0, 1).

    With `nearest` it is the client with transference and the least rate alone, or none where none has transference.
    """
    for found, case in product(rounds, ("average", "worst") if worst < 0 else (("average", "worst")[worst],)):
        agrees(found)
        chosen: list[int | None] = list(range(found.problem.clients))
        if nearest:
            moving = [(rate, i) for i, (_, rate) in enumerate(found.rates(case)) if found.products[i] > 0]
            chosen = [min(moving)[1] if moving else None]
        yield from (Client(found, case, i, bool(best)) for i in chosen)


def linear_round(
    alpha: Fraction,
    beta: Fraction,
    f1: int,
    a1: int,
    f2: int = _OWN,
    b1: int = _OWN,
    a2: int = _OWN,
    b2: int = _OWN,
    a3: int = _OWN,
    b3: int = _OWN,
    n1: int = 1,
    n2: int = 1,
    worst: int = -1,
    nearest: int = 0,
    best: int = 0,
) -> Iterator[Client]:
    """f_i = ||x||^2/2 at x_t = (f1, f2); linear g_i with gradients (a1, b1), (a2, b2), (a3, b3), the first n1 times."""
    memory, *rows = ([v for v in row if v is not _OWN] for row in ((f1, f2), (a1, b1), (a2, b2), (a3, b3)))
    current = [row for row, count in zip(rows, (n1, n2, 1), strict=True) if row for _ in range(count)]
    return clients_of([Round(with_gradients(memory, current), alpha, beta)], worst, nearest, best)


def adapted_rounds(
    rounds: int, seed: int, f_step: Fraction = _OWN, equal: int = 0, worst: int = -1, nearest: int = 0, best: int = 0
) -> Iterator[Client]:
    """`rounds_of_every_kind`; with alpha = `f_step`, or with beta = alpha."""
    found = rounds_of_every_kind(rounds, seed)
    found = tuple(replace(one, alpha=f_step) for one in found) if f_step else found
    return clients_of((replace(one, beta=one.alpha) if equal else one for one in found), worst, nearest, best)


#: What pages call `instances of`.
FAMILIES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {made.__name__: made for made in (linear_round, adapted_rounds)}
)
