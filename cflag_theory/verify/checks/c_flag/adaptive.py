"""Adaptive rates: rounds with rates that are not Table 1's, exact runs beside their closed forms, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.adaptive import algorithm3, clients
from cflag_theory.claims.c_flag.adaptive.ours import rates as claim
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias_dot_sum, f_before, grad_dot_sum
from cflag_theory.kernels import Problem, algorithm, everything, simulate
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import gradients, values
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import TOLERANCE, Point
from cflag_theory.verify.instances.adapted import Component, Round, in_space, norm, rounds_of_every_kind, with_gradients
from cflag_theory.verify.instances.adapted_clients import TABLE, Client
from cflag_theory.verify.instances.on_the_line import exact_run, random_runs, visited
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, UNDECIDED, Evidence

_HALF = Fraction(1, 2)
_ROUNDS = 10


def _at(case: Round, *symbols: sp.Expr, client: int | None = None) -> dict[Any, Any]:
    return {symbol: TABLE[symbol](Client(case, "worst", client)) for symbol in symbols}


def line14_points() -> Iterator[Point]:
    """The step that lines 4 to 14 make, in the first coordinate; and the length of the repaired step."""
    for case in rounds_of_every_kind(8, 44):
        p, x, rates = case.problem.p, case.problem.start, []
        # Lines 5 to 12 as printed.
        for i, (line5, seen) in enumerate(zip(case.seen @ case.G, case.seen, strict=True)):
            raised, scale = case.alpha * (1 - line5 / (case.G @ case.G)), case.L * case.weight("worst", i)
            rates.append((case.alpha, case.q * line5 / (scale * (seen @ seen))) if line5 > 0 else (raised, case.beta))
        alphas, betas = np.array(rates, dtype=object).T
        adapted, correction = (p * betas) @ case.a, (p * betas) @ (p @ case.grad_g_clients - case.grad_g_clients)
        end = case.simulated("printed").iterates
        assert end is not None
        made = x - (p @ alphas) * case.G - case.local_steps * correction - adapted
        case.agree("The step of lines 4-14", bool((end[0, 1] == made).all()))
        known = _at(case, E, beta, update.x, update.grad_f_memory, update.grad_g) | {
            algorithm3.alpha_mean: p @ alphas,
            algorithm3.adapted: adapted[0],
            algorithm3.correction: correction[0],
            update.total_weight: sum(p),
            update.grad_g_mean: (p @ case.grad_g_clients)[0],
        }
        words = f"By lines 4-12 beta_i = {', '.join(map(str, betas))}; coordinate 1."
        yield Point(known, (case.words(), words), "consistent")
        yield _repaired(case)


def _repaired(case: Round) -> Point:
    """||x_{t+1} - x_t|| with Table 1's rates, worst case."""
    end, rates = case.simulated("worst").iterates, case.rates("worst")
    assert end is not None
    inside, outside = (np.flatnonzero(kind).tolist() for kind in (case.products <= 0, case.products > 0))
    known = _at(case, L, alpha, beta, clients.N, clients.memory) | {
        algorithm3.step: norm(end[0, 1] - case.problem.start),
        algorithm3.longest: max((norm(case.a[j]) for j in inside), default=0),
        algorithm3.abs_q: abs(case.q),
        algorithm3.sign: 1 if case.q >= 0 else -1,
        algorithm3.N_T: len(outside),
        algorithm3.N_I: len(inside),
        algorithm3.weight_I: sum(case.problem.p[j] for j in inside),
    }
    for i in outside[:1]:
        known |= _at(case, clients.p_i, algorithm3.length, clients.Lambda_i, client=i)
        known[algorithm3.abs_rate] = abs(rates[i][1])
    for j in inside[:1]:
        known |= {algorithm3.length_j: norm(case.a[j]), algorithm3.Lambda_j: case.products[j]}
        known[algorithm3.alpha_j] = rates[j][0]
    return Point(known, part="bounded")


def _replayed(part: str, right: bool, shown: str, failing: str, instance: list[str], **data: Any) -> Evidence:
    found = (REFUTES, shown) if right else (UNDECIDED, failing)
    return Evidence("counterexample", part, "printed", *found, {"instance": instance, **data})


