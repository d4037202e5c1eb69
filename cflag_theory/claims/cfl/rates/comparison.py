"""What the text says of the printed rates: which terms are dominant, and that CFL is faster than FedAvg."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.rates.remarks import D2_R2, DENOMINATOR, limit
from cflag_theory.claims.cfl.rates.weighted_means import C
from cflag_theory.claims.cfl.symbols import D2, G2, R2, N
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation

#: L c_O/mu, which is at least 1, and L/mu.
first = symbol("left_out_first_term", r"\frac{L c_O}{\mu}", positive=True)
condition = symbol("left_out_condition_number", r"\frac{L}{\mu}", positive=True)
inverse = symbol("left_out_inverse_mu_epsilon", r"\frac{1}{\mu\epsilon}", positive=True)
#: sigma^2/(mu K epsilon), N times the term in sigma of the bracket.
noise = symbol("left_out_noise_of_one_client", r"\frac{\sigma^2}{\mu K\epsilon}", nonnegative=True)
drift_root = symbol("left_out_drift_root", r"\sqrt{\frac{c_B}{\mu\epsilon}}", nonnegative=True)
bias_root = symbol("left_out_bias_root", r"\sqrt{\frac{L c_A}{\mu^2\epsilon}}", nonnegative=True)
noise_root = symbol("left_out_noise_root", r"\sqrt{\frac{L\sigma^2}{\mu^2K\epsilon}}", nonnegative=True)
inverse_root = symbol("inverse_root", r"\epsilon^{-1/2}", positive=True)
root_N = symbol("left_out_root_of_clients", r"\sqrt{N}", positive=True, integer=True)

c_A = G2 + limit(D2, D2_R2)
c_B = D2**3 / D2_R2**2
BRACKET = first + noise / N + inverse * c_A
_FIRST = Fact("L >= mu", at_most(condition, first), "c_O >= 1.")
_ONE = Fact("L/mu", at_most(1, condition), "mu <= L.")


def _drift(excess: Any) -> Part:
    root = Fact("root", equal(drift_root**2, inverse * c_B), "The square of the term.")
    alike = Fact("D <= R", at_most(D2, R2), "D <= R.")
    chosen = Fact("epsilon", equal(inverse_root, C + excess), f"1/sqrt(epsilon) = C + {excess}.")
    squares = at_most(drift_root**2, inverse * limit(D2, D2_R2))
    goal = at_most(drift_root, BRACKET)
    mended = shown(
        "For D <= R: (c_B/(mu epsilon))^{1/2} is at most the bracket of Theorem 4.1.",
        goal,
        Obligation("share", at_most(c_B, limit(D2, D2_R2)), ("D <= R", "D^2 + R^2")),
        Obligation("squares", squares, ("root", "share")),
        given=("squares", "L >= mu", "L/mu"),
        under=(alike,),
        where=(DENOMINATOR, root, _FIRST, _ONE),
    )
    family = shown(
        "L = mu = D = 1 and R = G = sigma = A = B = 0: the bracket of Theorem 4.1 is 1 for every epsilon, and "
        "(c_B/(mu epsilon))^{1/2} = 1/sqrt(epsilon), which exceeds every C as epsilon goes to 0.",
        below(C, inverse_root),
        given=("epsilon",),
        where=(chosen,),
    )
    return Part(
        "drift",
        Statement(
            "(c_B/(mu epsilon))^{1/2} of Theorem B.5, strongly convex, which Theorem 4.1 leaves out, is at most C "
            "times the bracket of Theorem 4.1.",
            None,
        ),
        Repair("needs-hypothesis", "R >= D: the information loss is allowed to be as large as the time drifts", mended),
        refutation=family,
        unseen=FOR_NO_CONSTANT,
    )


def _loss() -> Part:
    square = Fact("root", equal(bias_root**2, condition * inverse * c_A), "The square of the term.")
    goal = at_most(bias_root, BRACKET / 2)
    total = condition + inverse * c_A
    return Part(
        "variance",
        shown(
            "(L c_A/(mu^2 epsilon))^{1/2}, the share of c_A in (c_C/(mu^2 epsilon))^{1/2} with eta_g = 1, is at most "
            "half the bracket of Theorem 4.1; Theorem 4.4 and B.6 alike, with R to infinity.",
            goal,
            Obligation("squares", at_most(bias_root**2, (total / 2) ** 2), ("root",)),
            rules.square_root("roots", bias_root, total / 2, given="squares"),
            given=("roots", "L >= mu"),
            where=(DENOMINATOR, square, _FIRST),
        ),
    )


def _noise(excess: Any) -> tuple[Part, Part]:
    words = (
        "(L sigma^2/(mu^2 K epsilon))^{1/2}, the share of sigma in (c_C/(mu^2 epsilon))^{1/2} with eta_g = 1, is at "
        "most FACTOR times the bracket of Theorem 4.1 or 4.4."
    )
    square = Fact("root", equal(noise_root**2, condition * noise), "The square of the term.")
    clients = Fact("N", equal(root_N**2, N), "The root of N.")
    total = condition + noise / N
    goal = at_most(noise_root, root_N / 2 * BRACKET)
    fixed = shown(
        words.replace("FACTOR", "sqrt(N)/2"),
        goal,
        Obligation("squares", at_most(noise_root**2, (root_N / 2 * total) ** 2), ("root", "N")),
        rules.square_root("roots", noise_root, root_N / 2 * total, given="squares"),
        given=("roots", "L >= mu"),
        where=(DENOMINATOR, square, clients, _FIRST),
    )
    many = Fact("N", equal(root_N, 2 * C + excess), f"sqrt(N) = 2 C + {excess}; C may be a whole number.")
    family = shown(
        "L = mu = K = 1, A = B = G = D = 0, sigma^2 = N epsilon with N a square: the brackets of Theorems 4.1 and 4.4 "
        "are 1 + 1, and the term is sqrt(N), which exceeds 2 C for many clients.",
        below(2 * C, root_N),
        given=("N",),
        where=(many,),
    )
    return (
        Part(
            "noise",
            Statement(words.replace("FACTOR", "C"), None),
            refutation=family,
            unseen=FOR_NO_CONSTANT,
            reading="one C for every N",
        ),
        Part("noise_N", fixed, reading="C may depend on N"),
    )


def dominant(excess: Any = 1) -> Claim:
    """The remark after Theorem 4.4; `excess` chooses the families."""
    return Claim(
        "cfl.dominant",
        "Sec. 4.2, after Theorem 4.4",
        "The terms that Theorems 4.1 and 4.4 leave out are dominated",
        (_drift(excess), _loss(), *_noise(excess)),
        (
            "About the printed brackets, not about runs; whether the brackets are rates is decided in cfl.sc_rate and "
            "cfl.fedavg_rates. C is one constant for all problems and every epsilon.",
            "Part drift fails for one fixed problem too, as epsilon goes to 0: where G = sigma = R = 0 nothing in "
            "Theorem 4.1 grows. With G, sigma or D R positive and fixed, 1/epsilon is of higher order than "
            "1/sqrt(epsilon), with a constant that grows as they fall.",
            "The repair for every R is to keep the term: (c_D/(mu^2 epsilon))^{1/3} is then dominated, as the weighted "
            "means of L/mu and (c_B/(mu epsilon))^{1/2} show.",
            "Part noise: sigma^2/K in c_C is not divided by N, and the bracket's sigma^2/(N K) is. The term decides "
            "where N exceeds the rounds that the bracket counts.",
            "General convex: (c_B H)^{1/2}/epsilon and (c_D H^2)^{1/3}/epsilon are of the order 1/epsilon, as c_O "
            "H/epsilon is; which is larger depends on D, L and H.",
        ),
    )


CLAIMS = {"cfl.dominant": dominant}
