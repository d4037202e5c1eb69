"""What the checks must find and reject, where constants and facts by name say it all."""

from __future__ import annotations

from expecting import Expectation
from planting import LESS, MORE, assumed, built, related, scaled, shifted, without

EXPECTED = {
    "cfl.nqm_gradient": Expectation("typo typo", plants=(*built(1, "3/2", 3, on="repair"),)),
    "cfl.nqm_table3": Expectation("needs-hypothesis false"),
    "cfl.nqm_fig2": Expectation(
        "needs-hypothesis holds needs-hypothesis open",
        plants=(
            *without(on="repair", verdict="open"),
            *scaled("101/100", left=True, on="repair", verdict="open"),
            *built("99/100", part="2", verdict="open"),
            *built("1/2", part="2"),
            *without("late", part="3", on="repair"),
        ),
    ),
    "cfl.table5": Expectation("holds holds holds"),
    "cfl.tables_text": Expectation(
        "needs-hypothesis holds holds false holds holds false false holds false holds holds"
    ),
    "cfl.alg5": Expectation("typo"),
    "cfl.setup_overlap": Expectation(
        "holds holds holds false",
        plants=(*built(285, part="2", verdict="holds"), *built(286, part="2", verdict="open")),
    ),
    "cfl.lemB7": Expectation("typo", plants=built(LESS, on="repair")),
    "cfl.lemB10": Expectation(
        "typo needs-hypothesis", undrawn={"2": "moments along noisy local steps"}, plants=built(LESS, on="repair")
    ),
    "cfl.lemB1": Expectation("holds typo", plants=built(LESS)),
    "cfl.lemB2": Expectation(
        "holds holds holds typo",
        plants=(*built(LESS, part=("1", "2", "3")), *without("mean zero", part="4", on="repair", verdict="open")),
    ),
    "cfl.lemB2_use": Expectation(
        "needs-hypothesis needs-hypothesis",
        undrawn={"1": "moments along noisy local steps", "2": "moments along noisy local steps"},
        plants=(
            *built("1/2", on="repair", verdict="open"),
            *without("client drift", "time drift", on="repair", verdict="open"),
        ),
    ),
    "cfl.lemB3": Expectation(
        "typo typo",
        undrawn={"1": "second derivatives", "2": "second derivatives"},
        plants=built("999/1000", on="repair"),
    ),
    "cfl.lemB3_2022": Expectation(
        "needs-hypothesis", undrawn={"1": "second derivatives"}, plants=built("999/1000", on="repair")
    ),
    "cfl.fisher": Expectation(
        "needs-hypothesis typo", plants=(*built(MORE, on="repair"), *built(MORE, part="2", on="repair"))
    ),
    "cfl.assumption3": Expectation("typo", plants=built(1, part="1", on="repair")),
    "cfl.corollary_2022": Expectation("typo", plants=built("9/10", on="repair")),
    "cfl.nc_eq28": Expectation("needs-hypothesis", reached={"1": 1}, plants=built(1, "3/2", 2 * LESS, on="repair")),
    "cfl.nc_eq31": Expectation(
        "holds needs-hypothesis needs-hypothesis false",
        undrawn={"2": "moments along noisy local steps"},
        plants=(
            *scaled(LESS, verdict="open"),
            *built(1, "101/100", part="2", on="repair"),
            *built({"share": 8 * LESS}, part="3", on="repair", verdict="open"),
        ),
    ),
    "cfl.nc_observations": Expectation(
        "typo false holds false",
        plants=(
            *built(1, part="reduced", on="repair"),
            *scaled("9/10", "later"),
        ),
    ),
    "cfl.nc_weights": Expectation("holds false", plants=built(MORE, 2)),
    "cfl.eq14": Expectation(
        "typo typo",
        undrawn={"1": "moments along noisy local steps", "2": "moments along noisy local steps"},
        plants=(*built(LESS, verdict="open", on="repair"), *built(0, on="repair")),
    ),
    "cfl.eq17": Expectation(
        "typo",
        undrawn={"1": "moments along noisy local steps"},
        plants=(*built(LESS, verdict="open", on="repair"), *built(0, on="repair")),
    ),
    "cfl.eq18": Expectation(
        "holds needs-hypothesis",
        undrawn={"2": "moments along noisy local steps"},
        plants=(
            *built((8 * LESS, 4), (8, 4 * LESS)),
            *built((8 * LESS, 4), (8, 4 * LESS), part="2", on="repair", verdict="open"),
            *without("Lemma B.2", verdict="open"),
        ),
    ),
    "cfl.eq13": Expectation(
        "holds holds typo",
        plants=(
            *built(MORE / 4, part="2", verdict="open"),
            *built(1, part="2"),
            *scaled(2, "3", on="repair"),
        ),
    ),
    "cfl.eq15": Expectation(
        "loose", plants=(*built((8, 4), (9, 4), (8, 5), verdict="holds"), *built(("15/2", 4), (8, "7/2"), (4, 2)))
    ),
    "cfl.eq20": Expectation(
        "needs-hypothesis needs-hypothesis holds holds holds",
        undrawn=dict.fromkeys(("1", "2", "3", "3b", "4"), "moments along noisy local steps"),
        plants=(
            *built(8 * LESS, part=("1", "2"), on="repair", verdict="open"),
            *built(8 * LESS, part=("3", "3b", "4"), verdict="open"),
            *without("earlier", "nearer", "(18)", part="3b", verdict="open"),
            *without("(17), (18)", part=("3", "4")),
            *without("drifts grow", part="3", verdict="open"),
        ),
    ),
    "cfl.eq21": Expectation(
        "typo typo false false",
        plants=(
            *without("(13)", on="repair", verdict="open"),
            *without("(15)", "(20)", on="repair", verdict="open"),
        ),
    ),
    "cfl.step12": Expectation("typo", plants=(*built(11, "21/2", on="repair", verdict="open"), *built(6, on="repair"))),
    "cfl.ratio_bound": Expectation("holds typo", plants=built("1249/1000", 1, "1/12", part="2", on="repair")),
    "cfl.c1": Expectation("holds", plants=built(2 * LESS)),
    "cfl.c2": Expectation("typo", plants=built("1249/250", 4, "1/3", on="repair")),
    "cfl.phi_rate": Expectation(
        "holds needs-hypothesis",
        undrawn={"1": "logarithms of an index", "2": "logarithms of an index"},
        plants=(*built(1, 2, "23/10"), *without("mu = 0", part="2", on="repair", verdict="open")),
    ),
    "cfl.dominant": Expectation(
        "needs-hypothesis holds false holds",
        undrawn={"variance": "terms of a number of rounds", "noise_N": "terms of a number of rounds"},
        plants=(
            *without("D <= R", part="drift", on="repair"),
            *scaled("999/1000", "variance", "noise_N"),
            *built(-1, part=("drift", "noise"), on="refutation", verdict="open"),
        ),
    ),
    "cfl.faster": Expectation(
        "holds needs-hypothesis typo",
        plants=(
            *scaled(MORE, "coefficient", left=True),
            *built("1001/1000", part="error", on="repair", verdict="open"),
            *without("coarse", part="error", on="repair"),
            *scaled("1/2", "nonconvex", on="repair"),
        ),
    ),
    "cfl.table1_2022": Expectation(
        "holds holds",
        undrawn={"upper": "roots of three squares", "lower": "roots of three squares"},
        plants=(*built("17/10", part="upper"), *scaled("999/1000", "lower")),
    ),
    "cfl.rem4_4_2022": Expectation("false", plants=built("9/10", verdict="open")),
    "cfl.thm4_7_cO": Expectation("typo", plants=built(LESS, on="repair")),
    "cfl.fedavg_rates": Expectation(
        "false needs-hypothesis typo typo needs-hypothesis needs-hypothesis",
        undrawn=dict.fromkeys(("noise", "generally", "sum", "generally_sum"), "runs over many rounds"),
        plants=(
            *built("1/2", LESS, part="generally", on="repair", verdict="open"),
            *without("fresh", part="generally", on="repair", verdict="open"),
            *built({"noise": "1/5"}, part="noise", on="repair", verdict="open"),
            *without("T", part="noise", on="repair", verdict="open"),
            *built({"between": LESS}, part="sum", on="repair", verdict="open"),
            *built({"online": 1 / LESS}, part="generally_sum", on="repair", verdict="open"),
            *without("meanings", "logarithm", part="sum", on="repair", verdict="open"),
        ),
    ),
    "cfl.prop4_3": Expectation("holds holds", plants=(*built(LESS), *scaled(MORE, "2", left=True))),
    "cfl.rem4_2": Expectation(
        "needs-hypothesis needs-hypothesis",
        plants=(*without("one client", on="repair"), *without("one client", part="2", on="repair")),
    ),
    "cfl.rem4_5": Expectation(
        "holds holds holds", plants=(*scaled(MORE, left=True), *scaled("999/1000", "2"), *shifted(1, part="3"))
    ),
    "cfl.rem4_8": Expectation(
        "false holds",
        plants=(
            *scaled(MORE, "2", left=True),
            *related("turned round", left=lambda side: -side, right=lambda side: -side, verdict="open"),
        ),
    ),
    "cfl.table1": Expectation(
        "needs-hypothesis holds false false false", plants=built(-1, part="3", on="refutation", verdict="open")
    ),
    "cfl.sc_rate": Expectation(
        "false false false typo",
        undrawn={"log": "runs over many rounds"},
        plants=without("T", part="log", on="repair", verdict="open"),
    ),
    "cfl.gc_rate": Expectation(
        "false false false typo false",
        undrawn={"units": "runs over many rounds"},
        plants=assumed("T", left=lambda side: side / 2, part="units", on="repair", verdict="open"),
    ),
    "cfl.lnT": Expectation(
        "holds needs-hypothesis",
        undrawn={"1": "logarithms of an index", "2": "logarithms of an index"},
        plants=(
            # 3/(2 ln 2) = 2.164 is met at T = 2.
            *built(1, 2, "43/20"),
            *built(3, verdict="open"),
            *without("R^2", part="2", on="repair", verdict="open"),
        ),
    ),
    "cfl.lemA6": Expectation(
        "holds holds",
        undrawn={"2": "logarithms of an index"},
        plants=(*built(LESS), *built({"lead": 3 * LESS / 2}, part="2")),
    ),
    "cfl.lemA3": Expectation("holds", plants=built(LESS)),
    "cfl.lemA4": Expectation("needs-hypothesis", plants=built(LESS, on="repair")),
    "cfl.lemA5": Expectation("loose", plants=(*built("1/2"), *built({"half": LESS / 2}, on="sharp"))),
    "cfl.lemA2": Expectation(
        "needs-hypothesis",
        plants=(*built({"first": "1999/1000"}, "1999/1000", on="repair"), *built({"best": "1499/1000"}, on="sharp")),
    ),
    "cfl.lemA1": Expectation("holds", plants=(*built("1/4"), *built(2, 1, verdict="open"))),
    "cfl.thm4_9": Expectation(
        "holds needs-hypothesis needs-hypothesis",
        undrawn={"1": "weights that minimise", "3": "weights that minimise"},
        plants=(
            *scaled(MORE, left=True),
            *built(LESS, part="2", on="repair"),
            *without("p >= 0", part="2", on="repair"),
            *without("D > 0", part="3", on="repair"),
        ),
    ),
    "cfl.lemB9": Expectation("needs-hypothesis typo", plants=without("D > 0", "x != 0", on="repair")),
    "cfl.table2": Expectation("typo"),
    "cfl.ex1": Expectation("holds false", plants=built(-1)),
    "cfl.lemB4": Expectation("holds holds holds false", plants=scaled(MORE, "1", "2", "3", left=True)),
}
