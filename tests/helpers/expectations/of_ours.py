"""What the checks must find and reject, where constants and facts by name say it all."""

from __future__ import annotations

from expecting import Expectation
from planting import LESS, MORE, assumed, built, scaled, shifted, without

EXPECTED = {
    "ours.adaptive_server": Expectation(
        "holds holds", plants=(*shifted("1/1000", part="transference"), *scaled("1001/1000", "interference", left=True))
    ),
    "ours.adaptive_condition": Expectation(
        "holds holds", plants=(*shifted("1/1000", part="average"), *shifted("1/1000", part="worst"))
    ),
    "ours.adaptive_worst_case": Expectation(
        "holds holds",
        reached={"bound": 1},
        undrawn=dict.fromkeys(("bound", "lowers"), "shares of memory, or sets of clients"),
        plants=(
            *built("1001/1000", part="bound"),
            *built((1, "1001/1000"), part="lowers"),
            *without("beta", part="lowers"),
            *without("a_i", "N_T", "rate", part="bound", verdict="open"),
            *without("rate", part="lowers", verdict="open"),
        ),
    ),
    "ours.local_sums": Expectation(
        "holds holds holds",
        reached={"1": 1, "2": 1, "3": 0.95},
        plants=(*scaled("999/1000", "1", "2"), *scaled("95/100", "3")),
    ),
    "ours.forgetting_step": Expectation(
        "holds holds holds",
        undrawn={"3": "shares of memory, or sets of clients"},
        plants=(*scaled("999/1000"), *scaled("98/100", "2"), *scaled("45/100", "3")),
    ),
    "ours.worst_order": Expectation(
        "holds holds holds",
        reached={"drift": 1, "error": 1},
        plants=(
            *scaled("9999/10000", "drift", "error"),
            *scaled("1001/1000", "again"),
            *without("short", part="error"),
        ),
    ),
    "ours.worst_error_beyond": Expectation(
        "holds",
        reached={"1": 0.98},
        undrawn={"1": "steps from which an order repeats itself"},
        plants=(*scaled("98/100"), *without("from", "to", verdict="open")),
    ),
    "ours.worst_drift": Expectation(
        "holds holds", reached={"bound": 1}, plants=(*scaled("9999/10000", "bound"), *scaled("1001/1000", "attained"))
    ),
    "ours.worst_iag_error": Expectation(
        "holds holds", reached={"bound": 1}, plants=(*scaled("9999/10000", "bound"), *scaled("1001/1000", "attained"))
    ),
    "ours.worst_sums": Expectation(
        "holds holds holds holds holds holds",
        reached=dict.fromkeys(("gradients", "delayed", "errors"), 1),
        plants=(
            *scaled("9999/10000", "gradients", "delayed", "errors"),
            *scaled("1001/1000", "attained gradients", "attained delayed", "attained errors"),
        ),
    ),
    "ours.worst_turns": Expectation(
        "holds holds",
        reached={"bound": 1},
        undrawn={"bound": "steps from which an order repeats itself"},
        plants=(
            *scaled("9999/10000", "bound"),
            *scaled("1001/1000", "attained"),
            *without("turns pay", "another turn does not", part="bound", verdict="open"),
        ),
    ),
    "ours.bounded_gradients": Expectation(
        "holds",
        reached={"1": 0.99999},
        undrawn={"1": "runs over many rounds"},
        plants=(*built(("999/500", 1), (2, "999/1000")), *without("alpha", "q < 1", "omega", verdict="open")),
    ),
    "ours.first_rounds": Expectation(
        "holds holds holds",
        reached={"in T": 0.66, "1": 0.66, "constants": 0.98},
        undrawn=dict.fromkeys(("in T", "1", "constants"), "runs over many rounds"),
        plants=(
            *built((2, "12/5"), (3, 1), verdict="open"),
            *built(("1999/1000", "12/5"), (3, "49/50")),
            *built((3, "12/5", "49/50"), part="constants"),
            *without("alpha", "m", "(27)", "range", part=("1", "constants"), verdict="open"),
            *without("eta", part="constants", verdict="open"),
            *without(
                "step",
                "beta",
                "1/sqrt(T)",
                "m",
                "inf f",
                "W is small",
                "W is not small",
                "W <= T",
                part="in T",
                verdict="open",
            ),
            *built((3, "12/5", 1, "66/100"), part="in T"),
        ),
    ),
    "ours.drawn_once": Expectation(
        "holds holds",
        reached={"in T": 0.98, "1": 1},
        undrawn=dict.fromkeys(("in T", "1"), "runs over many rounds"),
        plants=(
            *built((2, "9999/10000"), ("9999/5000", 1)),
            *built((2, 1, "49/50"), part="in T"),
            *without("alpha", "m", "(27)", verdict="open"),
            *without("step", "beta", "1/sqrt(T)", "m", "(27)", "inf f", "bounded", part="in T", verdict="open"),
        ),
    ),
    "ours.drawn_once_rate": Expectation(
        "holds", reached={"1": 1}, plants=(*built("10001/10000"), *without("alpha", "beta", "start", verdict="open"))
    ),
    "ours.redrawn": Expectation(
        "holds",
        reached={"1": 1},
        undrawn={"1": "runs over many rounds"},
        plants=(*built("9999/10000"), *without("alpha", "L alpha m", "(27)", "fresh", "apart", verdict="open")),
    ),
    "ours.assumption2": Expectation("holds holds holds holds", plants=(*built(LESS), *scaled(LESS, "3"))),
    "ours.bias_floor": Expectation("holds", plants=built(LESS)),
    "ours.tables_iid": Expectation("holds"),
    "ours.tables_twins": Expectation("holds"),
    "ours.union_rate": Expectation(
        "holds", reached={"1": 0.85}, plants=(*scaled("85/100"), *built("359/100", verdict="open"))
    ),
    "ours.union_round": Expectation("holds holds", plants=scaled(2, "2")),
    "ours.union_descent": Expectation(
        "holds", plants=(*built({"scale": "1001/1000"}), *without("kept", verdict="open"))
    ),
    "ours.algorithm1_descent": Expectation(
        "holds holds",
        reached={"1": 1, "2": 0.97},
        undrawn={"1": "runs over many rounds", "2": "runs over many rounds"},
        plants=(
            *built({"residue": "999/1000"}, {"residue": 0}),
            *built({"residue": 0}, part="2"),
            # 89 x^2/2 in memory sends x from 1 to -2.
            *without("f_memory"),
            *without("f_memory", part="2"),
        ),
    ),
    "ours.current_from_union": Expectation(
        "holds holds holds",
        undrawn={"3": "shares of memory"},
        plants=(*built({"scale": "999/1000"}), *built({"scale": "999/1000"}, part=("2", "3"))),
    ),
    "ours.cfl_nqm_rates": Expectation("holds holds holds", plants=built("19/10", 1, verdict="open")),
    "ours.cfl_tables": Expectation("holds holds holds holds holds"),
    "ours.cfl_renormalize": Expectation("holds", plants=built("999/1000", "1001/1000")),
    "ours.cfl_nonconvex_coefficient": Expectation(
        "holds holds holds",
        plants=(*scaled(1 / LESS, left=True), *assumed("short", left=lambda side: LESS * side, part="3")),
    ),
    "ours.cfl_nonconvex_weights": Expectation("holds holds", plants=scaled(1 / LESS, "1", "2", left=True)),
    "ours.cfl_fedavg_nonconvex": Expectation(
        "holds", undrawn={"1": "runs over many rounds"}, plants=built("1/2", LESS, verdict="open")
    ),
    "ours.cfl_step": Expectation("holds holds", plants=scaled(MORE)),
    "ours.cfl_nonexpansive": Expectation(
        "holds holds holds",
        undrawn=dict.fromkeys("123", "moments along noisy local steps"),
        plants=(
            *built(LESS, "1/2", 0, part=("1", "3")),
            *without("nonexpansive"),
            *assumed("nonexpansive", right=2),
        ),
    ),
    "ours.cfl_decaying_fedavg": Expectation(
        "holds holds holds",
        plants=(
            *built({"constant": 4 * LESS}, part="rate", verdict="open"),
            *built({"moved": LESS}, part="clients"),
            *built({"share": LESS}, part="exact"),
        ),
    ),
    "ours.cfl_lower_bounds": Expectation(
        "holds holds holds holds",
        undrawn={"time": "runs over many rounds"},
        plants=built(1 / LESS, part=("clients", "time", "loss", "attained")),
    ),
    "ours.cfl_online": Expectation(
        "holds holds holds",
        undrawn={
            "round": "the minimiser depends on the drifts of all rounds",
            "moved": "runs over many rounds",
            "rounds": "runs over many rounds",
        },
        plants=(
            *built({"round_": "1"}, part="round"),
            *without("new", part=("round", "moved"), verdict="open"),
            *built({"one_drift": "-51/50"}, part="moved"),
            *built({"stays": LESS}, part="rounds", verdict="open"),
            *without("moved", "mean", part="rounds", verdict="open"),
        ),
    ),
    "ours.cfl_strongly_convex": Expectation(
        "holds holds holds holds",
        plants=(
            *built({"bias": LESS}, part="round"),
            *built({"noise": LESS}, part="rounds", verdict="open"),
            *built({"local": 2 * LESS}, part="local", verdict="open"),
        ),
    ),
    "ours.cfl_sum_over_rounds": Expectation(
        "holds holds", reached={"sum": 1, "expectation": 1}, plants=built(LESS, part=("sum", "expectation"))
    ),
    "ours.cfl_time_drift": Expectation(
        "holds holds holds holds",
        reached={"minimiser": 1, "iterates": 0.9},
        undrawn={"iterates": "runs over many rounds"},
        plants=(
            *built({"least": LESS}, part="minimiser"),
            *built({"late": LESS}, part="iterates", verdict="open"),
            *without("long", part="iterates", verdict="open"),
            *built({"exact": LESS}, part="attained"),
            *built({"stays": LESS}, part="fedavg", verdict="open"),
        ),
    ),
    "ours.cfl_linear_rate": Expectation(
        "holds", plants=(*built(LESS), *without("mean rest", "rest", "no rest", verdict="open"))
    ),
    "ours.cfl_interpolation": Expectation("holds", plants=built(MORE)),
    "ours.cfl_separation": Expectation("holds holds", plants=(*built(LESS), *built(LESS, part="2"))),
    "ours.cfl_moments_on_the_run": Expectation(
        "holds", undrawn={"1": "moments along noisy local steps"}, plants=built(3 * LESS)
    ),
    "ours.cfl_correlated_weights": Expectation(
        "holds holds holds holds holds", plants=scaled(MORE, *"12345", left=True)
    ),
    "ours.cfl_nonnegative_weights": Expectation(
        "holds holds holds holds holds",
        undrawn={"5": "weights that minimise"},
        plants=(
            *scaled(MORE, "1", "3", left=True),
            *scaled("101/100", "2", left=True),
            *scaled("104/100", "4", left=True),
        ),
    ),
    "ours.cfl_least_eigenvalue": Expectation("holds", plants=built(MORE)),
    "ours.cfl_bound_weights": Expectation("holds holds", plants=(*built("101/100"), *scaled(MORE, "2", left=True))),
    "ours.cfl_correlated_minimum": Expectation("holds holds", plants=(*built(MORE), *built({"share": LESS}, part="2"))),
    "ours.cfl_largest_constant": Expectation("holds", plants=built(LESS)),
    "ours.cfl_correlated_floor": Expectation("holds", undrawn={"1": "runs over many rounds"}, plants=built(MORE)),
    "ours.cfl_correlated_bias": Expectation("holds", plants=built(LESS)),
}
