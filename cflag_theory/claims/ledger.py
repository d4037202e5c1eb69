"""All claims by id, in paper order, and what is taken for granted once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from cflag_theory.claims.c_flag import published
from cflag_theory.claims.c_flag.adaptive import algorithm3
from cflag_theory.claims.c_flag.adaptive import clients as adaptive_clients
from cflag_theory.claims.c_flag.adaptive import lemmas as adaptive_lemmas
from cflag_theory.claims.c_flag.adaptive import server as adaptive
from cflag_theory.claims.c_flag.adaptive.ours import rates as ours_adaptive
from cflag_theory.claims.c_flag.forgetting import average as average_forgetting
from cflag_theory.claims.c_flag.forgetting import bounds as forgetting
from cflag_theory.claims.c_flag.forgetting import terms
from cflag_theory.claims.c_flag.forgetting.ours import step as ours_forgetting
from cflag_theory.claims.c_flag.local_steps import drift, iag, sums
from cflag_theory.claims.c_flag.local_steps.ours import worst_order as ours_worst_order
from cflag_theory.claims.c_flag.local_steps.ours import worst_path as ours_worst_path
from cflag_theory.claims.c_flag.local_steps.ours import worst_sums as ours_worst_sums
from cflag_theory.claims.c_flag.local_steps.ours import worst_turns as ours_worst_turns
from cflag_theory.claims.c_flag.past_task import descent, theorem2
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.c_flag.past_task.ours import bounded_gradients as ours_bounded
from cflag_theory.claims.c_flag.past_task.ours import first_rounds as ours_first_rounds
from cflag_theory.claims.c_flag.past_task.ours import rates as ours
from cflag_theory.claims.c_flag.problem import assumptions, memory, overfitting, update
from cflag_theory.claims.c_flag.problem import objective as problem
from cflag_theory.claims.c_flag.problem.ours import memory as ours_memory
from cflag_theory.claims.c_flag.union import lemma3 as union
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.c_flag.union.ours import rate as ours_worst_union
from cflag_theory.claims.c_flag.union.ours import rounds as ours_union
from cflag_theory.claims.cfl.experiments import quadratic_model, reported, splitting
from cflag_theory.claims.cfl.experiments.ours import quadratic_model as ours_cfl_quadratic
from cflag_theory.claims.cfl.moments import correlated_drifts, gradient_noise, information_loss
from cflag_theory.claims.cfl.nonconvex import descent as nonconvex
from cflag_theory.claims.cfl.nonconvex import local_drift as nonconvex_drift
from cflag_theory.claims.cfl.nonconvex import progress as nonconvex_progress
from cflag_theory.claims.cfl.nonconvex import rate as nonconvex_rate
from cflag_theory.claims.cfl.nonconvex.ours import coefficient as ours_cfl_coefficient
from cflag_theory.claims.cfl.nonconvex.ours import fedavg as ours_cfl_fedavg
from cflag_theory.claims.cfl.nonconvex.ours import rate as ours_cfl_nonconvex
from cflag_theory.claims.cfl.one_round import local_drift, phi, progress, thresholds
from cflag_theory.claims.cfl.one_round import recursion as one_round
from cflag_theory.claims.cfl.one_round.ours import largest_step as ours_cfl_step
from cflag_theory.claims.cfl.one_round.ours import round as ours_cfl_round
from cflag_theory.claims.cfl.rates import bias as bias_rate
from cflag_theory.claims.cfl.rates import correlated as correlated_rates
from cflag_theory.claims.cfl.rates import fedavg as fedavg_theorems
from cflag_theory.claims.cfl.rates import remarks
from cflag_theory.claims.cfl.rates import table1 as rates_table
from cflag_theory.claims.cfl.rates import theorems as rate_theorems
from cflag_theory.claims.cfl.rates import weighted_means as rates
from cflag_theory.claims.cfl.rates.ours import decaying_fedavg as ours_cfl_decaying
from cflag_theory.claims.cfl.rates.ours import general_convex as ours_cfl_convex
from cflag_theory.claims.cfl.rates.ours import lower_bounds as ours_cfl_floors
from cflag_theory.claims.cfl.rates.ours import strongly_convex as ours_cfl_rates
from cflag_theory.claims.cfl.techniques import chebyshev, sublinear, summation
from cflag_theory.claims.cfl.techniques import norms as techniques
from cflag_theory.claims.cfl.techniques.ours import noise as ours_cfl_noise
from cflag_theory.claims.cfl.weights import correlated as correlated_weights
from cflag_theory.claims.cfl.weights import independent as weights
from cflag_theory.claims.cfl.weights.ours import correlated as ours_cfl_weights
from cflag_theory.claims.cfl.weights.ours import variance as ours_cfl_variance
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.errors import UnknownName

#: Paper order; a test holds it against the modules.
ORDER: tuple[str, ...] = (
    "cflag.eq3",
    "cflag.eq5",
    "cflag.iag_cost",
    "cflag.assumption2",
    "cflag.assumption3",
    "cflag.eq7",
    "cflag.alg1",
    "cflag.eq22",
    "cflag.eq25",
    "cflag.lemma1",
    "cflag.lemma1_supp",
    "cflag.eq15",
    "cflag.eq56",
    "cflag.lemma8",
    "cflag.lemma9",
    "cflag.lemma10",
    "cflag.overfitting_mean",
    "cflag.thm2",
    "cflag.eq65",
    "cflag.eq68",
    "cflag.eq69",
    "cflag.eq71",
    "cflag.eq73",
    "cflag.eq74",
    "cflag.lemma3",
    "cflag.lemma3_surrogate",
    "cflag.lemma3_remark",
    "cflag.lemma11",
    "cflag.eq90",
    "cflag.lemma12",
    "cflag.eq105",
    "cflag.eq117",
    "cflag.eq126",
    "cflag.lemma13",
    "cflag.cor14",
    "cflag.eq129",
    "cflag.lemma15_1",
    "cflag.lemma15_2",
    "cflag.lemma16",
    "cflag.eq151",
    "cflag.eq156",
    "cflag.eq158",
    "cflag.eq160",
    "cflag.eq161",
    "cflag.eq163",
    "cflag.eq164",
    "cflag.lemma4",
    "cflag.thm5",
    "cflag.cor17",
    "cflag.lemma18",
    "cflag.eq177",
    "cflag.eq178",
    "cflag.eq14",
    "cflag.sec5_guarantee",
    "cflag.sec5_sign",
    "cflag.eq16",
    "cflag.eq184",
    "cflag.eq188",
    "cflag.table1_interference",
    "cflag.table1_transference",
    "cflag.lemma6",
    "cflag.lemma7_average",
    "cflag.lemma7_worst",
    "cflag.alg3_line2",
    "cflag.alg3_line4",
    "cflag.alg3_line8",
    "cflag.alg3_line10",
    "cflag.alg3_line14",
    "cflag.tables_text",
    "cflag.supplement_tables_text",
    "cflag.tables_consistent",
    "cfl.aggregation",
    "cfl.assumption1_corollary",
    "cfl.lemA1",
    "cfl.lemA2",
    "cfl.lemA3",
    "cfl.lemA4",
    "cfl.lemA5",
    "cfl.lemA6",
    "cfl.lemB1",
    "cfl.lemB2",
    "cfl.lemB2_use",
    "cfl.lemB3",
    "cfl.fisher",
    "cfl.eq10",
    "cfl.eq13",
    "cfl.eq14",
    "cfl.eq15",
    "cfl.eq17",
    "cfl.eq18",
    "cfl.eq20",
    "cfl.eq21",
    "cfl.step6",
    "cfl.step12",
    "cfl.ratio_bound",
    "cfl.c1",
    "cfl.c2",
    "cfl.phi",
    "cfl.lemB4",
    "cfl.partial_fraction",
    "cfl.lnT",
    "cfl.phi_rate",
    "cfl.sc_rate",
    "cfl.gc_rate",
    "cfl.fedavg_rates",
    "cfl.prop4_3",
    "cfl.rem4_2",
    "cfl.rem4_5",
    "cfl.lemB7",
    "cfl.lemB10",
    "cfl.eq33",
    "cfl.thm4_7",
    "cfl.thm4_7_cO",
    "cfl.rem4_8",
    "cfl.thm4_9",
    "cfl.lemB9",
    "cfl.table2",
    "cfl.ex1",
    "cfl.table1",
    "cfl.nc_eq26",
    "cfl.nc_eq28",
    "cfl.nc_eq31",
    "cfl.nc_eq32",
    "cfl.nc_weights",
    "cfl.nc_rate",
    "cfl.nqm_gradient",
    "cfl.nqm_table3",
    "cfl.nqm_fig2",
    "cfl.alg5",
    "cfl.alg6",
    "cfl.setup_overlap",
    "cfl.table5",
    "cfl.tables_text",
)

#: By paper, hypotheses that the field always makes or that are stated in passing; no verdict counts them as missing.
PREAMBLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "C-FLAG": (
            "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at least 1.",
            "grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6)).",
            "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
            "grad_f_memory - beta S.",
            "Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.",
        ),
        "CFL": (
            "The round weights p_{1,i}, ..., p_{t,i} sum to one (App. B.4.1), and are not negative unless the row is "
            "about their sign; step sizes are positive; N, S, K, T are at least 1.",
            "f(w) = E[f_{t,i}(w)] and grad f(w) = grad f_{t,i}(w) + delta_i + xi_{t,i} (5); Assumption 3 prints f(w) "
            "for its gradient. E is the expectation over all draws; at a fixed w drifts have mean zero, those of "
            "different rounds are independent (Remark 3.2), and so are client and time drifts (the proof of Lemma B.2; "
            "Assumption 3 does not say it).",
            "The noises of Assumption 2 have mean zero given the drifts and everything that came before them, and are "
            "independent between clients.",
            "eta = K eta_l eta_g (App. B.4.1), and N stands for the selected clients (footnote 3).",
            "w_{t,i,k} and w_{t,i,k-1}, which the paper's sums over k mix, are both read as w_{t,i,k-1}, the point of "
            "the k-th local gradient.",
        ),
    }
)

#: The papers' sections in order, then our own; `verify.checks` has a module of the same name for each.
MODULES = (
    problem,
    assumptions,
    update,
    memory,
    overfitting,
    descent,
    theorem2,
    union,
    surrogate,
    drift,
    iag,
    sums,
    forgetting,
    terms,
    average_forgetting,
    limits,
    adaptive,
    adaptive_clients,
    adaptive_lemmas,
    algorithm3,
    published,
    techniques,
    summation,
    sublinear,
    chebyshev,
    gradient_noise,
    information_loss,
    correlated_drifts,
    progress,
    local_drift,
    one_round,
    thresholds,
    phi,
    rates,
    bias_rate,
    rate_theorems,
    fedavg_theorems,
    remarks,
    correlated_rates,
    rates_table,
    weights,
    correlated_weights,
    nonconvex,
    nonconvex_drift,
    nonconvex_progress,
    nonconvex_rate,
    quadratic_model,
    splitting,
    reported,
    ours,
    ours_first_rounds,
    ours_bounded,
    ours_memory,
    ours_union,
    ours_worst_path,
    ours_worst_sums,
    ours_worst_order,
    ours_worst_turns,
    ours_worst_union,
    ours_forgetting,
    ours_adaptive,
    ours_cfl_nonconvex,
    ours_cfl_fedavg,
    ours_cfl_coefficient,
    ours_cfl_noise,
    ours_cfl_round,
    ours_cfl_step,
    ours_cfl_rates,
    ours_cfl_convex,
    ours_cfl_floors,
    ours_cfl_decaying,
    ours_cfl_weights,
    ours_cfl_variance,
    ours_cfl_quadratic,
)
_BUILDERS: dict[str, Callable[[], Claim]] = {
    id: build for module in MODULES for id, build in (module.CLAIMS | getattr(module, "OURS", {})).items()
}

#: Builders by id: the paper's in paper order, then our own.
LEDGER: dict[str, Callable[[], Claim]] = {
    **{id: _BUILDERS[id] for id in ORDER if id in _BUILDERS},
    **{id: build for id, build in _BUILDERS.items() if id.startswith("ours.")},
}


@cache
def claim(id: str) -> Claim:
    """The claim with this id.

    Raises
    ------
    UnknownName
        If there is none; the message lists those that exist.
    """
    if id not in LEDGER:
        raise UnknownName(f"no claim is called {id!r}; the ledger has {', '.join(LEDGER)}")
    return LEDGER[id]()