def unbounded_replay(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The family of the refutation in the exact simulation: bounded gradients, steps longer than any K."""
    lengths = []
    for K in (1, 10, 1000):
        case = Round(with_gradients([1], [[(1 - _HALF) / (4 * _HALF * K)], [1]]), _HALF, _HALF)
        start, end = visited(case.simulated("printed"))
        lengths.append((K, start - end))
    shown = ", ".join(f"{length} > {K}" for K, length in lengths)
    words = "N = 2, f_i = x^2/2, x_t = 1, g_1 = epsilon x, g_2 = x, alpha = beta = 1/2, epsilon = 1/(4 K)."
    shown = f"Exact steps with all gradients at most 1: {shown}."
    right = all(length > K for K, length in lengths)
    yield _replayed("bounded", right, shown, "The exact steps are not as long as claimed.", [words])


def eq14_replay(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """On f = g = x^2/2 the simulated Gamma of the better pair is below that of every feasible pair of a grid."""
    problem = in_space([(1, [0])], [(1, [0])], start=[1])
    shares = (Fraction(1, 1000), Fraction(1, 3), _HALF, Fraction(2, 3), Fraction(999, 1000))
    cases, beaten = 0, 0
    for share, bias, local in product(
        shares, (Fraction(0), _HALF, Fraction(1)), (Fraction(1, 9), Fraction(1), Fraction(3))
    ):
        step = share * 2 / (1 + bias)
        better = step * (1 - step / 2)
        pairs = ((step, local), (better, 1 - better))
        here, there = (Round(problem, *pair).simulated().column("Gamma")[0, 0] for pair in pairs)
        cases += 1
        beaten += bool(there < here and better < step)
    shown = f"In {beaten} of {cases} exact rounds alpha' and beta' have the lower Gamma."
    words = "N = 1, E = 1, f = g = x^2/2, x_t = 1, a memory of everything; alpha' = alpha (1 - alpha/2), beta' = 1 - "
    yield _replayed("1", beaten == cases, shown, shown, [f"{words}alpha'."], cases=cases)


def guarantee_replay(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The exact simulation follows the closed forms of both refutations."""
    past: list[Component] = [(1, [0])] * 4
    current: list[Component] = [*[(1, [0])] * 3, (-1, [0])]
    steps = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))

    def follows(problem: Problem, row: str, step: Fraction, factor: Fraction) -> bool:
        one = algorithm("c_flag", adaptive=row)
        run = exact_run(problem, algorithm=one, alpha=step, beta=step, local_steps=1, rounds=_ROUNDS)
        return visited(run) == [factor**t for t in range(_ROUNDS + 1)]

    def average_case(step: Fraction, x: Fraction) -> bool:
        """A round from x is one of part f: no cross term, rates within the constraint (L = 1), Assumption 3."""
        case = Round(in_space(past, current, start=[x]), step, step)
        grad_g = case.problem.p @ case.grad_g_clients
        bounded = all(abs(a * x) <= 2 * abs(grad_g[0]) for a, _ in past)
        return (
            bounded
            and TABLE[clients.cross](Client(case, "average", None)) == 0
            and all(rate < 2 for rate, _ in case.rates("average"))
        )

    against = in_space(past, current, start=[1])
    away = in_space([(1, [0])], [(2, [-2])], start=[1], L=2)
    factors = {step: -2 * (1 - step) for step in steps}
    f = all(follows(against, "average", step, factors[step]) for step in steps) and all(
        average_case(step, factors[step] ** t) for step in steps for t in range(_ROUNDS)
    )
    rows = ("average", "worst", "server")
    g = all(follows(away, row, step, _HALF) for row, step in product(rows, steps))
    words = (
        "x_t = (-2 (1 - alpha))^t, with alpha_{t,i} < 2, no cross term and ||grad f_i|| <= 2 ||grad g|| in every round",
        "x_t = 2^-t, grad g = 2 (x_t + 1) >= 2",
    )
    for part, right, used, told in zip("fg", (f, g), (("average",), rows), words, strict=True):
        shown = f"{_ROUNDS} exact rounds at alpha = {', '.join(map(str, steps))} follow the closed form: {told}."
        instance = [f"algorithm('c_flag', adaptive={row!r})" for row in used]
        failing = "The exact rounds do not follow the closed form."
        yield _replayed(part, right, shown, failing, instance, rounds=_ROUNDS)


