"""Our adaptive rates: exact rounds, and random rounds and runs in which the simulation takes the adapted step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.adaptive import clients as clients_claim
from cflag_theory.claims.c_flag.adaptive import server as server_claim
from cflag_theory.claims.c_flag.adaptive.ours import rates as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L, alpha, bias_dot_sum, f_before, grad_dot_sum, sum2
from cflag_theory.kernels import Trace, algorithm, everything, simulate
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import gradients, values
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.lemmas import adapted_values
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, norm, random_rounds, with_gradients
from cflag_theory.verify.evidence import TOLERANCE, Point
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.instances import Run, exact_run, random_runs

_HALF = Fraction(1, 2)


def _rounds(seed: int) -> list[Round]:
    chosen = [
        Round(with_gradients([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]]), _HALF, _HALF),
        Round(with_gradients([1, 1], [[2, 1], [1, 2]]), Fraction(2, 5), Fraction(2, 5)),
        Round(with_gradients([1], [[-4]]), _HALF, _HALF),
    ]
    return chosen + random_rounds(8, seed)


def server_points() -> Iterator[Point]:
    """The best common rate of each round, and Gamma at it in the simulation."""
    for case in _rounds(51):
        known = case.values()
        if known[sum2] == 0:
            continue
        taken = case.simulated("server").column("Gamma")[0, 0]
        product = (1 - case.L * case.alpha) * known[server_claim.Lambda]
        star = max(Fraction(0), product / (case.L * known[sum2]))
        at_star = server_claim.forgetting(star, alpha).subs(known)
        case.agree("Gamma at the common rate", at_star == sp.sympify(taken))
        if product > 0:
            known[server_claim.beta_star] = star
        yield Point(known, part="transference" if product > 0 else "interference")


def clients_points() -> Iterator[Point]:
    """Every client's rate and what it adds, and Gamma of the step in the simulation."""
    for case in _rounds(52):
        p, a, G, q = case.problem.p, case.a, case.G, 1 - case.L * case.alpha
        S = p @ a
        targets = [case.beta + (q * (G @ v) - case.L * case.beta * (v @ S)) / (case.L * (v @ v)) for v in a]
        betas = [max(Fraction(0), target) for target in targets]
        D = (p * (np.array(betas, dtype=object) - case.beta)) @ a
        whole = {
            claim.norm2: (case.beta * S + D) @ (case.beta * S + D),
            claim.memory_dot_D: G @ D,
            claim.S2: S @ S,
            claim.Lambda_S: G @ S,
            claim.moved2: sum(w * (b - case.beta) ** 2 * (v @ v) for w, b, v in zip(p, betas, a, strict=True)),
        }
        taken = case.simulated("clients").column("Gamma")[0, 0]
        after = case.L / 2 * whole[claim.norm2] - q * (case.beta * (G @ S) + G @ D)
        case.agree("Gamma at the clients' rates", after == taken)
        rates = ", ".join(map(str, betas))
        for i, (v, target, rate) in enumerate(zip(a, targets, betas, strict=True)):
            one = {
                claim.a_i2: v @ v,
                claim.a_dot_S: v @ S,
                claim.target: target,
                clients_claim.Lambda_i: G @ v,
                clients_claim.beta_i: rate,
            }
            known = case.values(client=i) | whole | one
            words = f"beta_i = {rates}; Gamma = {known[clients_claim.Gamma]} before, {taken} after."
            yield Point(known, (case.words(), words))


def condition_points() -> Iterator[Point]:
    """Rounds of every kind under Table 1, in both cases."""
    for case in _rounds(53):
        for mode in ("average", "worst"):
            yield Point(adapted_values(case, mode), part=mode)


def descent_points() -> Iterator[Point]:
    """The step with the largest rate that the rule allows, for memories b = theta grad f; and sums over runs."""
    for case in _rounds(54):
        for theta, share in ((Fraction(0), 2), (Fraction(1, 3), 2), (Fraction(-1, 3), 1), (_HALF, 0)):
            if case.L * case.alpha <= 1:
                yield _biased_step(case, theta, share)
    for case in _rounds(55)[:6]:
        if case.L * case.alpha <= 1:
            yield _exact_run(case)


def _biased_step(case: Round, theta: Fraction, share: int) -> Point:
    """One round by hand: grad_f_memory = (1 + theta) grad f, beta_t = share * beta'."""
    problem, x = case.problem, case.problem.start
    grad_f = problem.p @ gradients(problem.potential, problem.past, x)
    S, b, size = problem.p @ case.a, theta * grad_f, abs(theta)
    memory = grad_f + b
    known = {claim.mu: size, claim.S_norm: norm(S), claim.memory_norm: norm(memory)}
    room = (1 - case.L * case.alpha) * (memory @ S) - sp.sympify(size / (1 - size)) * norm(memory) * norm(S)
    rate = sp.Max(0, share * room / (case.L * (S @ S))) if (S @ S) else sp.S.Zero
    # The rule is a range: a rational rate just inside it keeps the step rational.
    rate = Fraction(int(sp.floor(rate * 1000)), 1000)
    after = x - case.alpha * memory - rate * S
    f0, f1 = (problem.p @ values(problem.potential, problem.past, at) for at in (x, after))
    known |= {
        **of(case, L, alpha),
        claim.size_f: norm(grad_f),
        claim.size_b: norm(b),
        claim.rate: rate,
        grad_dot_sum: grad_f @ S,
        bias_dot_sum: b @ S,
        f_before: f0,
        claim.f_adapted: f1,
    }
    return Point(known, part="round")


