"""All claims by id, in paper order, and the standing assumptions of each paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import MappingProxyType

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.printed import of_part
from cflag_theory.errors import UnknownName

#: Folders with their modules: the papers' sections in order, then what we prove instead. Every module lists its claims
#: in `CLAIMS`, and in `RESUMES` those at which the paper comes back to it, with the claim that stands before each;
#: `verify.checks` has a module of the same name.
_SECTIONS = """
c_flag.problem                 objective assumptions similar update
c_flag.past_task               descent
c_flag.problem                 memory overfitting
c_flag.past_task               theorem2 averages
c_flag.union                   lemma3 surrogate
c_flag.forgetting              terms
c_flag.local_steps             iag lengths drift delayed sums
c_flag.forgetting              bounds memory_choice average
c_flag.past_task               theorem5
c_flag.adaptive                server rescaling clients client_rates lemmas algorithm3 division
c_flag                         published published_text
cfl.moments                    objectives gradient_noise
cfl.techniques                 norms summation sublinear chebyshev
cfl.moments                    information_loss
cfl.one_round                  progress local_drift recursion thresholds phi
cfl.weights                    independent
cfl.rates                      weighted_means bias theorems fedavg remarks comparison
cfl.moments                    correlated_drifts
cfl.rates                      correlated
cfl.weights                    correlated
cfl.rates                      table1
cfl.nonconvex                  descent local_drift progress rate observations
cfl.experiments                quadratic_model splitting reported
c_flag.past_task.ours          rates first_rounds bounded_gradients
c_flag.problem.ours            memory
c_flag.union.ours              rounds
c_flag.local_steps.ours        worst_path worst_sums worst_order worst_turns
c_flag.union.ours              rate
c_flag.forgetting.ours         step
c_flag.adaptive.ours           rates worst_case
cfl.nonconvex.ours             rate fedavg coefficient
cfl.techniques.ours            noise
cfl.one_round.ours             round largest_step nonexpansive
cfl.rates.ours                 strongly_convex general_convex lower_bounds decaying_fedavg
cfl.rates.ours                 sum_over_rounds time_drift online
cfl.weights.ours               correlated variance
cfl.experiments.ours           quadratic_model
"""

#: By paper, hypotheses that the field always makes or that are stated in passing; no verdict counts them as missing.
PREAMBLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "C-FLAG": (
            "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at least 1.",
            "grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6)).",
            "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
            "grad_f_memory - beta S.",
            "Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.",
        ),
        "CFL": (
            "The round weights p_{1,i}, ..., p_{t,i} sum to one (App. B.4.1), and are not negative unless the row is "
            "about their sign; step sizes are positive; N, S, K, T are at least 1.",
            "f(w) = 𝔼[f_{t,i}(w)], unless a part's reading is formulation (2), and grad f(w) = grad f_{t,i}(w) + "
            "delta_i + xi_{t,i} (5); Assumption 3 prints f(w) for its gradient. E is the expectation over all draws; "
            "at a fixed w drifts have mean zero, those of different rounds are independent (Remark 3.2), and so are "
            "client and time drifts (the proof of Lemma B.2; Assumption 3 does not say it).",
            "The noises of Assumption 2 have mean zero given the drifts and everything that came before them, and are "
            "independent between clients.",
            "eta = K eta_l eta_g (App. B.4.1), and N stands for the selected clients (footnote 3).",
            "w_{t,i,k} and w_{t,i,k-1}, which the paper's sums over k mix, are both read as w_{t,i,k-1}, the point of "
            "the k-th local gradient.",
        ),
    }
)

MODULES = tuple(
    import_module(f"{__package__}.{folder}.{name}")
    for folder, *names in map(str.split, _SECTIONS.strip().splitlines())
    for name in names
)
_BUILDERS: dict[str, Callable[[], Claim]] = {id: build for module in MODULES for id, build in module.CLAIMS.items()}


def _in_order() -> Iterator[str]:
    """Ids section by section; where the paper comes back to a section, the rest of it follows there."""
    begun: list[str] = []
    resumed: dict[str, list[str]] = {}
    for module in MODULES:
        run, before = begun, getattr(module, "RESUMES", {})
        for id in module.CLAIMS:
            run = resumed.setdefault(before[id], []) if id in before else run
            run.append(id)

    def walk(ids: Iterable[str]) -> Iterator[str]:
        for id in ids:
            yield id
            yield from walk(resumed.get(id, ()))

    return walk(begun)


#: Builders by id: the papers' in paper order, then our own.
LEDGER: dict[str, Callable[[], Claim]] = {
    id: _BUILDERS[id] for id in sorted(_in_order(), key=lambda id: id.startswith("ours."))
}


@cache
def claim(id: str) -> Claim:
    """The claim with this id.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest.
    """
    if id not in LEDGER:
        # Ids are often given without their paper: lemma13 for cflag.lemma13.
        bare = {one.partition(".")[2]: one for one in LEDGER}
        near = [one for name, one in bare.items() if name == id] or get_close_matches(id, LEDGER, n=3)
        near = near or [bare[name] for name in get_close_matches(id, bare, n=3)]
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownName(f"no claim is called {id!r}: {meant}cflag list names all")
    return LEDGER[id]()


def search(text: str = "") -> list[Claim]:
    """The claims, in ledger order, of which the id, the place, the title or the printed lines hold all these words."""
    words = text.lower().split()
    return [one for one in map(claim, LEDGER) if all(word in _searched(one.id) for word in words)]


@cache
def _searched(id: str) -> str:
    subject = claim(id)
    lines = (line.text for part in subject.parts for line in of_part(id, part.key))
    return " ".join((id, subject.paper, subject.where, subject.title, *lines)).lower()