def clients_points() -> Iterator[Point]:
    """Every client's rate of ours and what it adds, and Gamma of the step in the simulation."""
    for case in rounds_of_every_kind(8, 52):
        p, a, G, S, q = case.problem.p, case.a, case.G, case.S, case.q
        targets = [case.beta + (q * (G @ v) - case.L * case.beta * (v @ S)) / (case.L * (v @ v)) for v in a]
        betas = [max(Fraction(0), target) for target in targets]
        D = (p * (np.array(betas, dtype=object) - case.beta)) @ a
        whole = _at(case, L, alpha, beta, clients.Gamma) | {
            claim.norm2: (case.beta * S + D) @ (case.beta * S + D),
            claim.memory_dot_D: G @ D,
            claim.S2: S @ S,
            claim.Lambda_S: G @ S,
            claim.moved2: sum(w * (b - case.beta) ** 2 * (v @ v) for w, b, v in zip(p, betas, a, strict=True)),
        }
        taken = case.simulated("clients").column("Gamma")[0, 0]
        after = case.L / 2 * whole[claim.norm2] - q * (case.beta * (G @ S) + G @ D)
        case.agree("Gamma at the clients' rates", after == taken)
        words = f"beta_i = {', '.join(map(str, betas))}; Gamma = {whole[clients.Gamma]} before, {taken} after."
        for v, target, rate in zip(a, targets, betas, strict=True):
            own = {claim.a_i2: v @ v, claim.a_dot_S: v @ S, claim.target: target}
            yield Point(whole | own | {clients.Lambda_i: G @ v, clients.beta_i: rate}, (case.words(), words))


def descent_points() -> Iterator[Point]:
    """The step with the largest rate that the rule allows, for memories b = theta grad f; and sums over runs."""
    for case in rounds_of_every_kind(8, 54):
        for theta, share in ((Fraction(0), 2), (Fraction(1, 3), 2), (Fraction(-1, 3), 1), (_HALF, 0)):
            if case.L * case.alpha <= 1:
                yield _biased_step(case, theta, share)
    yield from (_exact_run(case) for case in rounds_of_every_kind(8, 55) if case.L * case.alpha <= 1)


def _biased_step(case: Round, theta: Fraction, share: int) -> Point:
    """One round by hand: grad_f_memory = (1 + theta) grad f, beta_t = share * beta'."""
    problem, x, grad_f, S = case.problem, case.problem.start, case.G, case.S
    b, size = theta * grad_f, abs(theta)
    memory = grad_f + b
    room = case.q * (memory @ S) - sp.sympify(size / (1 - size)) * norm(memory) * norm(S)
    rate = sp.Max(0, share * room / (case.L * (S @ S))) if (S @ S) else sp.S.Zero
    # The rule is a range: a rational rate just inside it keeps the step rational.
    rate = Fraction(int(sp.floor(rate * 1000)), 1000)
    after = x - case.alpha * memory - rate * S
    f0, f1 = (problem.p @ values(problem.potential, problem.past, at) for at in (x, after))
    known = {claim.mu: size, claim.S_norm: norm(S), claim.memory_norm: norm(memory)}
    known |= {claim.size_f: norm(grad_f), claim.size_b: norm(b), claim.rate: rate, f_before: f0, claim.f_adapted: f1}
    return Point(_at(case, L, alpha) | known | {grad_dot_sum: grad_f @ S, bias_dot_sum: b @ S}, part="round")


def _exact_run(case: Round) -> Point:
    """Three exact rounds with the common rate and a memory of everything; f >= its value at its minimiser."""
    how: dict[str, Any] = {"alpha": case.alpha, "beta": case.beta, "local_steps": case.local_steps, "rounds": 3}
    trace = exact_run(case.problem, algorithm=algorithm("c_flag", adaptive="server"), **how)
    at_end, first = trace.at_end("f")[0], trace.column("f")[0, 0]
    # Each f_i is c_i ||x||^2 / 2 - <b_i, x> with c_i > 0, so that f - ||grad f||^2 / (2 c) is its least value. The
    # curvature c of f is a difference of gradients along the first axis.
    problem, along = case.problem, np.eye(len(case.G), dtype=int)[0]
    other = problem.p @ gradients(problem.potential, problem.past, problem.start + along)
    least = first - trace.column("grad_f2")[0, 0] / (2 * (other - case.G)[0])
    known = _at(case, L, alpha) | {claim.mu: 0, claim.T: 3, claim.f_least: least, claim.f(0): first}
    known |= {claim.f(claim.T): at_end, claim.squares(claim.T): sum(trace.column("grad_f2")[0])}
    return Point(known, part="run")


