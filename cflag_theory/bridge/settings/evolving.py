"""Methods for data that change from round to round: their options, and what the CFL paper omits.

Stated there (App. C.1): lr = 0.01; FedProx mu = 0.1; MimeLite gamma = 0.01; regularization 1 on the last layer, 0.1 on
the last block and none elsewhere, the latest 40; 100 samples of a data set in a core set, 50 to 100 generated ones;
210 subsets for 7 clients (Table 4: 300 for 10), 500 rounds (Table 4: 300); the mean of the five best evaluations.

Not said there and decided in this module and in `BY_DATA` and `DECIDED` below it:
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from cflag_theory.bridge.settings.options import NotNegative, Options, Positive
from cflag_theory.public import Count, Rule, one_of
from cflag_theory.reading import is_number

#: The protocol of the CFL paper.
ROUNDS = "rounds"
#: Those of Tables 4 to 7 and 9, in the order of Table 6.
CFL_NAMES = ("fedavg", "fedprox", "mimelite", "cfl_core", "cfl_reg", "cfl_reg_prox", "cfl_gen")
#: What needs clients that come again, with the reason: Table 8.
STATEFUL = MappingProxyType({"cfl_core": "a core set", "cfl_gen": "its generated samples"})
UNIFORM, HERDING = CHOICES = ("uniform", "herding")
HUTCHINSON, FISHER, SQUARED = HESSIANS = ("hutchinson", "fisher", "squared-gradient")
MEAN, SUM = COMBINES = ("mean", "sum")

DECIDED = (
    "Batch size and local epochs: 32 and 5.",
    "Seeds and how many: 1234, 1235, 1236; a deviation is that of the metric over them.",
    "beta of Algorithm 4, the Dirichlet parameter within a client: alpha, that among clients.",
    "p in Dirichlet(alpha, p): the classes' shares of what is split, so that the parameters are alpha p.",
    "Sizes of the core sets that Table 4 calls small and large: 50 and 150; elsewhere 100, which the text says.",
    "The last block of a ResNet: its last stage; of an mlp its last hidden layer.",
    "Where an expansion is taken: at the client's local model after its steps, on all its data of the round.",
    "What the latest 40 are: rounds, each with the mean of its clients' expansions, in equal weights that sum to one.",
    "Hutchinson's diagonals: one probe a round and client, and entries below zero become zero.",
    "MimeLite: gamma weighs the momentum in a step and the old momentum in the new one.",
    "MCMC: a kernel density's energy with width 0.5, 50 steps of eta = 0.1 with sigma = 0.05, 75 samples.",
    "When a pointer goes back: when less than a whole subset is left.",
    "Local steps are plain, and the server's rate is 1.",
)

_REAL: dict[str, Any] = {
    "protocol": ROUNDS,
    "tasks": 1,
    "clients": 7,
    "zeta": 0.1,
    "model": "resnet18",
    "heads": "list",
    "mode": "theory",
    "optimizer": "plain",
    "rounds": 500,
    "epochs": 5,
    "batch": 32,
    "lr": {"plain": 0.01, "adam": 1e-3},
    "methods": CFL_NAMES,
    "past_every": 0,
    "seeds": (1234, 1235, 1236),
    "threads": None,
    "export_models": True,
}
#: By data set what a run with protocol "rounds" has by default. Of digits there are 1442, 34 in a subset; their
#: numbers are ours.
BY_DATA: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "digits": _REAL
        | {"zeta": 1.0, "model": "mlp", "rounds": 60, "epochs": 2, "batch": 16, "lr": {"plain": 0.05, "adam": 1e-3}}
        | {"subsets": 6, "seeds": (1234, 1235, 1236, 1237, 1238), "threads": 1, "export_models": False}
        # In proportion to the subsets, as for CIFAR-10.
        | {"cfl_core": {"size": 14}, "cfl_gen": {"size": 11}},
        "fashion-mnist": _REAL | {"model": "mlp"},
        "cifar10": _REAL,
        "cifar100": _REAL,
        "tinyimagenet": _REAL,
    }
)


@dataclass(frozen=True, kw_only=True)
class ProxOptions(Options):
    """mu of FedProx."""

    mu: NotNegative = 0.1


_UP_TO_1 = Rule(lambda value: is_number(value) and 0 <= value <= 1, "a number from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class MimeOptions(Options):
    """gamma of MimeLite, below 1."""

    gamma: Annotated[float, _UP_TO_1] = 0.01


@dataclass(frozen=True, kw_only=True)
class TaylorOptions(Options):
    """CFL-Regularization."""

    #: The diagonal: estimated from products with random signs, as PyHessian does; the mean of single samples' squared
    #: gradients, as in EWC; or the square of the whole gradient, as the paper prints it.
    hessian: Annotated[str, one_of(*HESSIANS)] = HUTCHINSON
    #: Hutchinson's products a round and client.
    probes: Count = 1
    #: beta of the last layer, of the last block, and of the rest: with 1 everywhere it is the full version.
    last: NotNegative = 1.0
    block: NotNegative = 0.1
    rest: NotNegative = 0.0
    #: Rounds kept.
    keep: Count = 40
    #: Of the rounds kept.
    combine: Annotated[str, one_of(*COMBINES)] = MEAN


@dataclass(frozen=True, kw_only=True)
class RegProxOptions(TaylorOptions, ProxOptions):
    """CFL-Regularization + FedProx."""


@dataclass(frozen=True, kw_only=True)
class CoreSetOptions(Options):
    """How many samples of a data set are kept, and which: "uniform" or "herding"."""

    size: Count = 100
    choice: Annotated[str, one_of(*CHOICES)] = UNIFORM


@dataclass(frozen=True, kw_only=True)
class McmcOptions(Options):
    """How many samples of a data set are generated, in how many steps of rate eta with noise of deviation sigma, and
    the width of the kernel in deviations of a pixel."""

    size: Count = 75
    steps: Count = 50
    eta: Positive = 0.1
    sigma: NotNegative = 0.05
    width: Positive = 0.5


OPTIONS: Mapping[str, type] = MappingProxyType(
    {
        "fedprox": ProxOptions,
        "mimelite": MimeOptions,
        "cfl_core": CoreSetOptions,
        "cfl_reg": TaylorOptions,
        "cfl_reg_prox": RegProxOptions,
        "cfl_gen": McmcOptions,
    }
)
