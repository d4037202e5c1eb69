"""Compiled step with rates chosen after the local steps: Table 1, Algorithm 3, and the rates that we prove to help."""

from __future__ import annotations

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.engines.codes import AVERAGE, COMMON, INTERACTING, LITERAL, Numbers
from cflag_theory.kernels.engines.components import add, dot
from cflag_theory.kernels.numbers import Array


@inner
def adapted_step(n: Numbers, p: Array, grad_memory: Array, a: Array, u: Array, S: Array, step: Array) -> float:
    """The part of the step that is not along grad_f_memory, into step (d,); returns sum_i p_i alpha_i.

    a (N, d) holds the a_i, S (d,) their weighted sum, u (N, d) the corrections of the local steps.
    """
    N, G2 = len(p), dot(grad_memory, grad_memory)
    step[:] = 0.0
    if n.adaptive == COMMON:
        add(step, formulas.common_rate(n.L, n.alpha, dot(grad_memory, S), dot(S, S)), S)
        return n.alpha
    alpha_mean = 0.0
    for i in range(N):
        alpha_i, beta_i = n.alpha, n.beta
        product, norm2 = dot(grad_memory, a[i]), dot(a[i], a[i])
        if n.adaptive == INTERACTING:
            beta_i = formulas.interaction_rate(n.L, n.alpha, n.beta, product, dot(a[i], S), norm2)
        elif n.adaptive == LITERAL:
            weighted = N * p[i] * n.beta * n.beta * norm2
            alpha_i, beta_i = formulas.table1_rates(n.L, n.alpha, n.beta, n.beta * product, G2, weighted)
            add(step, p[i] * n.local_steps * beta_i, u[i])
        else:
            weighted = (p[i] if n.adaptive == AVERAGE else N * p[i]) * norm2
            alpha_i, beta_i = formulas.table1_rates(n.L, n.alpha, n.beta, product, G2, weighted)
        add(step, p[i] * beta_i, a[i])
        alpha_mean += p[i] * alpha_i
    return alpha_mean
