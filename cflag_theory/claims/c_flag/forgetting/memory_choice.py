"""(166) and (181): the set D* that is chosen to handle the randomness of the memory."""

from __future__ import annotations

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import draw, draws, omega, sequence, symbol
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Step

_lost = sequence("lost_of", r"\Delta_{@}", real=True)
_best = sequence("best_of", r"\Delta_{@|\mathcal{D}^*}", real=True)
_spread = sequence("spread_of", r"\omega_{@}^2", nonnegative=True)

#: Delta_{h~} = h~(x_0) - h~(x_T) of the run with one memory, and its mean over the memories.
lost = symbol("Delta_drawn", r"\Delta_{\tilde h}", _lost(draw), real=True)
lost_mean = symbol("Delta_mean", r"\mathbb{E}[\Delta_{\tilde h}]", draws(_lost(omega)), real=True)
#: The largest Delta_{h|D} over the sets D: with the x_T of that run, its mean, and with each run's own x_T.
best = symbol("Delta_best", r"\Delta_{h|D^*}", _best(draw), real=True)
best_mean = symbol("Delta_best_mean", r"\mathbb{E}[\Delta_{h|D^*}]", draws(_best(omega)), real=True)
largest = symbol("Delta_largest", r"\max_M\Delta_{h|D^*}", real=True)
omega2 = symbol("omega2_drawn", r"\omega^2", _spread(draw), nonnegative=True)
omega2_mean = symbol("omega2_mean", r"\mathbb{E}[\omega^2]", draws(_spread(omega)), nonnegative=True)
#: What stands before Delta and before omega^2 in (165) or (180).
first = symbol("first", r"\kappa", nonnegative=True)
second = symbol("second", r"\lambda", nonnegative=True)

OWN_RUN = Fact("(166)", at_most(lost, best), "D = M u C is one of the sets, for every memory M.", (draw,))
ALL_RUNS = Fact(
    "(166)", at_most(lost, largest), "D = M u C with the x_T of its run is one of the choices, for every M.", (draw,)
)
_MEAN: tuple[Step, ...] = (
    rules.at("any memory", draw, omega, given="(166)"),
    rules.mean("mean", draws, given="any memory"),
)


def _run() -> Part:
    left = first * lost_mean
    mended = shown(
        "kappa 𝔼_M[Delta_h~] <= kappa 𝔼_M[Delta_{h|D*}].",
        at_most(left, first * best_mean),
        *_MEAN,
        given=("mean",),
        under=(OWN_RUN,),
    )
    return Part(
        "run",
        Statement(
            "kappa 𝔼_M[Delta_h~] <= kappa Delta_{h|D*} for every draw of the memory, where D* has the largest "
            "h|_D(x_0) - h|_D(x_T) among all C in D in P u C for the x_T of that draw's run.",
            at_most(left, first * best),
            (OWN_RUN,),
        ),
        Repair("typo", "take the expectation of Delta_{h|D*} in (167) and (182)", mended),
        reading="D* is chosen along the run that is analysed: it and x_T depend on the memory",
    )


def _runs() -> Part:
    return Part(
        "runs",
        shown(
            "kappa 𝔼_M[Delta_h~] <= kappa max_M Delta_{h|D*}, the largest over the memories M and the sets C in D in P "
            "u C, with the x_T of the run with M.",
            at_most(first * lost_mean, first * largest),
            *_MEAN,
            given=("mean",),
            under=(ALL_RUNS,),
        ),
        reading="the argmax runs over the memories and their runs as well, so that D* is not random",
    )


def _omega() -> Part:
    left = first * lost_mean + second * omega2_mean
    mended = shown(
        "kappa 𝔼_M[Delta_h~] + lambda 𝔼_M[omega^2] <= kappa max_M Delta_{h|D*} + lambda 𝔼_M[omega^2].",
        at_most(left, first * largest + second * omega2_mean),
        *_MEAN,
        given=("mean",),
        under=(ALL_RUNS,),
    )
    return Part(
        "omega",
        Statement(
            "kappa 𝔼_M[Delta_h~] + lambda 𝔼_M[omega^2] <= kappa max_M Delta_{h|D*} + lambda omega^2 for every draw of "
            "the memory, with omega^2 of the memory that is drawn, as (75) defines it.",
            at_most(left, first * largest + second * omega2),
            (ALL_RUNS,),
        ),
        Repair("typo", "take the expectation of omega^2 in (167) and (182), or its largest value", mended),
    )


def eq166() -> Claim:
    """Whether D* bounds what depends on the memory in (165) and (180)."""
    return Claim(
        "cflag.eq166",
        "(166)-(167), (181)-(182)",
        "The choice of D* that handles the randomness",
        (_run(), _runs(), _omega()),
        (
            "kappa and lambda are what stands before Delta and omega^2 in (165), divided by T, or in (180); they are "
            "granted not to be negative, as alpha <= 1/L makes them in (180).",
            "As printed the expression that D* maximises has Delta_{h~}, in which there is no D. It is read as "
            "Delta_{h|D}, which (167) and (182) then have.",
            "The text names omega as what depends on the memory, but (166) and (181) choose D by Delta alone.",
            "In (167) and (182) O(.) hides constants, so that the instance stands against the step and not against the "
            "order in T.",
        ),
    )


CLAIMS = {"cflag.eq166": eq166}
