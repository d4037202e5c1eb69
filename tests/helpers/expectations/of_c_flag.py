"""What the checks must find and reject, where constants and facts by name say it all."""

from __future__ import annotations

from expecting import Expectation
from planting import LESS, MORE, assumed, built, related, scaled, shifted, without

EXPECTED = {
    "cflag.alg3_line2": Expectation("typo", plants=shifted("1/1000", on="repair")),
    "cflag.alg3_line4": Expectation("typo", plants=shifted("1/1000", on="repair")),
    "cflag.alg3_line8": Expectation("typo", plants=shifted("1/1000", on="repair")),
    "cflag.alg3_line10": Expectation("typo", plants=shifted("1/1000", on="repair")),
    "cflag.alg3_line14": Expectation(
        "typo typo",
        undrawn={"bounded": "shares of memory, or sets of clients"},
        plants=(
            *shifted("1/1000", part="consistent", on="repair"),
            *scaled("999/1000", "bounded", on="repair"),
            *scaled(2, "bounded", left=True, on="refutation", verdict="open"),
        ),
    ),
    "cflag.client_rates": Expectation(
        "typo needs-hypothesis needs-hypothesis needs-hypothesis holds",
        plants=(
            *shifted("1/1000", part="value", on="repair"),
            *without("not 1/L", part="negative", on="repair"),
            *without("strict", "small alpha", part="interference", on="repair"),
            *without("alpha <= 1/L", part="increasing", on="repair"),
            *without("interference", part="increasing", on="repair"),
            *related("a rate of its own", right=lambda side: 2 * side, part="effect"),
        ),
    ),
    "cflag.eq184": Expectation("holds holds", plants=(*shifted("1/1000"), *shifted("1/1000", part="2"))),
    "cflag.alg3_division": Expectation(
        "holds false", plants=(*shifted(-1, part="line 8"), *without("a_i", part="line 8"))
    ),
    "cflag.sec5_rescaling": Expectation(
        "holds typo", plants=(*shifted("1/1000", part="sums"), *shifted("1/1000", part="updates", on="repair"))
    ),
    "cflag.eq14": Expectation("false", plants=scaled("1/2", on="refutation", verdict="open")),
    "cflag.sec5_guarantee": Expectation(
        "false false", plants=scaled(2, "f", "g", left=True, on="refutation", verdict="open")
    ),
    "cflag.sec5_sign": Expectation("holds", plants=built("1/3")),
    "cflag.lemma4": Expectation(
        "needs-hypothesis",
        undrawn={"1": "runs over many rounds"},
        plants=(
            *built(LESS, on="repair", verdict="open"),
            *without("bounded", on="repair", verdict="open"),
            *scaled("101/100", left=True, on="refutation", verdict="open"),
            *without("x_0", on="refutation", verdict="open"),
        ),
    ),
    "cflag.lemma18": Expectation(
        "needs-hypothesis",
        undrawn={"1": "runs over many rounds"},
        plants=(*built(LESS, on="repair", verdict="open"), *without("bounded", on="repair", verdict="open")),
    ),
    "cflag.eq161": Expectation("false", plants=shifted(100, verdict="open")),
    "cflag.eq164": Expectation(
        "typo typo",
        plants=(*built({"slip": 1}, verdict="open"), *scaled(10, "2", left=True, on="refutation", verdict="open")),
    ),
    "cflag.eq177": Expectation(
        "needs-hypothesis",
        plants=(
            *built((0, 2), (0, 22), (2, 22), (16, "1/100"), (-16, 22), on="repair"),
            # The exact values are 5940/2249 and 1809/22490.
            *built(("5937751/2249000", "1809/22490"), ("5940/2249", LESS * 1809 / 22490), on="repair"),
            *built((3, "1809/22490"), (MORE * 5940 / 2249, 1), on="repair", verdict="holds"),
            *built((16, 22), (3, 1), on="repair", verdict="holds"),
            *without("small alpha", on="repair"),
        ),
    ),
    "cflag.eq178": Expectation("needs-hypothesis", plants=built(("11/60", "36/1000"), ("1/1000", "2/15"), on="repair")),
    "cflag.eq166": Expectation(
        "typo holds typo",
        undrawn=dict.fromkeys(("run", "runs", "omega"), "a choice among all memories"),
        plants=(
            *scaled("4/5", "run", on="repair"),
            *shifted("-100", part="runs"),
            *shifted("-100", part="omega", on="repair"),
        ),
    ),
    "cflag.eq90": Expectation("typo", plants=built("99/100", on="repair")),
    "cflag.eq156": Expectation(
        "typo typo needs-hypothesis needs-hypothesis",
        plants=(
            *built("1/2", part=("1", "3"), on="repair"),
            *built({"second": "46/100"}, part=("2", "4"), on="repair"),
        ),
    ),
    "cflag.eq158": Expectation(
        "needs-hypothesis holds holds",
        plants=(
            *built(35, part="2"),
            *without("(149)", "(150)", "(154)", "(156)", "(151)", part="step", verdict="open"),
            *without("(150)", on="repair", verdict="open"),
        ),
    ),
    "cflag.eq160": Expectation("needs-hypothesis holds", plants=built(3, part="2")),
    "cflag.cor14": Expectation(
        "loose",
        reached={"1": 0.95},
        plants=(*built("9/10", "19/20", "1/2", 0), *built(LESS, verdict="open"), *built(2, MORE, 1, verdict="holds")),
    ),
    "cflag.lemma12": Expectation(
        "loose", reached={"1": 0.97}, plants=(*scaled("97/100", on="sharp"), *built("1/2", verdict="open"))
    ),
    "cflag.eq105": Expectation("holds typo", plants=(*scaled("92/100"), *built("9/5"))),
    "cflag.eq117": Expectation("loose", reached={"1": 1}, plants=(*scaled("999/1000", on="sharp"), *built("9/10"))),
    "cflag.eq126": Expectation("holds holds holds", plants=(*scaled("999/1000", "1", "3"), *scaled("99/100", "2"))),
    "cflag.eq100": Expectation("typo", plants=(*scaled("999/1000", on="repair"), *shifted("1/1000", on="repair"))),
    "cflag.lemma15_1": Expectation(
        "needs-hypothesis",
        reached={"1": 0.99},
        plants=(*built("1/2", on="repair"), *built(1, on="repair", verdict="holds")),
    ),
    "cflag.lemma15_2": Expectation(
        "needs-hypothesis",
        reached={"1": 0.99},
        plants=(*built((0, "127/100"), on="repair"), *built((0, 2), on="repair", verdict="holds")),
    ),
    "cflag.lemma16": Expectation(
        "needs-hypothesis",
        reached={"1": 0.95},
        plants=(*built("47/100", on="repair"), *built(1, on="repair", verdict="holds")),
    ),
    "cflag.eq63": Expectation(
        "holds holds typo holds",
        undrawn={
            "60": "means over all memories",
            "61": "runs over many rounds",
            "63": "runs over many rounds",
        },
        plants=(
            *scaled("999/1000", "60"),
            *built("999/1000", part="61"),
            *shifted("-1/1000", part=("62",), on="repair"),
            *shifted("-1/1000", part="63"),
        ),
    ),
    "cflag.eq56": Expectation("holds typo", plants=built(LESS, "1/2", 0, part="2", on="repair")),
    "cflag.thm2": Expectation(
        "false holds needs-hypothesis",
        undrawn=dict.fromkeys(("anew", "2"), "runs over many rounds"),
        plants=(
            *built(2 * LESS, "3/2", 1, part="anew"),
            *built(2 * LESS, "3/2", 1, part="2", on="repair"),
            *without("redrawn", part="anew"),
            *without("redrawn", part="2", on="repair"),
        ),
    ),
    "cflag.thm5": Expectation(
        "needs-hypothesis",
        reached={"1": 0.66},
        undrawn={"1": "runs over many rounds"},
        plants=(
            *built(LESS, on="repair", verdict="open"),
            *without("m", on="repair", verdict="open"),
            *scaled("36/35", left=True, on="refutation", verdict="open"),
        ),
    ),
    "cflag.cor17": Expectation(
        "needs-hypothesis",
        reached={"1": 0.99},
        plants=(*built(LESS, on="repair", verdict="open"), *without("Theorem 5", on="repair", verdict="open")),
    ),
    "cflag.assumption2": Expectation(
        "needs-hypothesis", plants=(*without("same minimiser", "kappa", on="repair"), *scaled(LESS, on="repair"))
    ),
    "cflag.assumption3": Expectation(
        "needs-hypothesis needs-hypothesis",
        plants=(
            *without("nested", on="repair"),
            *without("error bound", "r_i", on="repair", verdict="open"),
            *without("nested", "error bound", "r_i", part="2", on="repair", verdict="open"),
            *scaled(LESS, on="repair"),
            *built("1/4", part="2", on="refutation", verdict="open"),
        ),
    ),
    "cflag.lemma8": Expectation("holds", plants=shifted(1)),
    "cflag.lemma9": Expectation(
        "needs-hypothesis",
        plants=(
            *without("Assumption 2", on="repair", verdict="open"),
            *without("(28)", on="repair"),
            *scaled(LESS, on="repair"),
        ),
    ),
    "cflag.lemma10": Expectation("holds", plants=scaled(LESS)),
    "cflag.eq3": Expectation("needs-hypothesis", plants=without(on="repair")),
    "cflag.assumption2_similar": Expectation(
        "holds needs-hypothesis",
        undrawn={"average": "a mean over clients of given biases"},
        plants=(
            *without("Assumption 2", part="client", verdict="open"),
            *shifted("-1/1000", part="client"),
            *without("alike", part="average", on="repair"),
            *scaled(8, "average", left=True, on="refutation", verdict="open"),
        ),
    ),
    "cflag.tables_text": Expectation("false false"),
    "cflag.supplement_tables_text": Expectation("false holds"),
    "cflag.tables_consistent": Expectation("holds false"),
    "cflag.figure2_text": Expectation("holds holds open"),
    "cflag.class_text": Expectation("holds holds false"),
    "cflag.figure6_text": Expectation("holds open"),
    "cflag.table8_text": Expectation("holds false"),
    "cflag.lemma3": Expectation(
        "false", plants=(*built(10**9), *assumed("start", right="2/3", on="refutation", verdict="open"))
    ),
    "cflag.eq69": Expectation(
        "needs-hypothesis",
        plants=(*built({"second": "199/100", "fourth": 0}, on="repair"), *without("kept", on="repair")),
    ),
    "cflag.eq73": Expectation("holds typo", plants=(*built(59, 61), *built(1, part="bound", on="repair"))),
    "cflag.lemma3_surrogate": Expectation(
        "needs-hypothesis needs-hypothesis",
        reached={"1": 0.99},
        undrawn={"2": "shares of memory, or sets of clients"},
        plants=(
            # 31.0256 is where the certificate ends; E = 150 alone needs more than 30.79.
            *built("3079/100", on="repair"),
            *built("3102/100", on="repair", verdict="open"),
            *built("31026/1000", on="repair", verdict="holds"),
            *without("kept", on="repair"),
            *without("kept", "equal shares", part="2", on="repair"),
        ),
    ),
}
