"""Does a round of SCAFFOLD ever raise the objective? Try: cflag decide docs/examples/scaffold_round.py

A claim that sounds right: control variates remove client drift, so on convex losses with beta <= 1/L no round raises g.
But they start at zero, and the first round is one of FedAvg. With one local step a round it is gradient descent.
"""

from cflag_theory.verify import Conjecture, Range, quadratics


def before(trace):
    """g(x_0)."""
    return trace.column("g")[0, 0]


def after(trace):
    """g(x_T)."""
    return trace.at_end("g")[0]


SETTING = {
    "problem": quadratics(N=(1, 2), n=1, L=1, convex=True),
    "algorithm": "scaffold",
    "left": after,
    "right": before,
}

claim = Conjecture(
    name="a round of SCAFFOLD does not raise g",
    ranges={"beta": Range(0, 1, open="low"), "E": Range(1, 3, kind="integer")},
    **SETTING,
)

repaired = Conjecture(
    name="with one local step SCAFFOLD does not raise g",
    ranges={"beta": Range(0, 1, open="low"), "E": 1, "T": Range(1, 3, kind="integer")},
    **SETTING,
)
