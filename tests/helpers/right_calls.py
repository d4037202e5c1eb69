"""A right call of every public function, before one of its values is changed."""

from __future__ import annotations

import inspect
from fractions import Fraction
from pathlib import Path

import numpy as np

from cflag_theory import falsify, kernels, studies

PROBLEM = kernels.make_problem("quadratic", clients=2, components=2, dimension=2)
MEMORY = kernels.uniform(1)
RUN = {"beta": 0.01, "alpha": 0.1, "local_steps": 1, "rounds": 1, "memory": MEMORY, "engine": "reference"}
SEED = {"seed": 0}
WINDOWS = kernels.fresh(2)
SMALL = {"clients": 2, "components": 2, "dimension": 2}


def square(z):
    return z * z / 2


def gradient(x, data):
    return x - data


def value(x, data):
    return 0.5 * np.sum((x - data) ** 2)


def trace():
    return kernels.simulate(PROBLEM, "c_flag", **RUN, iterates=True)


def written():
    return kernels.write_trace(Path("trace.npz"), trace())


def table():
    path = Path("table.csv")
    path.write_text("a,b,label\n" + "\n".join(f"{i % 7},{i % 5},{i % 4}" for i in range(40)), encoding="utf-8")
    return path


def claim():
    return falsify.Conjecture(name="c", ranges={"x": falsify.Range(0, 1)}, left=lambda x: x, right=Fraction(1, 2))


def refuted():
    path = Path("refuted.json")
    path.write_text("{}", encoding="utf-8")
    return path


def sequence():
    return kernels.random_tasks(tasks=2, **SMALL)


def evolving_problem():
    return kernels.random_evolving(clients=2, components=4, dimension=2, size=2, count=2)