def _exact_run(case: Round) -> Point:
    """Three exact rounds with the common rate and a memory of everything; f >= its value at its minimiser."""
    trace = _simulated(case, "server", 3)
    at_end = trace.at_end("f")[0]
    f = [*trace.column("f")[0], at_end]
    # Each f_i is c_i ||x||^2 / 2 - <b_i, x> with c_i > 0, so that f - ||grad f||^2 / (2 c) is its least value.
    curvature = _curvature(case)
    least = f[0] - trace.column("grad_f2")[0, 0] / (2 * curvature)
    known: dict[Any, Any] = {**of(case, L, alpha), claim.mu: 0, claim.T: 3, claim.f_least: least}
    known |= {claim.f(0): f[0], claim.f(claim.T): at_end, claim.squares(claim.T): sum(trace.column("grad_f2")[0])}
    return Point(known, part="run")


def _curvature(case: Round) -> Fraction:
    """The curvature of f, from two gradients along the first axis."""
    problem, x = case.problem, case.problem.start
    other = x.copy()
    other[0] = other[0] + 1
    here, there = (problem.p @ gradients(problem.potential, problem.past, at) for at in (x, other))
    found: Fraction = there[0] - here[0]
    return found


def _simulated(case: Round, adaptive: str, rounds: int) -> Trace:
    row = algorithm("c_flag", adaptive=adaptive)
    return exact_run(
        case.problem, algorithm=row, alpha=case.alpha, beta=case.beta, local_steps=case.local_steps, rounds=rounds
    )


def _first_round(run: Run, adaptive: str) -> Trace:
    return simulate(
        run.problem,
        algorithm("c_flag", adaptive=adaptive),
        alpha=run.alpha,
        beta=run.beta,
        local_steps=run.local_steps,
        rounds=1,
        memory=run.memory,
        replicas=3,
        seed=run.seed,
        threads=1,
        throw=False,
    )


def lowers_gamma(adaptive: str, part: str) -> Any:
    """Compare Gamma of the adapted step with that of constant rates, in the first round of random runs."""

    def along(claim_: Claim, seed: int, count: int) -> Iterator[Evidence]:
        cases = bad = lower = raised = 0
        for run in random_runs(seed, count, beta_limit=2.0, alpha_limit=1.9):
            constant, adapted = (_first_round(run, row) for row in ("none", adaptive))
            table = _first_round(run, "worst")
            if not (constant.ok and adapted.ok and table.ok):
                continue
            before, after = constant.column("Gamma")[:, 0], adapted.column("Gamma")[:, 0]
            scale = run.L_objective * run.beta**2 * constant.column("delayed_sum2")[:, 0] + np.abs(before)
            cases += len(before)
            bad += int(np.sum(after > before + TOLERANCE * scale))
            lower += int(np.sum(after < before - TOLERANCE * scale))
            raised += int(np.sum(table.column("Gamma")[:, 0] > before + TOLERANCE * scale))
        data = {
            "cases": cases,
            "violations": bad,
            "seed": seed,
            "exact": False,
            "lower": lower,
            "table1_raised": raised,
        }
        summary = (
            f"{bad} of {cases} random rounds have a higher Gamma with these rates (seed {seed}), {lower} a lower one; "
            f"the worst case of Table 1 raises Gamma in {raised} of them."
        )
        yield Evidence("property", part, "printed", REFUTES if bad else SUPPORTS, summary, data)

    return along


def descends(claim_: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """f along random runs with the common rate and a memory of everything, against the first part with m = 0."""
    cases, bad, worst = 0, 0, 0.0
    for run in random_runs(seed, count, beta_limit=1.0, alpha_limit=1.0):
        trace = simulate(
            run.problem,
            algorithm("c_flag", adaptive="server"),
            alpha=run.alpha,
            beta=run.beta,
            local_steps=run.local_steps,
            rounds=10,
            memory=everything(),
            replicas=2,
            seed=run.seed,
            threads=1,
        )
        f = np.concatenate([trace.column("f"), trace.at_end("f")[:, None]], axis=1)
        needed = run.alpha * (1 - run.L_objective * run.alpha / 2) * trace.column("grad_f2")
        made = f[:, :-1] - f[:, 1:]
        size = np.abs(f).max() + needed
        cases += needed.size
        bad += int(np.sum(made < needed - TOLERANCE * size))
        worst = max(worst, float(np.max(np.where(made > 1e-9 * size, needed / np.where(made > 0, made, 1), 0))))
    data = {"cases": cases, "violations": bad, "seed": seed, "exact": False, "worst_ratio": worst}
    summary = f"{bad} of {cases} rounds along random runs fall short (seed {seed}); worst needed/made {worst:.4g}."
    yield Evidence("property", "round", "printed", REFUTES if bad else SUPPORTS, summary, data)


CHECKS = {
    "ours.adaptive_server": Check(server_points, along=lowers_gamma("server", "transference")),
    "ours.adaptive_clients": Check(clients_points, along=lowers_gamma("clients", "1")),
    "ours.adaptive_condition": Check(condition_points),
    "ours.adaptive_descent": Check(descent_points, along=descends),
}
