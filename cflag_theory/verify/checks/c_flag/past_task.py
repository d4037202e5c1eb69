"""The past task: exact rounds and runs over every draw of the memory, families that refute, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.forgetting.average import C
from cflag_theory.claims.c_flag.past_task import descent, runs, theorem2, theorem5
from cflag_theory.claims.c_flag.past_task.ours import first_rounds, rates
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias2,
    bias_dot_sum,
    f_after,
    f_before,
    grad_dot_bias,
    grad_dot_sum,
    grad_f2,
    m,
    sum2,
    t,
)
from cflag_theory.kernels import Memory, Problem, Trace, everything, sign_bias, uniform
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.forgetting import ROUNDS, paths
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.instances.c_flag import averaged_run, of
from cflag_theory.verify.instances.on_the_line import (
    Component,
    described,
    exact_run,
    on_the_line,
    random_runs,
    slopes,
    visited,
)
from cflag_theory.verify.instances.runs import Exact
from cflag_theory.verify.verdict import REFUTES, Evidence

_ZERO, _ONE, _HALF, _THIRD, _QUARTER = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)


def _round(
    problem: Problem,
    memory: Memory,
    step: Fraction,
    local: Fraction,
    steps: int,
    bias: Fraction | None = None,
    *,
    part: str | None = None,
    seed: int = 0,
) -> Point:
    """One exact round on the line as values of Lemma 1's symbols; m is the ratio of the round if it is not given."""
    trace = exact_run(problem, alpha=step, beta=local, local_steps=steps, memory=memory, seed=seed)
    (before, after), (grad_f, grad_g) = visited(trace), slopes(problem)
    # S by (22), from a round without a memory step: Lambda_i = grad_f_memory a_i would vanish with grad_f_memory.
    start, end = visited(exact_run(problem, alpha=0, beta=local, local_steps=steps, memory=memory, seed=seed))
    S = (start - end) / local
    b = (before - after - local * S) / step - grad_f
    late = S - grad_g
    values: dict[Any, Any] = {
        L: problem.constants["L"].value,
        m: b**2 / grad_f**2 if bias is None else bias,
        alpha: step,
        beta: local,
        f_before: trace.column("f")[0, 0],
        f_after: trace.at_end("f")[0],
        grad_f2: grad_f**2,
        bias2: b**2,
        grad_dot_bias: grad_f * b,
        sum2: S**2,
        grad_dot_sum: grad_f * S,
        bias_dot_sum: b * S,
        descent.late_sum2: late**2,
        descent.late_grad_dot_sum: grad_f * late,
        descent.late_bias_dot_sum: b * late,
        descent.inner: grad_f * (after - before),
        descent.step2: (after - before) ** 2,
        # Of the simulation itself, which adds up the clients' inner products.
        descent.Lambda: trace.column("Lambda")[0, 0] @ problem.p,
        descent.memory_dot_sum: (grad_f + b) * S,
    }
    story = f"{described(problem)}; memory: {memory.kind}, seed {seed}: b = {b}; E = {steps}. S = {S} from k = 0."
    return Point(values, (story,), part)


def _lemma1_points() -> Iterator[Point]:
    for steps in (2, 1, 3):
        # The current task pushes x away from the minimiser of f; sums from k = 1 miss the first push.
        problem = on_the_line([[(1, 0)]], [[(0, 1)]], start=1, L=1)
        yield _round(problem, everything(), _HALF, _HALF, steps, _ZERO, part="1")
    # Equality: f has curvature exactly L and the bias exactly m.
    for scale, steps in product((_ZERO, _HALF, _ONE, Fraction(2)), (1, 3)):
        step = 1 / (2 * (1 + scale**2))
        yield _round(_sharp(), sign_bias(scale=scale), step, _QUARTER, steps, scale**2, part="1")
    # Gradients of the clients cancel in grad f, their biases do not: Assumption 2 holds and (27) fails for every m.
    past = [[(0, -_HALF * 3), (0, -_HALF)], [(0, _HALF * 3), (0, _HALF)]]
    cancelling = on_the_line(past, [[(_HALF, 1)]] * 2, start=0, L=1)
    # E = 2: as printed, the sums of E = 1 are empty.
    for steps, seed, bias in product((2, 1), range(6), (_ZERO, Fraction(3))):
        step = 1 / (1 + bias)
        yield _round(cancelling, uniform(1), step, step / 4, steps, bias, part="2", seed=seed)


