"""Floors that a printed theorem predicts to vanish: measured squared gradients beside the printed bounds.

Both problems are one-dimensional quadratics, small enough to follow by hand; the ledger holds the exact instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cflag_theory.kernels import everything, sign_bias, simulate
from cflag_theory.kernels.problems.by_name import quadratic

HORIZONS = tuple(2**power for power in range(2, 13))


def floors(*, seed: int = 0) -> list[dict[str, Any]]:
    """Measured and predicted values against T: "title", "words", "T", "measured", "predicted" of Lemma 3 along
    Algorithm 1, and of Theorem 2 with a bias of m = 1 whose sign is drawn once.
    """
    return [_lemma3(seed), _theorem2(seed)]


def _tasks(past_target: float, current_target: float, start: float) -> Any:
    """f = (x - past_target)^2 / 2 and g = (x - current_target)^2 / 2, one client, L = 1."""
    unit, owner = np.ones((1, 1, 1)), np.zeros(1, dtype=np.int64)
    return quadratic(
        unit,
        np.array([[past_target]]),
        owner,
        unit,
        np.array([[current_target]]),
        owner,
        start=np.array([start]),
    )


def _lemma3(seed: int) -> dict[str, Any]:
    problem, E = _tasks(1.0, -1.0, -2.0), 2
    step = 1 / (30 * E)
    measured, predicted = [], []
    for T in HORIZONS:
        trace = simulate(
            problem, "c_flag", alpha=step, beta=step, local_steps=E, rounds=T, memory=everything(), seed=seed
        )
        measured.append(float(trace.column("grad_h2").min()))
        predicted.append(60 / T * float(trace.column("h")[0, 0] - trace.at_end("h")[0]))
    return {
        "title": "Lemma 3 along Algorithm 1",
        "words": "f_memory = (x - 1)^2/2, g = (x + 1)^2/2, L = 1, E = 2, alpha = beta = 1/(30 L E), x_0 = -2",
        "quantity": r"$\min_t \|\nabla \tilde h(x_t)\|^2$",
        "T": list(HORIZONS),
        "measured": measured,
        "predicted": predicted,
    }


def _theorem2(seed: int) -> dict[str, Any]:
    problem, replicas = _tasks(0.0, 1.0, 1.0), 64
    measured, predicted = [], []
    for T in HORIZONS:
        trace = simulate(
            problem,
            "c_flag",
            alpha=0.5,
            beta=1 / (12 * np.sqrt(T)),
            local_steps=1,
            rounds=T,
            memory=sign_bias(m=1.0),
            replicas=replicas,
            seed=seed,
        )
        measured.append(float(trace.column("grad_f2").mean(axis=0).min()))
        F = float((trace.column("f")[:, 0] - trace.at_end("f")).mean())
        predicted.append(4 / T * (F + float(trace.column("Gamma").sum(axis=1).mean())))
    return {
        "title": "Theorem 2, memory drawn once, m = 1",
        "words": f"f = x^2/2, g = (x - 1)^2/2, b = +-grad f, alpha = 1/2, beta = 1/(12 sqrt(T)), {replicas} replicas",
        "quantity": r"$\min_t$ mean $\|\nabla f(x_t)\|^2$",
        "T": list(HORIZONS),
        "measured": measured,
        "predicted": predicted,
    }
