"""The only module that talks to PEPit: smooth components as unknowns, one solve, and a result that can be trusted.

A performance estimation problem maximises a quantity over all functions that fit the hypotheses. By the interpolation
theorem for L-smooth functions it is a semidefinite problem in the Gram matrix of the gradients met, without loss if
the dimension is free. Everything is in units of L = 1.
"""

from __future__ import annotations

import contextlib
import io
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from cflag_theory.errors import MissingExtra
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.performance.solution import Data, Inaccurate, Residuals, Solution, Unbounded, Unsolved

#: Of the solver's answer, as it recomputes itself: largest violation, and gap between bound and instance.
RESIDUAL_LIMIT = 1e-5
SOLVER = "CLARABEL"
_PACKAGES = ("pepit", "cvxpy", "clarabel")


def load() -> Any:
    """PEPit, or a clear word about the extra that brings it."""
    try:
        import PEPit.functions

        for name in _PACKAGES:
            metadata.version(name)
    except ImportError as error:
        missing = str(getattr(error, "name", None) or error).partition(".")[0]
        raise MissingExtra(
            f"{missing} is not installed: pip install 'cflag-theory[pep]', or compare with the closed forms only"
        ) from error
    return PEPit


class Model:
    """One problem under construction: 1-smooth components by client, free vectors, constraints, a quantity.

    PEPit keeps its unknowns in class attributes, so that only one model is alive in a process at a time.

    Parameters
    ----------
    components : sequence of int
        How many components each client has.
    scales : sequence of float
        By how much, about, each client's gradients change, with L = 1: the unknowns are scaled by it.
    """

    def __init__(self, components: Sequence[int], scales: Sequence[float]) -> None:
        self.tools = load()
        self.started = time.perf_counter()
        self.pep = self.tools.PEP()
        smooth = self.tools.functions.SmoothFunction
        self.functions = [[self.pep.declare_function(smooth, L=1.0) for _ in range(count)] for count in components]
        self.zero: Any = self.tools.Point(is_leaf=False, decomposition_dict={})
        self.scales = tuple(scales)
        self.named: dict[str, Any] = {}

    def vector(self, name: str) -> Any:
        """A free vector, whose value in the instance is kept under this name."""
        self.named[name] = self.pep.set_initial_point()
        return self.named[name]

    def gradient(self, client: int, component: int, x: Any) -> Any:
        """The gradient of a component at x."""
        return self._ask(client, component, x)[0]

    def value(self, x: Any, weights: Sequence[float]) -> Any:
        """The mean over the first clients, with these weights, of the mean of their components at x."""
        each = [
            weight / len(row) * self._ask(i, j, x)[1]
            for i, (weight, row) in enumerate(zip(weights, self.functions, strict=False))
            if weight != 0
            for j in range(len(row))
        ]
        return sum(each[1:], each[0])

    def _ask(self, client: int, component: int, x: Any) -> tuple[Any, Any]:
        """Gradient and value at x; known ones again, new ones as changes in units of the client's scale."""
        function, scale = self.functions[client][component], self.scales[client]
        for point, gradient, value in function.list_of_points:
            if point.decomposition_dict == x.decomposition_dict:
                return gradient, value
        if not function.list_of_points:
            known: tuple[Any, Any] = function.oracle(x)
            return known
        first, gradient, value = function.list_of_points[0]
        turn = self.tools.Point(is_leaf=True, decomposition_dict=None)
        curve = self.tools.Expression(is_leaf=True, decomposition_dict=None)
        found = (gradient + scale * turn, value + gradient * (x - first) + scale**2 * curve)
        function.add_point((x, *found))
        return found

    def dot(self, a: Any, b: Any) -> Any:
        """The inner product."""
        return a * b

    def solve(
        self, quantities: Sequence[Any], bounded: Sequence[Any], settings: Mapping[str, Any] | None = None
    ) -> Solution:
        """Maximise the smallest of the quantities, where everything in `bounded` is at most 0.

        Parameters
        ----------
        quantities, bounded : sequences of expressions
            Linear in inner products and values.
        settings : mapping, optional
            Handed to Clarabel, such as ``{"max_iter": 500}``.
        """
        for quantity in quantities:
            self.pep.set_performance_metric(quantity)
        for expression in bounded:
            self.pep.add_constraint(expression <= 0)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            # An inaccurate status is an error below; PEPit and cvxpy only warn of it.
            warnings.simplefilter("ignore")
            try:
                bound = self.pep.solve(verbose=0, wrapper="cvxpy", solver=SOLVER, **dict(settings or {}))
            except Exception as error:
                # cvxpy's SolverError, where tolerances are out of reach, is a plain Exception; PEPit trips over missing
                # values.
                kind = Inaccurate if type(error).__name__ == "SolverError" else Unsolved
                raise kind(
                    f"{SOLVER} failed on a Gram matrix of size {self.tools.Point.counter} "
                    f"({type(error).__name__}: {error}): use a smaller problem or other solver settings"
                ) from error
        status = str(self.pep.wrapper.prob.status)
        if status in ("unbounded", "unbounded_inaccurate"):
            raise Unbounded(
                f"the worst case is unbounded (status {status!r} of {SOLVER}): add a hypothesis that bounds it"
            )
        if bound is None or status != "optimal":
            kind = Inaccurate if status == "optimal_inaccurate" else Unsolved
            raise kind(
                f"{SOLVER} ended with status {status!r} on a Gram matrix of size {self.tools.Point.counter}: use a "
                "smaller problem, milder step sizes or other solver settings"
            )
        return self._solution(float(bound), status, dict(settings or {}))

    def recedes(self, quantities: Sequence[Any], bounded: Sequence[Any], settings: Mapping[str, Any]) -> bool:
        """Whether some instance can be multiplied by any number while all quantities grow and `bounded` is kept.

        Every problem here has the instance 0, and constants in `bounded` that are not positive, so that it is then
        unbounded. Solvers often only fail on such problems.
        """
        homogeneous = [one - one.decomposition_dict.get(1, 0.0) for one in bounded]
        try:
            return self.solve(quantities, [*homogeneous, *(one - 1 for one in quantities)], settings).attained > 0.5
        except Unsolved:
            return False

    def _solution(self, bound: float, status: str, settings: Mapping[str, Any]) -> Solution:
        pep, attained = self.pep, float(self.pep.objective.eval())
        residuals = self._residuals(bound - attained)
        size = max(1.0, abs(bound))
        if not math.isfinite(bound) or not residuals.largest <= RESIDUAL_LIMIT * size:
            raise Unsolved(
                f"{SOLVER} says {status!r} but its answer {bound:.9g} has {residuals}: residuals above "
                f"{RESIDUAL_LIMIT} are not trusted; use a smaller problem or milder step sizes"
            )
        eigenvalues = np.linalg.eigvalsh(pep.G_value)
        return Solution(
            bound,
            attained,
            status,
            str(pep.wrapper.solver_name),
            {name: metadata.version(name) for name in _PACKAGES},
            settings,
            residuals,
            len(eigenvalues),
            len(pep._list_of_constraints_sent_to_wrapper),
            int(np.count_nonzero(eigenvalues > 1e-6 * eigenvalues[-1])),
            time.perf_counter() - self.started,
            tuple(tuple(_data(one) for one in row) for row in self.functions),
            {name: _frozen(vector.eval()) for name, vector in self.named.items()},
        )

    def _residuals(self, gap: float) -> Residuals:
        from PEPit.tools.expressions_to_matrices import expression_to_matrices

        pep = self.pep
        gram, values = np.asarray(pep.G_value), np.asarray(pep.F_value)
        # What is left of objective <= bound after the multipliers have combined the constraints to it.
        left_gram, left_values, _ = expression_to_matrices(pep.objective)
        left_gram = left_gram + pep.residual
        violation = least = 0.0
        for constraint in pep._list_of_constraints_sent_to_wrapper:
            on_gram, on_values, constant = expression_to_matrices(constraint.expression)
            multiplier = float(constraint.eval_dual())
            left_gram, left_values = left_gram - multiplier * on_gram, left_values - multiplier * on_values
            here = float(np.sum(on_gram * gram) + on_values @ values + constant)
            if constraint.equality_or_inequality == "equality":
                violation = max(violation, abs(here))
            else:
                violation, least = max(violation, here), min(least, multiplier)
        return Residuals(
            violation,
            max(0.0, -float(np.linalg.eigvalsh(gram)[0])),
            max(0.0, -least),
            max(0.0, -float(np.linalg.eigvalsh(pep.residual)[0])),
            float(max(np.abs(left_gram).max(), np.abs(left_values).max())),
            gap,
        )


def _data(function: Any) -> Data:
    points, gradients, values = zip(*function.list_of_points, strict=True)
    return Data(
        _frozen([point.eval() for point in points]),
        _frozen([gradient.eval() for gradient in gradients]),
        _frozen([value.eval() for value in values]),
    )


def _frozen(values: Any) -> Array:
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array
