"""What the text says of the printed rates: which terms are dominant, and that CFL is faster than FedAvg."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.nonconvex.rate import c_R1, shares
from cflag_theory.claims.cfl.rates.remarks import D2_R2, DENOMINATOR, G2_D2_R2, limit
from cflag_theory.claims.cfl.rates.theorems import eps
from cflag_theory.claims.cfl.rates.weighted_means import C, phi
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, sigma2
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


# Both methods' noise with sigma: what stands before 1/(mu epsilon), or before H/epsilon^2.
shared_noise = sigma2 / (N * K)
_CFL, _FEDAVG = c_A + shared_noise, G2 + D2 + shared_noise
left = symbol("accuracy_left", r"(\epsilon-\varphi)", positive=True)
fall = symbol("fall_of_variance", r"\frac{D^4}{D^2+R^2}", nonnegative=True)


def _same_error(share: Any) -> Part:
    """Theorem 4.1 promises epsilon + phi: for the error epsilon its accuracy must be epsilon - phi."""
    goal = at_most(_CFL / left, _FEDAVG / eps)
    words = (
        "For an expected error epsilon > phi the strongly convex bracket of Theorem 4.1, whose accuracy is then "
        "epsilon - phi, is at most that of Theorem 4.4; the first terms are the same and are left out, and so is 1/mu"
    )
    accuracy = Fact("epsilon - phi", equal(left, eps - phi), "What is left of epsilon.")
    fallen = Fact("fall", equal(fall * D2_R2, D2**2), "D^4/(D^2 + R^2) = G^2 + D^2 - c_A.")
    coarse = Fact(
        "coarse",
        at_most(phi * _FEDAVG, share * eps * fall),
        "epsilon >= phi (G^2 + D^2 + sigma^2/(N K)) (D^2 + R^2)/D^4.",
    )
    mended = shown(
        f"{words}, where epsilon >= phi (G^2 + D^2 + sigma^2/(N K)) (D^2 + R^2)/D^4.",
        goal,
        Obligation("difference", equal(_FEDAVG - _CFL, fall), ("fall", "D^2 + R^2")),
        Obligation("cleared", at_most(_CFL * eps, _FEDAVG * left), ("difference", "coarse", "epsilon - phi")),
        given=("cleared",),
        under=(coarse,),
        where=(DENOMINATOR, accuracy, fallen),
    )
    return Part(
        "error",
        Statement(f"{words}.", goal, definitions=(DENOMINATOR, accuracy)),
        Repair(
            "needs-hypothesis",
            "an error epsilon of at least phi (G^2 + D^2 + sigma^2/(N K)) (D^2 + R^2)/D^4; every epsilon if R = 0",
            mended,
        ),
        reading="both methods to the same expected error",
    )


def _non_convex() -> Part:
    share = Fact("share", equal(shares * (R2 + D2), R2), "R^2/(R^2 + D^2).")
    name = Fact("c_R1", equal(c_R1, shares), "c_R1 of Theorem 4.1.")
    small = Fact("D", below(0, D2), "D > 0.")
    words = "Non-convex: where Theorem 4.4 has sqrt(K N)/L times 1, Theorem 4.1 has sqrt(K N)/L times"
    return Part(
        "nonconvex",
        Statement(f"{words} R^2/(R^2 + D^2).", equal(c_R1**2, shares), (small,), definitions=(share, name)),
        Repair(
            "typo",
            "the square of R^2/(R^2 + D^2), as Theorem 4.1 prints it",
            shown(
                f"{words} (R^2/(R^2 + D^2))^2.",
                equal(c_R1**2, shares**2),
                given=("c_R1",),
                under=(small,),
                where=(share, name),
            ),
        ),
    )


def faster(share: Any = 1) -> Claim:
    """Remark 4.6; `share` scales the fall of the variance in the condition on epsilon."""
    printed = shown(
        "The coefficient G^2 + D^2 R^2/(R^2 + D^2) of Theorem 4.1, convex, is at most the G^2 + D^2 of Theorem 4.4.",
        at_most(c_A, G2 + D2),
        given=("D^2 + R^2",),
        where=(DENOMINATOR,),
    )
    return Claim(
        "cfl.faster",
        "Abstract, Sec. 4, Remark 4.6",
        "CFL converges faster than FedAvg",
        (
            Part("coefficient", printed, reading="CFL to epsilon + phi, FedAvg to epsilon"),
            _same_error(share),
            _non_convex(),
        ),
        (
            "About the printed brackets. That they are no rates, for clients that stay, is cfl.sc_rate, cfl.gc_rate, "
            "cfl.nc_rate and cfl.fedavg_rates. A smaller upper bound shows no faster method.",
            "The coefficient falls by D^4/(D^2 + R^2), which is 0 only for D = 0.",
            "Part error: for epsilon <= phi Theorem 4.1 promises nothing, and Theorem 4.4 a number of rounds. In the "
            "general convex bracket (epsilon - phi)^2 stands for epsilon^2, and the range of epsilon is smaller still.",
            "That the loss counts is said in the text: the benefit depends on the approximation, and phi trades it "
            "off. What R costs and what the past rounds gain: ours.cfl_strongly_convex and ours.cfl_time_drift. On the "
            "quadratic model FedAvg with decaying steps takes CFL's steps: ours.cfl_nqm_decaying.",
            "Part nonconvex: Theorem B.5 has c_R1 without the square, and neither is what (32) gives: cfl.nc_rate, "
            "parts 2, 3 and 1c.",
        ),
    )


drift_term = symbol("rem_drift_root", r"\sqrt{c_B/\mu}", nonnegative=True)
stateless_term = symbol("rem_stateless_root", r"\sqrt{c_B'/\mu}", nonnegative=True)


def rem4_4_2022(weight: Any = 1) -> Claim:
    """Remark 4.4 of the version of 2022; `weight` scales the stateless root."""
    total = G2 + D2
    goal = at_most(total * R2 / G2_D2_R2 + weight * stateless_term, c_A + drift_term)
    own = Fact("c_B", equal(drift_term**2, c_B), "c_B = D^6/(R^2 + D^2)^2, and mu = 1.")
    stateless = Fact("c_B'", equal(stateless_term**2, total**3 / G2_D2_R2**2), "G^2 + D^2 for D^2, and mu = 1.")
    both = Fact("G^2 + D^2 + R^2", equal(G2_D2_R2, G2 + D2_R2), "As it says.")
    return Claim(
        "cfl.rem4_4_2022",
        "Version of 2022, Remark 4.4",
        "Tighter bounds without state, with the root of c_B",
        (
            Part(
                "1",
                Statement(
                    "mu = 1: c_A' + (c_B'/mu)^{1/2} <= c_A + (c_B/mu)^{1/2}, with G^2 + D^2 in place of D^2, and "
                    "without G^2, in c_A' and c_B'.",
                    goal,
                    definitions=(DENOMINATOR, both, own, stateless),
                ),
            ),
        ),
        (
            "The text at hand is damaged here; at mu = 1 it does not matter where mu stands.",
            "The first terms alone satisfy it, which is what the later version says: cfl.prop4_3, part 1. For R = 0 "
            "the sum grows from G^2 + D to sqrt(G^2 + D^2), if G is small against 1.",
        ),
    )


#: Terms of FedAvg in Table 1 of 2022, before 1/(mu sqrt(epsilon)), and the root of c_C with L = eta_g = 1.
noise_part = symbol("table_2022_noise", r"\sqrt{\sigma^2/K}", nonnegative=True)
G, D = (symbol(f"table_2022_{name}", name, nonnegative=True) for name in "GD")
root_C = symbol("table_2022_root", r"\sqrt{c_C}", nonnegative=True)


def table1_2022(most: Any = 2) -> Claim:
    """Table 1 of 2022 against Theorem 4.5 of 2022, FedAvg; `most` is the factor of part "upper"."""
    square = Fact("c_C", equal(root_C**2, noise_part**2 + G**2 + D**2), "c_C = sigma^2/K + G^2 + D^2: L = eta_g = 1.")
    entry = noise_part + G + D

    def part(key: str, words: str, small: Any, large: Any) -> Part:
        return Part(
            key,
            shown(
                words,
                at_most(small, large),
                Obligation("squares", at_most(small**2, large**2), ("c_C",)),
                rules.square_root("roots", small, large, given="squares"),
                given=("roots",),
                where=(square,),
            ),
        )

    term = "(sigma/sqrt(K) + G + D)/(mu sqrt(epsilon)), FedAvg's term in Table 1, strongly convex,"
    theorem = "(c_C/(mu^2 epsilon))^{1/2} of Theorem 4.5"
    return Claim(
        "cfl.table1_2022",
        "Version of 2022, Table 1",
        "FedAvg's term in the root of the error, and Theorem 4.5",
        (
            part("upper", f"{term} is at most {most} times {theorem}.", entry, most * root_C),
            part("lower", f"{term} is at least {theorem}.", root_C, entry),
        ),
        (
            "The later version leaves the term out, in the table and in Theorem 4.4: cfl.dominant. The text at hand is "
            "damaged in our entries for CL and CFL, which cannot be compared; the general convex entry has the same "
            "three parts.",
        ),
    )


CLAIMS = {
    "cfl.dominant": dominant,
    "cfl.faster": faster,
    "cfl.rem4_4_2022": rem4_4_2022,
    "cfl.table1_2022": table1_2022,
}
