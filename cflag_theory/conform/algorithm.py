"""A reference: one algorithm as the two halves of a round, and the slips that are known to be made in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from cflag_theory.conform.case import ALL_CLIENTS, EQUAL_STEPS, EQUAL_WEIGHTS, SERVER_LR_1
from cflag_theory.conform.numbers import Vector
from cflag_theory.conform.views import Client, Server

#: Slips in what methods share: local steps, the server's average, and the average over some of the clients.
LOCAL = {
    "loss half": "the gradient is that of half the squared error (the factor 2 is missing)",
    "loss summed": "lr is multiplied by the number of samples (the loss is summed and not averaged)",
    "step missing": "one local step too few",
    "step extra": "one local step too many, on the first sample again",
    "stale local": "all local gradients are taken at x_t",
    "own start": "a client starts from its own last model and not from the server's",
}
UNEVEN = {
    "largest steps": "every client takes as many local steps as the client that takes most",
    "first steps": "every client takes as many local steps as the first one",
}
SERVER = {
    "unweighted": "the server averages with equal weights and not with p_i",
    "lr twice": "lr is applied twice, in the local step and at the server",
    "server lr missing": "the server's step size is not used",
    "server sum": "the server adds the clients' displacements and does not average them",
}
PARTIAL = {
    "not renormalised": "weights p_i are not renormalised over the clients that take part",
    "absent models": "the server averages the last models of absent clients too",
}

#: The mutant that leaves out what an assumption makes trivial.
LEFT_OUT = {EQUAL_WEIGHTS: "unweighted", SERVER_LR_1: "server lr missing", EQUAL_STEPS: "not normalised"}


class Algorithm:
    """A reference implementation; slips make it one of its mutants.

    `parameters` are its own numbers, with values that suit the cases. `client_state` and `server_state` are vectors
    that are kept, zero at first, by the names that `client_step` and `server_step` take and return; `outputs` what
    `client_step` returns besides x_i, in this order. `own_slips` are known slips in words, besides those that all
    share, and `places` says where a quantity is computed in the publication. `averages`: the server's step is
    `averaged`, with its slips. `assumes` is what of `case.ASSUMPTIONS` its source assumes: what code that never asks
    for it is not run on. `evolving`: data change with the rounds; `exact`: fractions can be used.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    parameters: ClassVar[dict[str, Any]] = {}
    client_state: ClassVar[tuple[str, ...]] = ()
    server_state: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[tuple[str, ...]] = ()
    own_slips: ClassVar[dict[str, str]] = {}
    places: ClassVar[dict[str, str]] = {"x_i": "the client's model", "x": "the server's mean"}
    averages: ClassVar[bool] = True
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1})
    evolving: ClassVar[bool] = False
    exact: ClassVar[bool] = True

    def __init__(self, *slips: str) -> None:
        self.made = slips

    @classmethod
    def slips(cls) -> dict[str, str]:
        """All slips of the catalogue that can be made here."""
        server = SERVER | ({} if ALL_CLIENTS in cls.assumes else PARTIAL) if cls.averages else {}
        return {**cls.own_slips, **LOCAL, **({} if EQUAL_STEPS in cls.assumes else UNEVEN), **server}

    def has(self, *slips: str) -> bool:
        """Whether this mutant makes one of these slips."""
        return any(slip in slips for slip in self.made)

    # What a subclass says.

    def initial(self, name: str, start: Vector) -> Vector:
        """What a kept vector is before the first round."""
        return 0 * start

    def keep(self, name: str, old: Vector, new: Vector) -> Vector:
        """What a client keeps of a vector that it returns."""
        return new

    def completed(self, returned: Mapping[str, Vector], before: Mapping[str, Vector]) -> dict[str, Vector]:
        """What a client returned, with what follows from it and from what the client had kept."""
        return dict(returned)

    def broadcast(self, at: Server) -> dict[str, Vector]:
        """What the server sends to its clients besides x and what it keeps."""
        return {}

    def prepare(self, at: Client) -> Any:
        """What a client computes before its local steps."""
        return None

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        """What local step k goes against at y."""
        return self.gradient(at, k, y)

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        """What a client returns besides its model y."""
        return {}

    def server(self, at: Server) -> dict[str, Vector]:
        """The server's new vectors."""
        return {"x": self.averaged(at)}

    # What all have in common.

    def gradient(self, at: Client, k: int, y: Vector) -> Vector:
        """The sampled gradient of step k."""
        value = at.grad(at.x if self.has("stale local") else y, k)
        if self.has("loss half"):
            return value / 2
        return value * at.n if self.has("loss summed") else value

    def client(self, at: Client) -> dict[str, Vector]:
        """The local steps y <- y - lr direction(y) from x."""
        prepared = self.prepare(at)
        y = at.state.get("own", at.x) if self.has("own start") else at.x
        steps = at.steps - self.has("step missing") + self.has("step extra")
        if self.has("largest steps", "first steps"):
            steps = max(at.all_steps) if self.has("largest steps") else at.all_steps[0]
        for k in range(steps):
            y = y - at.lr * self.direction(at, k, y, prepared)
        at.state["own"] = y
        return {"x_i": y, **self.finish(at, y, prepared)}

    def shares(self, at: Server) -> list[Any]:
        """Weights of the participants in a mean."""
        chosen = [at.weights[i] for i in at.participants]
        if self.has("unweighted"):
            return [Fraction(1, len(chosen))] * len(chosen)
        if self.has("server sum"):
            return [Fraction(1)] * len(chosen)
        return chosen if self.has("not renormalised") else [one / sum(chosen) for one in chosen]

    def mean(self, at: Server, vectors: Sequence[Vector]) -> Vector:
        """The weighted mean over the participants."""
        total = 0 * at.x
        for share, vector in zip(self.shares(at), vectors, strict=True):
            total = total + share * vector
        return total

    def averaged(self, at: Server) -> Vector:
        """x plus server_lr times the mean displacement."""
        moved = self.mean(at, at.deltas)
        if self.has("absent models"):
            last = at.state.setdefault("last", {})
            last.update(zip(at.participants, at.models, strict=True))
            moved = 0 * at.x
            for i, weight in enumerate(at.weights):
                moved = moved + weight * (last.get(i, at.x) - at.x)
        if self.has("lr twice"):
            moved = at.lr * moved
        return at.x + (moved if self.has("server lr missing") else at.server_lr * moved)
