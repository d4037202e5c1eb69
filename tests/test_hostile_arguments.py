"""Whatever stands at a parameter of any public function, its answer is a value or an error of the package."""

from __future__ import annotations

import inspect
import signal
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from right_calls import RIGHT as OTHERS
from right_calls import given

from cflag_theory.errors import CflagError
from cflag_theory.falsify.search.guard import _is_lost_in

#: Seconds after which a value counts as taken: some are right, and ask for much.
LONG = 0.5


class Long(BaseException):
    """The call takes long."""


def ring(_, frame):
    # Where nothing may be raised it rings again half a second later.
    if not _is_lost_in(frame):
        raise Long


class Mute:
    """Has no words for itself."""

    def __repr__(self):
        raise RuntimeError("no words")


HOSTILE = (
    None, True, 0, 10**30, 10**9000, -1, float("nan"), float("inf"), "", "a\0b", "x" * 5000, "\udcff", "../x", b"x", [],
    {}, object(), Mute(), 1e200, -1e-320, 1j, np.float16("nan"), np.bool_(True), np.datetime64("2000-01-01"),
    np.longdouble("1e4000"), np.complex64(1), Fraction(10**400, 3), np.empty(0), np.empty((0, 3)),
    np.array([object(), None]), [[1], [1, 2]], [1e200, -1e200], [None], ["x"], [-1], {"x": 1}, {1: None}, (),
    (None,), len,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """Where results go that a function writes in spite of a hostile value, or to a hostile name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("here"))
        # A library whose import is broken off stays half imported.
        import_module("cflag_theory.figures.style")
        before = signal.signal(signal.SIGALRM, ring)
        yield
        signal.signal(signal.SIGALRM, before)


BRIDGE = {
    "forgetting": {"accuracy": [[50.0]], "definition": "paper"},
    "preset": {"name": "table2"},
    "read_model": {"path": "nowhere.pt"},
    "read_results": {"folder": "nowhere"},
    "read_settings_file": {"path": "nowhere.toml"},
    "check_data": {"folder": "nowhere"},
    "load_images": {"name": "digits", "root": None, "download": False},
    "make_method": {
        **dict.fromkeys(("lr", "alpha", "L"), 0.1),
        **dict.fromkeys(("epochs", "batch", "sample"), 1),
        "name": "c_flag",
        "optimizer": "adam",
        "options": None,
    },
    "make_model": {
        "name": "linear",
        "images_shape": (1, 8, 8),
        "classes_per_task": (2, 2),
        "heads": "list",
        "old_logits": "kept",
        "loss": "cross-entropy",
        "hidden": None,
        "device": "cpu",
        "channels_last": False,
    },
    "run_settings": {"changes": None, "lr": 0.1, "methods": ["c_flag"], "seeds": [1], "zeta": 1.0, "c_flag": {}},
    "split_tasks": {
        "images": None,
        "tasks": 2,
        "clients": 2,
        "zeta": 1.0,
        "partition": "balanced",
        "sizes": None,
        "class_order": "given",
        "seed": 0,
    },
    "remembered": {"stream": None, "labels": np.zeros(2, dtype=int), "task": 0, "kind": "ring", "size": 1, "seed": 0},
    "run_bridge": {"settings": None, "out": "bridge", "preset": None, "anyway": False},
}
WORST = {
    "worst_case": {
        "method": "fedavg",
        **dict.fromkeys(("E", "T", "eta", "L", "radius", "heterogeneity", "n", "r"), 1),
        **dict.fromkeys(("mu", "m"), 0),
        "kind": "convex",
        "measure": "f",
        "N": 2,
        "S": None,
        "order": (),
        "alpha": None,
    },
    "largest_step": {
        "method": "fedavg",
        **dict.fromkeys(("E", "T", "L"), 1),
        **dict.fromkeys(("mu", "heterogeneity"), 0),
        "kind": "convex",
        "measure": "f",
        "N": 2,
    },
    "best_step": {"setting": None},
}
RIGHT = {**OTHERS, "worstcase": WORST}
FUNCTIONS = [f"{package}.{name}" for package, functions in {**RIGHT, "bridge": BRIDGE}.items() for name in functions]


CASES = [(package, name) for package, functions in RIGHT.items() for name in functions]


@pytest.mark.full
@pytest.mark.parametrize(("package", "name"), CASES, ids=[".".join(case) for case in CASES])
def test_hostile_values_stay_in_the_error_tree(package, name):
    """Positional-only parameters are passed in their order."""
    check(getattr(import_module(f"cflag_theory.{package}"), name), given(RIGHT[package][name]))


@pytest.mark.extra
@pytest.mark.parametrize("name", BRIDGE)
def test_hostile_values_of_the_bridge(name):
    pytest.importorskip("torch")
    check(getattr(import_module("cflag_theory.bridge"), name), BRIDGE[name])


FIGURES = [name for name in import_module("cflag_theory.figures").__all__ if name.endswith("_figure")]


@pytest.mark.parametrize("name", FIGURES)
def test_hostile_data_of_figures(name):
    draw = getattr(import_module("cflag_theory.figures"), name)
    for hostile in HOSTILE:
        with pytest.raises(CflagError, match="is drawn from other data"):
            draw(hostile)


def test_every_public_function_is_tried():
    for package in (*RIGHT, "bridge", "figures"):
        module = import_module(f"cflag_theory.{package}")
        for name in module.__all__:
            if package == "bridge" and find_spec("torch") is None:
                continue
            if inspect.isfunction(one := getattr(module, name)) and one.__module__.startswith(
                f"cflag_theory.{package}"
            ):
                assert name in FIGURES or name == "save" or f"{package}.{name}" in FUNCTIONS, (package, name)


def check(function, right):
    left = []
    parameters = inspect.signature(function).parameters.values()
    first = [one.name for one in parameters if one.kind is one.POSITIONAL_ONLY]
    for parameter in right:
        for hostile in HOSTILE:
            given_now = right | {parameter: hostile}
            signal.setitimer(signal.ITIMER_REAL, LONG, LONG)
            try:
                function(*[given_now.pop(one) for one in first], **given_now)
            except (CflagError, Long):
                pass
            except Exception as error:
                left.append((parameter, repr(type(hostile)), f"{type(error).__name__}: {str(error)[:70]}"))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    assert not left
