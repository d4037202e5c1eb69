"""Step sizes written as formulas, such as "c/sqrt(T)" or "1/(L*(1 + m))"."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from cflag_theory.errors import InvalidInput

#: What a formula may name.
NAMES = {
    "T": "rounds",
    "E": "local steps",
    "N": "clients",
    "L": "smoothness constant of the problem",
    "m": "constant of (27) of the memory, where the family knows it",
    "c": "the number c of the run",
}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
# Deep nesting exhausts the parser; no step size needs more characters than this.
_LONGEST = 200


class Law:
    """A formula for a step size; `names` are those of `NAMES` that it reads."""

    def __init__(self, words: str) -> None:
        self.words = words
        try:
            if len(words) > _LONGEST:
                raise ValueError
            tree = ast.parse(words.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise InvalidInput(f"the formula {words!r} is not understood: write one such as c/sqrt(T)") from None
        names: set[str] = set()
        self._value = _build(tree, words, names)
        self.names = frozenset(names)

    def at(self, values: Mapping[str, float]) -> float:
        """The step size where T, E, N, L, m and c have these values."""
        for name in sorted(self.names):
            if name not in values:
                raise InvalidInput(f"the formula {self.words!r} names {name} ({NAMES[name]}), which is not known here")
        try:
            value = self._value(values)
            if isinstance(value, complex) or not math.isfinite(value):
                raise ValueError
        except (ArithmeticError, ValueError, TypeError):
            known = ", ".join(f"{name} = {values[name]:g}" for name in sorted(self.names))
            raise InvalidInput(f"the formula {self.words!r} has no finite value at {known or 'all'}") from None
        return float(value)


def _build(node: ast.expr, words: str, names: set[str]) -> Callable[[Mapping[str, float]], Any]:
    """The formula as nested functions: nothing of a file is ever run as Python."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number = float(node.value)  # type: ignore[arg-type]
        return lambda values: number
    if isinstance(node, ast.Name) and node.id in NAMES:
        name = node.id
        names.add(name)
        return lambda values: values[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _build(node.operand, words, names)
        return lambda values: -inner(values)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "sqrt" and len(node.args) == 1 and not node.keywords:
        inner = _build(node.args[0], words, names)
        return lambda values: math.sqrt(inner(values))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        operation = _OPERATIONS[type(node.op)]
        left, right = _build(node.left, words, names), _build(node.right, words, names)
        return lambda values: operation(left(values), right(values))
    raise InvalidInput(
        f"the formula {words!r} has {ast.unparse(node)!r}: use numbers, {', '.join(NAMES)}, + - * / ** and sqrt"
    )
