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

#: What a reader types, in this order: symbol, name, what it is, start. Empty step sizes are chosen by the page.
FIELDS = (
    (L, "L", "smoothness constant $L$", "2"),
    (m, "m", r"bias of the memory $m$: $\|b\|^{2} \le m \|\nabla f\|^{2}$", "0.25"),
    (E, "E", "local steps $E$", "10"),
    (T, "T", "rounds $T$", "1000"),
    (F, "F", r"gap $F = f(x_{0}) - \inf f$", "1"),
    (G, "G", r"$G$: root mean square of $\|\nabla g\|$", "1"),
    (alpha, "alpha", r"step size $\alpha$ on the memory", ""),
    (beta, "beta", r"step size $\beta$ on current data", ""),
)
_NAMES = {symbol: name for symbol, name, *_ in FIELDS}


class _Printer(JavascriptCodePrinter):  # type: ignore[misc]
    def _print_Symbol(self, symbol: sp.Symbol) -> str:
        return _NAMES[symbol]


def script_of(expression: Any) -> str:
    """A formula in the fields as JavaScript."""
    return str(_Printer().doprint(sp.sympify(expression)))


def conditions() -> list[dict[str, Any]]:
    """Every condition on alpha and beta in the fields: whose it is, what it is for, both sides."""
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
    """Every proved bound on a gradient that the fields determine, what it needs, and its limit for T to infinity."""
    known = {one["name"] for one in conditions()}
    return [
        {
            "claim": one.claim,
            "kind": one.kind,
            "quantity": one.quantity,
            "value": script_of(one.right),
            "floor": script_of(sp.limit(one.right, T, sp.oo)),
            "needs": list(one.conditions),
            "laws": list(one.laws),
            "note": one.note,
        }
        for one in c_flag_theorems()
        if one.kind != "printed" and one.laws and needed(one.right) <= set(_NAMES) and set(one.conditions) <= known
    ]


def box() -> dict[str, Any]:
    """All that the page's script needs."""
    fields = [{"name": name, "label": label, "start": start} for _, name, label, start in FIELDS]
    return {"fields": fields, "conditions": conditions(), "bounds": bounds()}