def _sharp() -> Problem:
    return on_the_line([[(2, 0)]], [[(-1, 1), (1, 3)]], start=3, L=2)


def _lemma1_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs, with m the observed ratio in that round and alpha within 2/(L(1 + m))."""
    for run in random_runs(seed, count, beta_limit=1.0):
        trace = run.trace
        column = {name: trace.column(name) for name in ("grad_f2", "b2", "grad_memory2", "delayed_sum2", "B", "f")}
        bias = trace.column("m_met")
        fits = np.isfinite(bias) & (run.alpha < 2 / (run.L_objective * (1 + bias)))
        if not fits.any():
            continue
        cross = (column["grad_memory2"] - column["grad_f2"] - column["b2"]) / 2
        # B of the Trace, at L of the problem, gives back the inner product that it was made from.
        bias_sum = (column["B"] - (run.L_objective * run.alpha**2 - run.alpha) * cross) / run.beta
        values = {
            L: np.array(run.L_objective),
            m: bias,
            alpha: np.array(run.alpha),
            beta: np.array(run.beta),
            f_before: column["f"],
            f_after: np.concatenate([column["f"][:, 1:], trace.at_end("f")[:, None]], axis=1),
            grad_f2: column["grad_f2"],
            bias2: column["b2"],
            grad_dot_bias: cross,
            sum2: column["delayed_sum2"],
            grad_dot_sum: trace.column("Lambda") @ run.problem.p - bias_sum,
            bias_dot_sum: bias_sum,
        }
        chosen = {symbol: np.broadcast_to(value, fits.shape)[fits] for symbol, value in values.items()}
        yield Sample(chosen, part="1")


def _algebra_points() -> Iterator[Point]:
    """Exact rounds of two and three clients with biased memories, and rounds that attain (56)."""
    past: list[list[Component]] = [[(1, 2), (_HALF, -1)], [(-_HALF, 1), (1, 0)], [(_HALF, _HALF), (0, 3)]]
    current: list[list[Component]] = [[(1, -1)], [(-1, 2), (_HALF, 0)], [(0, 1), (1, 1)]]
    for clients, seed, steps in product((2, 3), range(3), (1, 3)):
        problem = on_the_line(past[:clients], current[:clients], start=2, L=1)
        yield _round(problem, uniform(1), _HALF, _THIRD, steps, seed=seed)
    for scale, step in product((_ZERO, _HALF, Fraction(2)), (_THIRD, Fraction(3))):
        yield _round(_sharp(), sign_bias(scale=scale), step, _HALF, 3, scale**2)


def _mean_points() -> Iterator[Point]:
    """(60)-(63) on runs of one, two and three rounds, for every draw of the memory; (59) in the first round."""
    for scale, push, T in product((_HALF, _ZERO), (_ONE, -_HALF), (1, 2, 3)):
        step = 1 / (1 + scale**2)
        run = averaged_run(step, step, T=T, root_m=scale, push=push)
        first = replace(run, rounds=1)
        common: dict[Any, Any] = of(run, L, alpha, beta, runs.T, runs.least, runs.grad_f2_sum) | {
            m: scale**2,
            theorem2.terms_sum: _terms(run),
            theorem2.lost_mean: run.sums.f[0] - run.sums.f[-1],
            t: 0,
            theorem2.grad_f2_mean(t): first.sums.entries["grad_f2"],
            theorem2.terms_mean(t): _terms(first),
            runs.f_mean(t): first.sums.f[0],
            runs.f_mean(t + 1): first.sums.f[1],
        }
        for kept in run.draws():
            f = [run.f(x) for x in run.path(kept)]
            one = replace(first, only=(kept,)).sums.entries
            own = {
                grad_f2: one["grad_f2"],
                grad_dot_bias: one["grad_dot_bias"],
                grad_dot_sum: one["grad_dot_S"],
                bias_dot_sum: one["bias_dot_S"],
                sum2: one["S2"],
                f_before: f[0],
                f_after: f[1],
                theorem2.f_at(0): f[0],
                theorem2.f_at(runs.T): f[-1],
                theorem2.lost: sum(here - there for here, there in pairwise(f)),
            }
            yield Point(common | own, (run.words, f"This run keeps component {kept[0] + 1}."))


def _terms(run: Exact) -> Fraction:
    """B(t) + Gamma(t), summed over the rounds in the mean."""
    sums, lead = run.sums.entries, run.L * run.alpha
    Gamma = run.L * run.beta**2 / 2 * sums["S2"] - run.beta * (1 - lead) * (sums["grad_dot_S"] + sums["bias_dot_S"])
    return (lead - 1) * run.alpha * sums["grad_dot_bias"] + run.beta * sums["bias_dot_S"] + Gamma


def _rate_points() -> Iterator[Point]:
    """f = x^2/2, g = -x, every round of the run, with T a square so that c/sqrt(T) is rational."""
    for steps, root, step, scale in product((1, 3), (1, 2, 3), (_HALF, _ONE), (_ONE, Fraction(1, 10))):
        local = scale / root
        for start in (local * steps / step, local * steps / step + 1):
            problem = on_the_line([[(1, 0)]], [[(0, 1)]], start=start, L=1)
            x = visited(exact_run(problem, alpha=step, beta=local, local_steps=steps, rounds=root**2))
            for at, here in enumerate(x):
                known = {alpha: step, beta: local, E: steps, runs.T: root**2, rates.c: scale, rates.x(0): start}
                later = {rates.x(t + 1): there for there in x[at + 1 : at + 2]}
                yield Point(known | {rates.x(t): here} | later)


def met_ratio(trace: Trace) -> tuple[Array, Array]:
    """The largest sqrt(m) that each replica met, and where it is below 1 in a run that did not break off."""
    rounds = trace.column("f").shape[1]
    root = np.sqrt(np.max(np.where(trace.column("b2") > 0, trace.column("m_met"), 0.0), axis=1, initial=0.0))
    return root, np.isfinite(root) & (root < 1) & (trace.rounds_done == rounds) & (rounds > 0)


def _drawn_once_samples(seed: int, count: int) -> Iterator[Sample]:
    for run in random_runs(seed, count, beta_limit=1.0, alpha_limit=1.0):
        trace = run.trace
        root, fits = met_ratio(trace)
        if fits.any():
            found = {
                runs.root_m: root,
                runs.grad_f2_sum: np.sum(trace.column("grad_f2"), axis=1),
                runs.grad_g2_sum: np.sum(trace.column("grad_g2"), axis=1),
                runs.f_mean(0): trace.column("f")[:, 0],
                runs.f_mean(runs.T): trace.at_end("f"),
            }
            chosen = {symbol: value[fits] for symbol, value in found.items()}
            yield Sample(of(run, L, alpha, beta, E, runs.T) | chosen)


def _first_rounds_samples(seed: int, count: int) -> Iterator[Sample]:
    """W = 5 rounds with small beta, on past data whose f is a mean of non-negative functions."""
    for run in random_runs(seed, count, beta_limit=0.02, alpha_limit=1.0):
        past, trace = run.problem.past, run.trace
        root, fits = met_ratio(trace)
        if fits.any() and not len(past.offsets) and not bool((past.weights < 0).any()):
            found = {
                runs.root_m: root,
                first_rounds.f2(first_rounds.W): np.sum(trace.column("grad_f2"), axis=1),
                # f(x_0) - 0 is at least f(x_0) - inf f.
                first_rounds.F: trace.column("f")[:, 0],
                first_rounds.size_g(0): trace.root("grad_g2")[:, 0],
            }
            chosen = {symbol: value[fits] for symbol, value in found.items()}
            yield Sample(of(run, L, alpha, beta, E) | {first_rounds.W: run.rounds, t: 0} | chosen)


def _calls_points() -> Iterator[Point]:
    """The number of rounds to epsilon, counted, on f = x^2/2 and g = -x with beta = 1/ceil(sqrt(T))."""
    locals_ = {T: Fraction(1, 2 * (int(np.sqrt(T - 1)) + 1)) for T in range(1, 20)}
    # From just above epsilon = 1 the second round reaches it, and the bound has hardly any room.
    above = Fraction(1001, 1000)
    for start, C5, accuracies in (
        (Fraction(2), 4, (_QUARTER, Fraction(1, 16), Fraction(1, 60))),
        (above, above**2, [1]),
    ):
        runs_ = {T: averaged_run(_ONE, beta, T=T, push=_ONE, start=start, rest=1) for T, beta in locals_.items()}
        least = {T: min(run.sums.squares) for T, run in runs_.items()}
        # min <= C_5/sqrt(T) for all these T. One component of g and one of the past, E = 1: two gradients a round.
        cost = 2
        assert all(value**2 * T <= C5**2 for T, value in least.items())
        for eps in accuracies:
            T = next(T for T, value in least.items() if value <= eps)
            values: dict[Any, Any] = {theorem5.calls: cost * T, theorem5.cost: cost, theorem5.eps: eps}
            values |= {theorem5.n: T - 1, theorem5.before: least[T - 1], theorem5.C5: C5, C: cost * (C5**2 + 1)}
            yield Point(values | {alpha: 1, L: 1, runs.root_m: 0})


def cancelling(local: Fraction, rounds: int) -> Exact:
    """f_1 = (x_1^2 + x_2^2)/2, f_2 = -x_1^2/6 + x_2^2/2, g = (x_2 - 2)^2/2, b_i = +-grad f_i/2, alpha = 1/2, E = 1."""
    matrices = [scale * np.diag([a, _ONE]) for a in (_ONE, -_THIRD) for scale in (1 + _HALF, 1 - _HALF)]
    past = np.array(matrices), np.array([[_ZERO] * 2] * 4), [0, 0, 1, 1]
    current = np.array([np.diag([_ZERO, _ONE])] * 2), np.array([[_ZERO, Fraction(2)]] * 2), [0, 1]
    problem = quadratic(*past, *current, L=_ONE, p=np.array([_HALF, _HALF]), start=np.array([_ONE, _ZERO]))
    return Exact(problem, _HALF, local, 1, rounds)


def cancelling_family(local: Fraction, rounds: int) -> tuple[bool, Fraction]:
    """Whether exact runs keep x_1 for one memory and satisfy all assumptions with r_i = 3, and min 𝔼||grad f||^2."""
    run = cancelling(local, rounds)
    problem = run.problem
    holds = all(x[0] == 1 for x in run.path((1, 2)))
    for kept, points in paths(run).items():
        for x in points:
            grad_f, v, grad_g = run.gradients(x, kept)
            clients = gradients(problem.potential, problem.past, x)
            own = [clients[i] * (1 + _HALF if j % 2 == 0 else 1 - _HALF) for i, j in enumerate(kept)]
            holds &= bool((problem.p @ np.array(own) == v).all())
            holds &= all(u @ u <= 9 * (grad_g @ grad_g) for u in own)
            holds &= (v - grad_f) @ (v - grad_f) <= grad_f @ grad_f
    return bool(holds), min(run.sums.squares)


def _cancelling_evidence(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for rounds in ROUNDS:
        holds, least = cancelling_family(Fraction(1, 8 * rounds), rounds)
        words = "satisfy" if holds else "do not satisfy"
        summary = (
            f"Exact runs of the family with T = {rounds}, all four memories, {words} the closed form, Assumptions 2 "
            f"and 3 and (27) with m = 1; min_t 𝔼||grad f||^2 = {float(least):.4g} >= 1/36."
        )
        yield Evidence("property", "1", "printed", REFUTES, summary, {"least": str(least), "T": rounds})


CHECKS = {
    "cflag.lemma1": Check(_lemma1_points, _lemma1_samples),
    "cflag.lemma1_supp": Check(_lemma1_points, _lemma1_samples),
    "cflag.eq15": Check(_algebra_points),
    "cflag.eq56": Check(_algebra_points, lambda *how: (Sample(one.values) for one in _lemma1_samples(*how))),
    "cflag.eq63": Check(_mean_points),
    "cflag.thm5": Check(further=_cancelling_evidence),
    "cflag.cor17": Check(_calls_points, further=_cancelling_evidence),
    "ours.drawn_once": Check(samples=_drawn_once_samples),
    "ours.drawn_once_rate": Check(_rate_points),
    "ours.first_rounds": Check(samples=_first_rounds_samples),
}
