"""Random models: vectors of R^2, quadratics, finite means, in which terms have floating-point values.

A second reading of the terms that knows nothing of the engine: a rule's conclusion, or the goal of an obligation, must
hold in every model in which what it is given holds.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from hashlib import sha256

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import terms
from cflag_theory.claims.engine.claim import SETTING
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Largest, Least, Total, TotalVector
from cflag_theory.claims.engine.terms import Dot, Gradient, Named, Norm, Value, is_vector, ln

MEMBERS = 3
#: How many terms an index of a sum or a maximum may run through.
LONGEST = 6
#: Terms come again in every model and for every value of an index.
parts, _symbols = cache(terms.parts), cache(lambda expr: tuple(expr.free_symbols))


class Undefined(Exception):
    """A term has no value in this model."""


class Model:
    """Values for all terms; the same seed gives the same model.

    What the setting and a statement's facts say of a term, they give: a vector or a number by its equation, and a
    vector whose mean vanishes less its mean.
    """

    def __init__(self, seed, statement=None):
        self.seed = seed
        self.kept = {}
        facts = statement.facts if statement else ()
        said = [fact.relation for fact in facts if fact.relation.op == "=="]
        said = [(unfold(one.left), unfold(one.right)) for one in said]
        self.equations = [(one.relation.left, one.relation.right) for one in SETTING.values()] + said

    def _once(self, make, expr, env):
        """A value that depends on the indices in the expression alone, computed once."""
        key = (make.__name__, expr, *map(env.get, _symbols(expr)))
        if key not in self.kept:
            self.kept[key] = make(expr, env)
        return self.kept[key]

    def rng(self, *key):
        return np.random.default_rng(int.from_bytes(sha256(repr((self.seed, *key)).encode()).digest()[:8], "little"))

    def holds(self, relation, env, tolerance=1e-9):
        """Whether a relation holds, up to rounding."""
        left, right = self.number(relation.left, env), self.number(relation.right, env)
        slack = tolerance * (1 + abs(left) + abs(right))
        return abs(left - right) <= slack if relation.op == "==" else left <= right + slack

    def holds_for_every(self, known, running):
        """Whether what an earlier step shows holds, for every value of the indices `running`."""
        inside = {one for one in known.ranges if one.left.free_symbols & {*running}}
        if not all(self.holds(one, {}) for one in known.ranges - inside):
            # Outside of a range nothing is said.
            return False
        for values in itertools.product(range(LONGEST), repeat=len(running)):
            here = dict(zip(running, values, strict=True))
            if all(self.holds(one, here) for one in inside) and not self._true(known.relation, here):
                return False
        return True

    def _true(self, relation, env):
        if is_vector(relation.left) or is_vector(relation.right):
            return bool(np.allclose(self.vector(relation.left - relation.right, env), 0, atol=1e-8))
        return self.holds(relation, env)

    def number(self, expr, env):
        expr = sp.sympify(expr)
        if expr.is_Number or isinstance(expr, sp.NumberSymbol):
            return float(expr)
        if expr.is_Symbol:
            return env[expr] if expr in env else self._once(self._said, expr, {})
        if isinstance(expr, sp.Add):
            return math.fsum(self.number(one, env) for one in expr.args)
        if isinstance(expr, sp.Mul):
            return math.prod(self.number(one, env) for one in expr.args)
        if isinstance(expr, sp.Pow):
            base, power = self.number(expr.base, env), self.number(expr.exp, env)
            if (base == 0 and power < 0) or (base < 0 and power != int(power)):
                raise Undefined(f"{expr}")
            return base**power
        if isinstance(expr, sp.exp):
            return math.exp(self.number(expr.args[0], env))
        if isinstance(expr, ln):
            return math.log(self.number(expr.args[0], env))
        if isinstance(expr, AppliedUndef):
            values = tuple(round(float(self.number(one, env)), 9) for one in expr.args)
            if str(expr.func).startswith("tau"):
                return self._refreshed(str(expr.func), values)
            return self._once(self._said, expr.func(*(int(n) if n == int(n) else n for n in values)), {})
        if isinstance(expr, Total | Largest | Least):
            return self._once(self._over_index, expr, env)
        if isinstance(expr, Dot):
            return float(self.vector(expr.args[0], env) @ self.vector(expr.args[1], env))
        if isinstance(expr, Norm):
            return float(np.linalg.norm(self.vector(expr.args[0], env)))
        if isinstance(expr, Value):
            c, b, H = self._once(self._quadratic, expr.args[0], env)
            x = self.vector(expr.args[1], env)
            return float(c + b @ x + x @ H @ x / 2)
        raise Undefined(f"{type(expr)}")

    def _said(self, term, env):
        """A number by an equation that gives it; without one it is drawn."""
        for left, right in self.equations:
            found = {} if left == term else None
            if isinstance(term, AppliedUndef) and isinstance(left, AppliedUndef) and left.func == term.func:
                found = _matched(left.args, term.args)
            if found is not None and not right.has(left):
                value = self.number(right, {**env, **found})
                if value < 0 and term.is_nonnegative:
                    raise Undefined(f"{term} = {value}")
                return value
        return self._drawn(term, *((str(term.func), term.args) if isinstance(term, AppliedUndef) else (str(term),)))

    def _refreshed(self, name, values):
        """The last step up to this one at which an entry was refreshed; all are at the first."""
        client, step, *rest = values
        steps = range(int(step), 0, -1)
        return next((k for k in steps if self.rng(name, client, k, *rest).integers(2)), 0)

    def _over_index(self, expr, env):
        if isinstance(expr, Total):
            return math.fsum(w * self.number(expr.body, here) for w, here in self._members(expr, env))
        if isinstance(expr, Largest | Least):
            count = self._count(expr.outside, env) + isinstance(expr, Largest)
            values = [self.number(expr.body, {**env, expr.bound: n}) for n in range(count)]
            if not values:
                raise Undefined(f"{expr}")
            return (max if isinstance(expr, Largest) else min)(values)
        raise AssertionError(expr)

    def vector(self, expr, env):
        total = np.zeros(2)
        for basis, c in parts(expr).items():
            total = total + self.number(c, env) * self._once(self._basis, basis, env)
        return total

    def _basis(self, basis, env):
        if isinstance(basis, Named):
            return self._named(basis, env)
        if isinstance(basis, Gradient):
            _, b, H = self._once(self._quadratic, basis.args[0], env)
            return b + H @ self.vector(basis.args[1], env)
        if isinstance(basis, TotalVector):
            return sum((w * self.vector(basis.body, here) for w, here in self._members(basis, env)), np.zeros(2))
        raise Undefined(f"{type(basis)}")

    def _named(self, basis, env):
        name = basis.args[0]
        values = tuple(int(self.number(one, env)) for one in basis.args[1:])
        for left, right in self.equations:
            if isinstance(left, Named) and left.args[0] == name:
                found = _matched(left.args[1:], values)
                if found is not None:
                    return self.vector(right, {**env, **found})
        drawn = self._free(name.name, values)
        for left in (left for left, right in self.equations if right == 0):
            # A named vector whose mean is said to vanish.
            if isinstance(left, TotalVector) and isinstance(left.body, Named) and left.body.args[0] == name:
                place = left.body.args.index(left.bound) - 1
                for weight, here in self._members(left, env):
                    moved = (*values[:place], here[left.bound], *values[place + 1 :])
                    drawn = drawn - weight * self._free(name.name, moved)
        return drawn

    def _free(self, name, values):
        return self.rng("vector", name, values).normal(size=2)

    def _quadratic(self, f, env):
        """f(x) = c + b.x + x.H.x/2, with the declared properties."""
        values = tuple(int(self.number(one, env)) for one in f.args[1:])
        rng, declared = self.rng("function", f.args[0].name, values), f.properties
        most = self.number(declared.smooth, env) if declared.smooth is not None else 2.0
        least = -most if declared.mu is None else self.number(declared.mu, env)
        if declared.lower is not None:
            least = max(least, most / 10)
        if least > most:
            raise Undefined(f"{f}")
        turn, spectrum = rng.uniform(0, 2 * math.pi), rng.uniform(least, most, size=2)
        if rng.integers(2):
            spectrum[0] = most
        Q = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        H, b, c = Q @ np.diag(spectrum) @ Q.T, rng.normal(size=2), rng.normal()
        if declared.lower is not None:
            c = self.number(declared.lower, env) + b @ np.linalg.solve(H, b) / 2 + abs(c)
        return c, b, H

    def _members(self, term, env):
        operator = term.operator
        if operator.is_sum:
            return [(1.0, {**env, operator.index: n}) for n in range(self._count(operator.total, env))]
        weights = self.rng("weights", operator.args[0].name).dirichlet(np.ones(MEMBERS))
        return [(w, {**env, operator.index: n}) for n, w in enumerate(weights)]

    def _count(self, expr, env):
        count = self.number(expr, env)
        if count != int(count) or not 0 <= count <= 4 * LONGEST:
            raise Undefined(f"{expr} = {count}")
        return int(count)

    def _drawn(self, term, *key):
        rng = self.rng("number", *key)
        if term.is_integer:
            return int(rng.integers(1, LONGEST - 1))
        size = float(rng.choice([0.05, 0.4, 1.0, 2.5]) * rng.uniform(0.5, 1.5))
        return size if term.is_nonnegative or rng.integers(2) else -size


def _matched(pattern, values):
    """The values of the pattern's indices at which it gives these values; None if it gives them nowhere."""
    found = {}
    for one, value in zip(pattern, values, strict=True):
        if one.is_Integer:
            if int(one) != value:
                return None
            continue
        (symbol,) = one.free_symbols
        solved = value - int(one - symbol)
        if solved < 0 or found.setdefault(symbol, solved) != solved:
            return None
    return found
