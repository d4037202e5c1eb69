"""Whatever stands at a parameter of a public function, its answer is a value or an error of the package."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory import kernels
from cflag_theory.errors import CflagError
from cflag_theory.falsify import Range


class Mute:
    """Has no words for itself."""

    def __repr__(self):
        raise RuntimeError("no words")


HOSTILE = (
    None, True, 10**30, 10**9000, -1, float("nan"), float("inf"), "", b"x", [], {}, object(), Mute(), 1e200, 1j,
    np.float16("nan"), np.bool_(True), np.datetime64("2000-01-01"), np.longdouble("1e4000"), np.complex64(1),
    Fraction(10**400, 3), np.empty(0), np.empty((0, 3)), np.array([object(), None]), [[1], [1, 2]], [1e200, -1e200],
)  # fmt: skip
PROBLEM = kernels.make_problem("quadratic", clients=2, components=2, dimension=2)
RUN = {"beta": 0.01, "alpha": 0.1, "local_steps": 1, "rounds": 1, "memory": kernels.uniform(1), "engine": "reference"}
#: What makes each call right, before one value is changed.
RIGHT = {
    "simulate": {
        "problem": PROBLEM,
        "algorithm": "c_flag",
        **RUN,
        "replicas": 1,
        "seed": 0,
        "every": 1,
        "dtype": "float64",
    },
    "uniform": {"size": 1},
    "class_balanced": {"size": 1},
    "ring": {"size": 1},
    "reservoir": {"size": 1},
    "sign_bias": {"scale": 1},
    "rotation_bias": {"scale": 1, "angle": 1},
    "bias_bound": {"problem": PROBLEM, "memory": kernels.uniform(1)},
    "ratio_bound": {"problem": PROBLEM, "memory": kernels.uniform(1)},
    "over_sqrt": {"c": 1.0, "rounds": 4},
    "random_glm": {"clients": 2, "components": 2, "dimension": 2, "seed": 0},
    "random_quadratic": {"clients": 2, "components": 2, "dimension": 2, "heterogeneity": 0, "seed": 0},
    "random_separable": {"clients": 2, "dimension": 2, "past": 2, "current": 2, "seed": 0},
    "to_exact": {"problem": PROBLEM},
    "Range": {"low": 0, "high": 1, "kind": "real", "scale": "linear", "open": "neither", "shape": ()},
}


@pytest.mark.parametrize("name", RIGHT)
def test_hostile_values_stay_in_the_error_tree(name):
    function = Range if name == "Range" else getattr(kernels, name)
    left = []
    for parameter in RIGHT[name]:
        for value in HOSTILE:
            try:
                function(**{**RIGHT[name], parameter: value})
            except CflagError:
                pass
            except Exception as error:
                left.append((parameter, type(value).__name__, f"{type(error).__name__}: {str(error)[:70]}"))
    assert not left