V, W = falsify.vectors("v w")
LEVEL = {"seconds": 0.01, "budget": 3, "seed": 0}
#: What makes each call right, before one value is changed; functions without parameters need nothing.
RIGHT = {
    "kernels": {
        "simulate": {
            "problem": PROBLEM,
            "algorithm": "c_flag",
            **RUN,
            **SEED,
            "participants": 1,
            "replicas": 1,
            "first_replica": 0,
            "mode": "bitwise",
            "dtype": "float64",
            "diagnostics": "all",
            "every": 1,
            "columns": ["f"],
            "iterates": False,
            "orders": None,
            "threads": 1,
            "throw": True,
        },
        "read_trace": {"path": written},
        "write_trace": {"path": "it.npz", "trace": trace},
        "algorithm": {
            "name": "c_flag",
            "memory": True,
            "proximal": 0,
            "server_rate": 1,
            "window": None,
            "past": "none",
        },
        "own_algorithm": {
            "local_step": lambda x, gradient, beta: x - beta * gradient,
            "server_step": None,
            "server_state": None,
            "row": None,
            "memory": False,
            "name": "it",
        },
        "over_sqrt": {"c": 1.0, "rounds": 4},
        "make_problem": {"name": "quadratic", **SMALL},
        "default_problem": SEED,
        **{name: {} for name in ("default_memory", "everything", "unlimited")},
        "glm": {
            "past_rows": [[1.0]],
            "past_targets": [1.0],
            "past_clients": [0],
            "current_rows": [[1.0]],
            "current_targets": [1.0],
            "current_clients": [0],
            "potential": "cauchy",
            "past_weights": [1.0],
            "current_weights": [1.0],
            "labels": [0],
            "p": [1.0],
            "start": [0.0],
            "name": "it",
            "notes": (),
        },
        "own_potential": {
            "value": square,
            "slope": lambda z: z,
            "curvature": lambda z: 1 + 0 * z,
            "bound": 1,
            "lower": 0,
            "bounded": False,
            "margin": False,
            "name": "it",
        },
        "finite_sum": {
            "functions": (value, gradient),
            "past": [np.zeros((2, 2))],
            "current": [np.zeros((2, 2))],
            "start": np.zeros(2),
            "L": 1,
            "L_component": 1,
            "lower": 0,
            "p": [1.0],
            "labels": [0, 0],
            "name": "it",
            "notes": (),
        },
        "random_glm": {
            **SMALL,
            **SEED,
            "heterogeneity": 0,
            "conflict": 1,
            "noise": 0,
            "potential": "cauchy",
            "r": None,
        },
        "random_quadratic": {**SMALL, **SEED, "heterogeneity": 0, "convexity": 0, "r": None, "exact": False},
        "random_separable": {
            **SEED,
            "clients": 2,
            "dimension": 2,
            "past": 2,
            "current": 2,
            "potential": "cauchy",
            "heterogeneity": 0,
            "conflict": 1,
            "shift": 1,
            "ratio": 1,
            "anti_aligned": 0,
            "rotated": True,
            "r": None,
        },
        "load_data": {
            "source": table,
            "past_classes": [0],
            "current_classes": [1],
            "clients": 2,
            "zeta": 1.0,
            "potential": "cauchy",
            "positive": None,
            "label_column": "label",
            "task_column": None,
            "client_column": None,
            "features_array": "features",
            "labels_array": "labels",
            **SEED,
            "encoding": None,
            "delimiter": ",",
            "decimal": ".",
            "header": None,
            "missing": "drop",
            "levels": 20,
            "target": None,
            "features": ["a"],
            "drop": (),
            "scale": False,
        },
        "load_tasks": {"source": table, "tasks": ((0,), (1,)), "clients": 2, "zeta": 1.0, "label_column": "label"},
        "to_exact": {"problem": PROBLEM},
        "task_sequence": {"problem": PROBLEM, "tasks": ((0,),)},
        "random_tasks": {
            "tasks": 2,
            **SMALL,
            **SEED,
            "heterogeneity": 0,
            "conflict": 1,
            "noise": 0,
            "potential": "cauchy",
        },
        **{name: {"size": 1, "redraw": False} for name in ("uniform", "class_balanced")},
        "sign_bias": {"m": None, "scale": 1, "redraw": False},
        "rotation_bias": {"m": None, "scale": 1, "angle": 1},
        "given": {"kept": [[0], [0]]},
        **{name: {"size": 1} for name in ("ring", "reservoir")},
        "bias_bound": {"problem": PROBLEM, "memory": MEMORY, "chosen": None, "client": None},
        "ratio_bound": {"problem": PROBLEM, "memory": MEMORY, "chosen": None, "client": None},
        "evolving": {"problem": PROBLEM, "windows": WINDOWS, "drift": kernels.Drift(G=0.1)},
        "noisy_quadratic": {
            **SEED,
            "dimension": 2,
            "clients": 2,
            **dict.fromkeys(("mu", "distance", "G", "D", "sigma", "F", "C", "alpha"), 0.5),
            "L": 2.0,
            "A": 0.0,
            "B": 0.0,
            "spectrum": "linear",
            "rotated": True,
            "law": "normal",
            "correlation": "independent",
            "stateless": False,
        },
        "random_evolving": {
            **SMALL,
            **SEED,
            "heterogeneity": 0.5,
            "noise": 0.1,
            "potential": "cauchy",
            "windows": "subsets",
            "size": 2,
            "shift": 1,
            "count": 2,
        },
        "fresh": {"size": 2},
        "pointer": {"size": 2, "shift": 1},
        "subsets": {"count": 2},
        "Drift": {"G": 0, "B": 0, "D": 0, "A": 0, "sigma": 0, "law": "normal", "correlation": "independent", "F": 0},
        "Reading": {"encoding": None, "delimiter": None, "levels": 20, "features": None, "drop": (), "scale": False},
        "RoundWeights": {"scheme": "uniform", "D2": 0, "R2": 0, "F2": 0, "alpha": 0, "given": None, "window": None},
    },
    "falsify": {
        "Range": {"low": 0, "high": 1, "kind": "real", "scale": "linear", "open": "neither", "shape": ()},
        "Conjecture": {
            "name": "c",
            "ranges": {"x": falsify.Range(0, 1)},
            "left": square,
            "right": 1,
            "relation": "<=",
            "given": (),
            "problem": None,
            "algorithm": None,
            "local_step": None,
            "memory": None,
            "diagnostics": "cheap",
            "free": None,
        },
        "falsify": {"conjecture": claim, **LEVEL, "algebra": False, "search": True},
        **{name: {"conjecture": claim, **LEVEL} for name in ("audit", "decide", "prove", "repair")},
        "replay": {"file": refuted, "conjecture": None, "claims": None, "seconds": 0.1},
        "quadratics": {
            "N": 1,
            "n": 1,
            "d": 1,
            "L": 1,
            "convex": False,
            "mu": None,
            "slopes": 1,
            "start": 1,
            "past": False,
        },
        "ridges": {"N": 1, "n": 1, "d": 1, "rows": 1, "targets": 2, "start": 1, "past": False},
        "dot": {"u": V, "v": W},
        "norm": {"v": V},
        "norm2": {"v": V},
        "function": {"name": "f", "smooth": 1, "convex": False, "mu": None, "lower": None, "latex": None},
        "index": {"name": "i"},
        "draws": {"name": "k", "over": falsify.mean("c", falsify.index("i")), "count": 2, "out_of": 3},
        "largest": {"over": falsify.index("t"), "count": 2, "expr": 1},
        "least": {"over": falsify.index("t"), "count": 2, "expr": 1},
        "sequence": {"name": "a", "nonnegative": True},
        "mean": {"name": "m", "over": falsify.index("i")},
        "sum_over": {"over": falsify.index("i"), "count": 2},
        "vector": {"name": "v", "latex": None},
        "vectors": {"names": "v w"},
    },
    "claims": {"examine": {"statement": None, "second": True}},
    "verify": {
        "verify": {"ids": ["cflag.eq7"], **SEED, "level": "quick", "jobs": 1, "prover": None, "theorems": None},
        "write_report": {
            "folder": "report",
            "verdicts": [],
            "derivations": None,
            "rates": (),
            "notes": (),
            "collected": "",
        },
    },
    "studies": {
        "instance_rate": {"name": "sign", "horizons": [2, 4], "replicas": 2, **SEED, "mode": "bitwise", "store": None},
        "rate": {
            "problem": PROBLEM,
            "memory": MEMORY,
            "horizons": [2, 4],
            "replicas": 2,
            "local_steps": 1,
            "c": 0.1,
            "power": 0.5,
            "alpha_factor": 1.0,
            "m": 0.5,
            "row": None,
            **SEED,
            "mode": "bitwise",
            "store": None,
        },
        "rate_family": {
            "case": studies.RateCase(problem="separable", dials=("clients=2",)),
            "varied": "m",
            "values": [0.5],
            "horizons": [2, 4],
            "replicas": 2,
        },
        "read_results": {"folder": "nowhere", "columns": None, "partial": False},
        "cfl_step_sizes": {
            "L": 5.0,
            "K": 2,
            "eta_l": 0.002,
            "T": 10,
            "eta_g": 1.0,
            **dict.fromkeys(("mu", "A", "B", "G", "sigma"), 0.0),
            **dict.fromkeys(("D", "R", "distance", "gap", "epsilon"), 1.0),
            "N": 2,
            "measured": (),
        },
        "step_sizes": {
            "L": 1.0,
            "m": 0.0,
            "E": 1,
            "alpha": 1.0,
            "beta": 0.1,
            "T": 4,
            "epsilon": None,
            "N": 2,
            "n": 2,
            "memory_size": None,
            "measured": (),
            "grad_g": 1.0,
        },
        "bridge_report": {"folders": []},
        "adaptive_study": {"problem": PROBLEM, "memory": MEMORY, "setting": None, "title": "it"},
        "forgetting_study": {"cases": [], "setting": None, "algorithms": ["c_flag"]},
        "task_study": {"sequence": sequence, "learners": [], "setting": None, "first_rounds": 1},
        "nqm_study": {"setting": None, "replicas": 2, **SEED, "grid": None, "searched": False},
        "estimate_constants": {"trace": trace, "lowest": 0.0},
        "sharp": {"lemmas": ["lemma13"], "n": [1], "local_steps": [2], "u": [1], "order": "worst", "pep": False},
        "sweep": {"file": "nowhere.toml", "out": "swept", "jobs": 1, "backend": "loky", "scheduler": None},
    },
    "conform": {
        "conform": {
            "algorithm": "fedavg",
            "client_step": lambda x, grad, lr, steps: x - lr * grad(x),
            "server_step": None,
            "round_step": None,
            "numbers": "exact",
            "problems": 1,
            "rounds": 1,
            "assume": (),
            "partial": False,
            **SEED,
            "parameters": None,
            "seconds": 1.0,
        },
        "conform_file": {"file": "nowhere.py", "algorithm": "fedavg", "seconds": 1.0, "problems": 1},
    },
    "testing": {
        "assert_claim": {"id": "cflag.lemma1", "trace": trace, "L": 1.0},
        "bound": {"id": "cflag.lemma1", "trace": trace, "L": 1.0, "m": 0.0},
        "client_weights": {"clients": 2},
        "memories": {"problem": PROBLEM, "m": 1.0, "exact": True},
        "participation": {"clients": 2, "rounds": 1},
        "problems": {"convexity": "convex", "L": 1, "mu": Fraction(1, 4), **SMALL},
        "sample_orders": {"problem": PROBLEM, "rounds": 1, "local_steps": 1},
        "step_sizes": {"condition": "cflag.thm5", "L": 1, "m": 0, "E": 1, "inside": True},
    },
}


def given(right):
    """The values, those that are made when they are needed made."""
    made = (trace, written, table, claim, refuted, sequence)
    return {name: one() if inspect.isfunction(one) and one in made else one for name, one in right.items()}
