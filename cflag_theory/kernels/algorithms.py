"""Algorithms as rows of data over one loop.

A local step of client i in round t moves against three terms,

    x_{k+1} = x_k - beta * (estimate_i(x_k) + u_i + W (x_k - x_t)),

and the server then sets x_{t+1} = x_t + server_rate * sum_i p_i (x_E^i - x_t) - alpha * grad_f_memory(x_t), the last
term only for rows with a memory step. What the paper prints instead, and rates that are adapted to the round, are
switches of a row (`server`, `adaptive`). A new algorithm is a new row; a new kind of estimate or of u_i is a new code
here and one branch in `reference` and in `cpu`.

Algorithms of the CFL framework fill the same three terms: past rounds as they are remembered add to the component
weights that the estimate draws from, to u_i or to W. `past` and `weights` of a row say how.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Annotated, Any

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.public import Count, NotNegative, Positive, Whole, one_of, require_fields

# How estimate_i(x_k) arises from the components of g_i.
FULL, STOCHASTIC, DELAYED = ESTIMATORS = ("full", "stochastic", "delayed")
# What u_i is: nothing, grad g(x_t) - grad g_i(x_t), or the control variates c - c_i of SCAFFOLD.
NONE, TRACKING, CONTROL = CORRECTIONS = ("none", "tracking", "control")

# What the server does: round update (24), or line 12 of Algorithm 1 with what line 2 of Algorithm 3 returns.
ROUND_UPDATE, PRINTED = SERVERS = ("round update", "printed")
# What a client keeps of a past local objective: nothing; all of it; its Taylor expansion with the full Hessian, the
# diagonal of the Hessian, or the diagonal of the empirical Fisher matrix; some components, by chance or by Algorithm 3.
NO_PAST, EXACT, TAYLOR, DIAGONAL, FISHER, CORE_SET, HERDING = PASTS = (
    "none",
    "exact",
    "taylor",
    "diagonal",
    "fisher",
    "core set",
    "herding",
)
# Where a Taylor expansion is taken: at the client's last local iterate (proof of Lemma B.3), or at x_t.
EXPANSIONS = ("client", "server")

# Rates after the local steps: constant; Table 1 in its two cases; Algorithm 3 line by line; one rate for all; one for
# each client that reckons with the others.
CONSTANT, AVERAGE, WORST, LITERAL, COMMON, INTERACTING = ADAPTIONS = (
    "none",
    "average",
    "worst",
    "printed",
    "server",
    "clients",
)

UNIFORM = RoundWeights("uniform")


@dataclass(frozen=True)
class Algorithm:
    """A row of settings that the simulation loop reads.

    Attributes
    ----------
    name : str
        For records; no result depends on it.
    estimator : str
        "full": grad g_i(x_k). "stochastic": the gradient of one sampled component. "delayed": the delayed gradient
        (5), full at k = 0 and with one sampled component refreshed at each k >= 1.
    correction : str
        "none", "tracking": grad g(x_t) - grad g_i(x_t), or "control": c - c_i with option II of SCAFFOLD,
        c_i <- c_i - c + (x_t - x_E^i) / (beta E) and c = sum_i p_i c_i, kept over the rounds; where S of N clients
        take part only their c_i change, which moves c by S / N of their mean change if all p_i are equal.
    proximal : number
        W.
    memory : bool
        Whether the server steps against grad_f_memory.
    server_rate : number
        Factor of the averaged displacement.
    server : str
        "round update": (24), as the analysis has it. "printed": line 12 of Algorithm 1 with line 2 of Algorithm 3,
        x_{t+1} = x_t - sum_i p_i (alpha grad_f_memory + x_E^i).
    adaptive : str
        Rates chosen after the local steps from a_i = sum_k delayed_{i,k} and Lambda_i = <grad_f_memory, a_i>; then
        x_{t+1} = x_t - sum_i p_i alpha_i grad_f_memory - sum_i p_i beta_i a_i. "none": alpha and beta. "average",
        "worst": Table 1, with beta_i = beta under interference; "worst" is Algorithm 3 repaired. "printed": Algorithm
        3 line by line, where line 4 gives beta a_i and line 14 adds E beta_i (grad g - grad g_i) to the step.
        "server": alpha, and for all clients the beta_i >= 0 that minimises Gamma for the given S. "clients": alpha,
        and beta_i of `formulas.interaction_rate`. The last two never raise Gamma of a round's step.
    past : str
        What a client keeps of its objectives from the earlier rounds in which it took part: "none"; "exact"; "taylor",
        "diagonal" or "fisher", quadratic models of App. C.1.2; "core set" or "herding", `core_set` components of that
        round's data, drawn uniformly or by Algorithm 3, in equal weights.
    weights : RoundWeights
        p_1, ..., p_t of (3), counted in rounds in which the client took part, the current one last.
    window : int, optional
        Number of past rounds to keep, the latest (40 in App. C.1.2), with the weights that `RoundWeights` gives for
        this window; default: the window of `weights`.
    core_set : int
        Components kept of a past round, for "core set" and "herding".
    expansion : str
        Where the quadratic models are taken: "client", its last local iterate (proof of Lemma B.3), or "server", x_t.
    information_loss : number
        I: every remembered gradient has an error, drawn once for the run, of mean I and variance I / 1000 in every
        coordinate (Sec. 5.1.1); by exactly I in exact runs and for drifts of the sign law.
    momentum : number
        gamma of MimeLite: a local step moves against (1 - gamma) times its usual direction plus gamma s; s is
        fixed in a round, and then (1 - gamma) times the mean over the clients of grad f_{t,i}(x_t) plus gamma s.
    """

    name: str
    estimator: Annotated[str, one_of(*ESTIMATORS)]
    correction: Annotated[str, one_of(*CORRECTIONS)] = NONE
    proximal: NotNegative = 0
    memory: bool = False
    server_rate: Positive = 1
    server: Annotated[str, one_of(*SERVERS)] = ROUND_UPDATE
    adaptive: Annotated[str, one_of(*ADAPTIONS)] = CONSTANT
    past: Annotated[str, one_of(*PASTS)] = NO_PAST
    weights: RoundWeights = UNIFORM
    window: Count | None = None
    core_set: Whole = 0
    expansion: Annotated[str, one_of(*EXPANSIONS)] = "client"
    information_loss: NotNegative = 0
    momentum: NotNegative = 0

    @property
    def classic(self) -> bool:
        """Whether the row neither remembers past rounds nor has momentum."""
        return self.past == NO_PAST and self.momentum == 0

    @property
    def tracks(self) -> bool:
        """Whether the row needs the gradients of all clients on fixed local data."""
        return self.memory or self.estimator == DELAYED or self.correction == TRACKING

    @property
    def own(self) -> dict[str, Any]:
        """What a record says about functions of the user; empty for a row of the table."""
        return {}

    def __post_init__(self) -> None:
        require_fields(self)
        if self.server == PRINTED and self.adaptive != CONSTANT:
            raise InvalidInput("the printed server update is that of constant rates: leave out server or adaptive")
        if (self.server == PRINTED or self.adaptive != CONSTANT) and (not self.memory or self.server_rate != 1):
            raise InvalidInput(
                "Algorithm 3 needs memory=True and server_rate=1: set them, or leave out server and adaptive"
            )
        self._check_past()

    def _check_past(self) -> None:
        if (self.core_set > 0) != (self.past in (CORE_SET, HERDING)):
            raise InvalidInput(
                f"core_set is {self.core_set} and past is {self.past!r}: a core set of at least 1 component goes with "
                "past='core set' or 'herding'"
            )
        if self.information_loss != 0 and self.past == NO_PAST:
            raise InvalidInput(f"information_loss is {self.information_loss} and nothing is remembered: set past")
        if self.momentum >= 1:
            raise InvalidInput(f"momentum is {self.momentum}: use a number from 0 to below 1")
        if not self.classic and self.tracks:
            raise InvalidInput(
                "past rounds and momentum go with no memory step, no tracking and no delayed gradients: leave out one"
            )


#: The rows that the simulation loop reads, by name.
ALGORITHMS = {
    row.name: row
    for row in (
        Algorithm("c_flag", DELAYED, TRACKING, memory=True),
        Algorithm("fedtrack", DELAYED, TRACKING),
        Algorithm("fedavg", STOCHASTIC),
        Algorithm("fedprox", STOCHASTIC, proximal=Fraction(1, 10)),
        Algorithm("scaffold", STOCHASTIC, CONTROL),
        Algorithm("local_gd", FULL),
        Algorithm("c_flag_printed", DELAYED, TRACKING, memory=True, server=PRINTED),
        Algorithm("c_flag_adaptive", DELAYED, TRACKING, memory=True, adaptive=WORST),
        Algorithm("c_flag_adaptive_printed", DELAYED, TRACKING, memory=True, adaptive=LITERAL),
        Algorithm("cfl", STOCHASTIC, past=EXACT),
        Algorithm("cfl_taylor", STOCHASTIC, past=TAYLOR),
        Algorithm("cfl_diagonal", STOCHASTIC, past=DIAGONAL),
        Algorithm("cfl_fisher", STOCHASTIC, past=FISHER),
        Algorithm("cfl_core_set", STOCHASTIC, past=CORE_SET, core_set=2),
        Algorithm("cfl_herding", STOCHASTIC, past=HERDING, core_set=2),
        Algorithm("mimelite", STOCHASTIC, momentum=Fraction(1, 10)),
    )
}


def algorithm(name: str, **overrides: Any) -> Algorithm:
    """Return the row of this name, with fields of `Algorithm` replaced by `overrides`."""
    if name not in ALGORITHMS:
        rows = f"use one of {', '.join(ALGORITHMS)}, or FILE.py:name for your own"
        raise UnknownName(f"algorithm {name!r} is unknown: {rows}")
    known = [field.name for field in fields(Algorithm)]
    for field in overrides:
        if field not in known:
            raise UnknownName(f"an algorithm has no field {field!r}: override one of {', '.join(known)}")
    return replace(ALGORITHMS[name], **overrides) if overrides else ALGORITHMS[name]


def row_as_dict(row: Algorithm) -> dict[str, Any]:
    """The row with its numbers as strings, for records."""
    numbers = ("proximal", "server_rate", "information_loss", "momentum")
    # Not `asdict`, which copies every value: a sweep writes a record for every one of its runs.
    record: dict[str, Any] = {key: str(value) if key in numbers else value for key, value in _plain(row).items()}
    weights = vars(row.weights)
    record["weights"] = weights | {key: str(weights[key]) for key in ("D2", "R2", "F2", "alpha")}
    if weights["given"] is not None:
        record["weights"]["given"] = [[str(value) for value in given] for given in weights["given"]]
    return record | row.own


def _plain(row: Algorithm) -> dict[str, Any]:
    """The fields that every row has."""
    values = vars(row)
    return values if type(row) is Algorithm else {key: values[key] for key in Algorithm.__dataclass_fields__}


def over_sqrt(c: Positive, rounds: Count) -> float:
    """The constant step size c / sqrt(T) of a run over `rounds` = T rounds.

    Raises
    ------
    InvalidInput
        c is not finite and positive, or there is no round.
    """
    return float(c) / math.sqrt(rounds)
