"""(14) and (17) with their printed constants, for local steps that do not increase distances."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.one_round.leaning import (
    CENTRED,
    NONEXPANSIVE,
    PATH,
    RUNS,
    P,
    Q,
    S,
    m,
    no_leaning,
)
from cflag_theory.claims.cfl.one_round.local_drift import (
    JENSEN,
    OWN_VARIANCE,
    SPLIT,
    SUM_OF_MEANS,
    SUMS,
    VARIANCE,
    WORDS,
    k_steps,
    mean_dot_noise,
    of_client,
    of_round,
    own_dot,
)
from cflag_theory.claims.cfl.symbols import K, N, eta_l
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    E,
    all_clients,
    averaged,
    client,
    i,
    j,
    move,
    over_noises,
    over_past,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, setting, shown
from cflag_theory.claims.engine.notation import k
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import dot, norm, norm2

_CENTRED_AT_END = setting(
    "all noises of a client", equal(over_noises(S(client, K)), 0), "Every noise has mean zero given w_t."
)


def nonexpansive(noise: Any = 1) -> Claim:
    """(14) and (17) with their printed constants, for local steps that do not increase distances."""
    independent = Fact(
        "independent clients",
        equal(N * K**2 * mean_dot_noise, own_dot),
        "m-bar and nu-bar are means over the clients of P_{i,K}/K and S_{i,K}/K, and clients' noises are independent.",
    )
    at_end = (client, K)
    lemma = (
        *no_leaning("no leaning"),
        rules.at("a client's sums", k, K, given="no leaning"),
        *averaged(rules.along("no noise in the noiseless run", Q(*at_end), given=_CENTRED_AT_END), over_past),
        Obligation(
            "a client",
            at_most(E(dot(P(*at_end), S(*at_end))), 0),
            ("a client's sums", "no noise in the noiseless run"),
        ),
        rules.at("each client", client, i, given="a client"),
        rules.mean("clients", all_clients, given="each client"),
        Obligation("cross term", at_most(mean_dot_noise, 0), ("clients", "independent clients")),
        rules.norm_squared("(8)", move, *EXPECTATION),
        *JENSEN,
    )
    rounds = [
        shown(
            f"{WORDS[number].format(('', 2)[number], '')}.",
            of_round(1, noise)[number],
            *lemma,
            *extra,
            given=("(8)", "Jensen", "cross term", "Assumption 2", *(step.name for step in extra)),
            under=(VARIANCE, NONEXPANSIVE),
            where=(independent, *RUNS),
        )
        for number, extra in enumerate(((), SPLIT))
    ]
    total = sum_over(j, k)
    one = shown(
        WORDS[2].format("", "") + ".",
        of_client(1, noise),
        *no_leaning("no leaning"),
        *averaged(rules.along("no noise in the noiseless run", Q(client, k), given=CENTRED), over_past),
        *averaged(rules.jensen("Jensen", total, m(client, j)), *EXPECTATION),
        rules.norm_squared("distance", x(client, k) - w_t, *EXPECTATION),
        rules.rewrite("way of k steps", E(norm2(x(client, k) - w_t)), given=(PATH, SUMS)),
        rules.rewrite("sums", E(dot(P(client, k), S(client, k))), given=SUMS),
        Obligation(
            "after k steps",
            at_most(
                E(norm(x(client, k) - w_t) ** 2),
                k * eta_l**2 * E(total(norm2(m(client, j)))) + eta_l**2 * E(norm2(S(client, k))),
            ),
            ("no leaning", "no noise in the noiseless run", "Jensen", "distance", "way of k steps", "sums"),
        ),
        rules.at("(16)", k, k_steps, given="after k steps"),
        *SUM_OF_MEANS,
        given=("(16)", *(step.name for step in SUM_OF_MEANS), "Assumption 2"),
        under=(OWN_VARIANCE, NONEXPANSIVE),
        where=RUNS,
    )
    return Claim(
        "ours.cfl_nonexpansive",
        "on (14) and (17)",
        "Noises of local steps that do not increase distances",
        tuple(Part(str(number), statement) for number, statement in enumerate((*rounds, one), start=1)),
        (
            "A run is compared with the one without noises from the same w_t: e_k is their distance, Gamma_k and S_k "
            "the sums of the changes of the gradients and of the noises.",
            "Convex and L-smooth objectives, those approximated too, and eta_l <= 2/L give the hypothesis.",
        ),
    )


CLAIMS = {"ours.cfl_nonexpansive": nonexpansive}
