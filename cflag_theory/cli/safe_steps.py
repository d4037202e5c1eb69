"""Step sizes on the report's page: conditions and bounds as JavaScript, from the same formulas as `cflag stepsize`."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from cflag_theory.claims.c_flag.past_task.ours.first_rounds import F
from cflag_theory.claims.c_flag.past_task.runs import T
from cflag_theory.claims.c_flag.step_sizes import CONDITIONS, OUR_CONDITIONS
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m
from cflag_theory.studies.stepsize.conditions import standing
from cflag_theory.studies.stepsize.evaluate import needed
from cflag_theory.studies.stepsize.predicted import G, c_flag_theorems

#: What the page lets a reader choose, in this order: symbol, label, least and largest value, start, logarithmic scale.
DIALS = (
    (L, "L", "smoothness constant", 0.01, 1000.0, 2.0, True),
    (m, "m", "bias of the memory, ||b||^2 <= m ||grad f||^2", 0.0, 2.0, 0.25, False),
    (E, "E", "local steps", 1.0, 100.0, 10.0, True),
    (T, "T", "rounds", 1.0, 1e6, 1000.0, True),
    (alpha, "alpha", "step size on the memory, times L", 0.01, 2.0, 0.5, False),
    (beta, "beta", "step size on current data, times L E", 1e-4, 1.0, 0.02, True),
    (F, "F", "f(x_0) - inf f", 0.01, 1000.0, 1.0, True),
    (G, "G", "root mean square of ||grad g||", 0.01, 100.0, 1.0, True),
)
_NAMES = {symbol: name for symbol, name, *_ in DIALS}


class _Printer(JavascriptCodePrinter):  # type: ignore[misc]
    def _print_Symbol(self, symbol: sp.Symbol) -> str:
        return _NAMES[symbol]


def script_of(expression: Any) -> str:
    """A formula in the dials as JavaScript."""
    return str(_Printer().doprint(sp.sympify(expression)))


def conditions() -> list[dict[str, Any]]:
    """Every condition on alpha and beta in the dials: whose it is, what it is for, both sides."""
    found = []
    for one in CONDITIONS + OUR_CONDITIONS:
        sides = (one.relation.left, one.relation.right)
        if not set().union(*(side.free_symbols for side in sides)) <= set(_NAMES):
            continue
        standings = {id: standing(id) for id in one.claims}
        found.append(
            {
                "name": one.name,
                "paper": one.paper,
                "where": one.where,
                "proved": [id for id, word in standings.items() if word == "proved"],
                "repaired": [id for id, word in standings.items() if word == "repaired"],
                "op": one.relation.op,
                "left": script_of(sides[0]),
                "right": script_of(sides[1]),
            }
        )
    return found


def bounds() -> list[dict[str, Any]]:
    """Every proved bound on a gradient that the dials determine, with the conditions that it needs."""
    known = {one["name"] for one in conditions()}
    return [
        {
            "claim": one.claim,
            "kind": one.kind,
            "quantity": one.quantity,
            "value": script_of(one.right),
            "needs": list(one.conditions),
            "laws": list(one.laws),
            "note": one.note,
        }
        for one in c_flag_theorems()
        if one.kind != "printed" and one.laws and needed(one.right) <= set(_NAMES) and set(one.conditions) <= known
    ]


def box() -> dict[str, Any]:
    """All that the page's script needs."""
    dials = [
        {"name": name, "label": label, "low": low, "high": high, "start": start, "log": log}
        for _, name, label, low, high, start, log in DIALS
    ]
    return {"dials": dials, "conditions": conditions(), "bounds": bounds()}