def lowers_gamma(adaptive: str, part: str) -> Any:
    """Compare Gamma of the adapted step with that of constant rates, in the first round of random runs."""

    def along(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
        cases = bad = lower = raised = 0
        for run in random_runs(seed, count, beta_limit=2.0, alpha_limit=1.9):
            how: dict[str, Any] = {"alpha": run.alpha, "beta": run.beta, "local_steps": run.local_steps}
            how |= {"rounds": 1, "memory": run.memory, "replicas": 3, "seed": run.seed, "threads": 1, "throw": False}
            rows = (algorithm("c_flag", adaptive=row) for row in ("none", adaptive, "worst"))
            constant, adapted, table = traces = [simulate(run.problem, row, **how) for row in rows]
            if not all(trace.ok for trace in traces):
                continue
            before, after = constant.column("Gamma")[:, 0], adapted.column("Gamma")[:, 0]
            scale = run.L_objective * run.beta**2 * constant.column("delayed_sum2")[:, 0] + np.abs(before)
            cases += len(before)
            bad += int(np.sum(after > before + TOLERANCE * scale))
            lower += int(np.sum(after < before - TOLERANCE * scale))
            raised += int(np.sum(table.column("Gamma")[:, 0] > before + TOLERANCE * scale))
        summary = (
            f"{bad} of {cases} random rounds have a higher Gamma with these rates (seed {seed}), {lower} a lower one; "
            f"the worst case of Table 1 raises Gamma in {raised} of them."
        )
        yield _along(part, summary, cases, bad, seed, lower=lower, table1_raised=raised)

    return along


def descends(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """f along random runs with the common rate and a memory of everything, against the first part with m = 0."""
    cases, bad, worst = 0, 0, 0.0
    for run in random_runs(seed, count, beta_limit=1.0, alpha_limit=1.0):
        how: dict[str, Any] = {"alpha": run.alpha, "beta": run.beta, "local_steps": run.local_steps, "rounds": 10}
        how |= {"memory": everything(), "replicas": 2, "seed": run.seed, "threads": 1}
        trace = simulate(run.problem, algorithm("c_flag", adaptive="server"), **how)
        f = np.concatenate([trace.column("f"), trace.at_end("f")[:, None]], axis=1)
        needed = run.alpha * (1 - run.L_objective * run.alpha / 2) * trace.column("grad_f2")
        made = f[:, :-1] - f[:, 1:]
        size = np.abs(f).max() + needed
        cases += needed.size
        bad += int(np.sum(made < needed - TOLERANCE * size))
        worst = max(worst, float(np.max(np.where(made > 1e-9 * size, needed / np.where(made > 0, made, 1), 0))))
    summary = f"{bad} of {cases} rounds along random runs fall short (seed {seed}); worst needed/made {worst:.4g}."
    yield _along("round", summary, cases, bad, seed, worst_ratio=worst)


def _along(part: str, summary: str, cases: int, bad: int, seed: int, **more: Any) -> Evidence:
    data = {"cases": cases, "violations": bad, "seed": seed, "exact": False, **more}
    return Evidence("property", part, "printed", REFUTES if bad else SUPPORTS, summary, data)


CHECKS = {
    "cflag.alg3_line14": Check(line14_points, further=unbounded_replay),
    "cflag.eq14": Check(further=eq14_replay),
    "cflag.sec5_guarantee": Check(further=guarantee_replay),
    "ours.adaptive_server": Check(along=lowers_gamma("server", "transference")),
    "ours.adaptive_clients": Check(clients_points, along=lowers_gamma("clients", "1")),
    "ours.adaptive_descent": Check(descent_points, along=descends),
}
