"""Algorithm 3 line by line, against Sec. 5, Table 1 and the round update (24).

Linear statements are stated for one coordinate; every coordinate is alike.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.adaptive.clients import MEMORY, Lambda_i, N, a, memory, memory_gradient, p_i, weight_of
from cflag_theory.claims.c_flag.adaptive.lemmas import N_T, over_T
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.c_flag.problem.update import MEAN_DRIFT, WEIGHTS, S, x, x_mean
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import E, L, alpha, beta, i, sequence, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm

__all__ = ["N_T", "Lambda_i", "N", "memory", "p_i"]

x_end = symbol("x_end", "x_{t,E}^i", real=True)
a_sum = symbol("a_i", r"\mathbf{a}_i", real=True)
# What lines 4 and 5 compute, as Algorithm 3 then uses it.
line_a2 = symbol("line_a2", r"{\|\mathbf{a}_i^{(4)}\|^2}", positive=True)
line_Lambda = symbol("line_Lambda", r"\Lambda_{t,i}^{(5)}", real=True)
norm2 = symbol("a_i2", r"{\|\mathbf{a}_i\|^2}", positive=True)
memory2 = symbol("grad_f_memory2", r"{\|\nabla f^\dagger(x_t)\|^2}", positive=True)
# Means over clients of the adapted rates times a vector's coordinate.
alpha_mean = symbol("alpha_mean", r"\sum_i p_i\alpha_{t,i}", real=True)
adapted = symbol("adapted", r"\sum_i p_i\beta_{t,i}\mathbf{a}_i", real=True)
correction = symbol("correction", r"\sum_i p_i\beta_{t,i}(\nabla g(x_t)-\nabla g_i(x_t))", real=True)
# Norms, for the bound on the step.
length = symbol("a_i_norm", r"{\|\mathbf{a}_i\|}", norm(a(client)))
_size_of = sequence("size_of_beta", r"|eta_{t,@}|", nonnegative=True)
abs_rate = symbol("abs_beta_i", r"|\beta_{t,i}|", _size_of(client))
abs_q = symbol("abs_q", r"|1-L\alpha|", nonnegative=True)
sign = symbol("sign_q", r"\mathrm{sign}(1-L\alpha)", real=True)
# The N_I clients with interference, after the N_T with transference; alpha_{t,j} is raised by a number >= 0.
N_I = symbol("N_I", r"N_{\mathrm{int}}", nonnegative=True, integer=True)
over_I = sum_over(i, N_I)
_member = sp.Symbol("member", integer=True, nonnegative=True)
_raised_by = sequence("raised_by", r"(lpha_{t,@}-lpha)", nonnegative=True)
_weight, _a = weight_of(N_T + i), a(N_T + i)
Lambda_j = symbol("Lambda_j", r"\Lambda_{t,j}", dot(memory_gradient, a(N_T + _member)))
length_j = symbol("a_j_norm", r"{\|\mathbf{a}_j\|}", norm(a(N_T + _member)))
alpha_j = symbol("alpha_j", r"\alpha_{t,j}", alpha + _raised_by(_member), real=True)
longest = symbol("a_max", r"\max_{\mathrm{int}}\|\mathbf{a}_i\|", nonnegative=True)
weight_I = symbol("weight_I", r"\sum_{\mathrm{int}} p_i", over_I(_weight))
# sum_int p_i (alpha_i - alpha), sum_tr p_i beta_i a_i and sum_int p_i a_i.
_raised = over_I(_weight * _raised_by(i))
_taken_T = over_T(weight_of(i) * _size_of(i) * a(i))
_signed_T = sign * _taken_T
_taken_I = over_I(_weight * _a)
_move = (alpha + _raised) * memory_gradient + _signed_T + beta * _taken_I
step = symbol("step_norm", r"{\|x_{t+1}-x_t\|}", norm(_move))
# The family on which the printed step has no bound.
K = symbol("K", "K", positive=True)
epsilon = symbol("epsilon", r"\epsilon", positive=True)

SEEN_NORM = Fact("line 4", equal(line_a2, beta**2 * norm2), "Line 4 computes beta a_i: cflag.alg3_line4.")
SEEN_PRODUCT = Fact("line 5", equal(line_Lambda, beta * Lambda_i), "Line 5 takes the product with beta a_i.")
TRANSFERENCE = Fact("transference", below(0, Lambda_i), "Lambda_{t,i} > 0, where the line applies.")
INTERFERENCE = Fact("interference", at_most(Lambda_i, 0), "Lambda_{t,i} <= 0, where the line applies.")
q = 1 - L * alpha
#: Which repairs of Algorithm 3 belong together.
_SETS = (
    "The repairs come in two sets: keep line 4 and repair lines 8 and 10; or divide line 4 by beta, have beta_{t,i} "
    "a_i in line 13, and leave lines 8 and 10 as printed."
)


def _one(id: str, where: str, title: str, part: Part, *notes: str) -> Claim:
    return Claim(id, f"Algorithm 3, {where}", title, (part,), notes)


def line2() -> Claim:
    """What is returned without adaptation, with line 12 of Algorithm 1."""
    target = x - alpha * update.grad_f_memory - beta * S
    mended = equal(x - (alpha * update.grad_f_memory + (x - x_mean)), target)
    repair = Repair(
        "typo",
        "return alpha grad_f_memory + x_t - x_{t,E}^i",
        shown("The same for alpha grad_f_memory + x_t - x_{t,E}^i.", mended, given=("(22)",), under=(MEAN_DRIFT,)),
    )
    printed = Statement(
        "Returning alpha grad_f_memory + x_{t,E}^i, line 12 of Algorithm 1 makes the round update (24).",
        equal(x - (alpha * update.grad_f_memory + x_mean), target),
        (MEAN_DRIFT,),
    )
    return _one(
        "cflag.alg3_line2",
        "line 2",
        "Returned update without adaptation",
        Part("1", printed, repair),
        "The simulation has both: the rows c_flag and c_flag_printed.",
    )


def line4() -> Claim:
    """Line 4 computes beta times the a_i of Sec. 5."""
    drift = Fact(
        "(20)",
        equal(x_end - x, -beta * E * (update.grad_g - update.grad_g_i) - beta * a_sum),
        "One client's drift (20), shown with cflag.eq22.",
    )
    computed = x - E * beta * (update.grad_g - update.grad_g_i) - x_end
    mended = equal(computed / beta, a_sum)
    repair = Repair(
        "typo",
        "divide by beta: the line computes beta a_i, and lines 5, 8 and 10 take it for a_i; then line 13 must read "
        "beta_{t,i} a_i",
        shown("Line 4 divided by beta is a_i.", mended, given=("(20)",), under=(drift,)),
    )
    printed = Statement(
        "a_i of line 4 is the a_i = sum_{k<E} grad g_i'(x_{t,k}^i) of Sec. 5.", equal(computed, a_sum), (drift,)
    )
    return _one(
        "cflag.alg3_line4",
        "line 4",
        "a_i of the algorithm and of Sec. 5",
        Part("1", printed, repair),
        "Line 13 as printed wants beta a_i: (beta_{t,i}/beta) beta a_i = beta_{t,i} a_i.",
        f"{_SETS} With either set line 14 is repaired too: cflag.alg3_line14.",
    )


def line8() -> Claim:
    """beta_i of line 8 is 1/beta times that of Table 1."""
    table = q * Lambda_i / (L * N * p_i * norm2)
    line = q * line_Lambda / (L * N * p_i * line_a2)
    goal = equal(beta * line, table)
    known = (SEEN_NORM, SEEN_PRODUCT)
    repair = Repair(
        "typo",
        "multiply by beta; not in addition to line 4's repair",
        shown(
            "beta times line 8 is beta_{t,i} of Table 1.",
            goal,
            given=("line 4", "line 5"),
            under=(TRANSFERENCE,),
            where=known,
        ),
    )
    printed = Statement(
        "beta_{t,i} of line 8 is that of Table 1, worst case, with a_i and Lambda_{t,i} of lines 4 and 5.",
        equal(line, table),
        (TRANSFERENCE,),
        None,
        known,
    )
    return _one(
        "cflag.alg3_line8",
        "line 8",
        "beta_i of the algorithm and of Table 1",
        Part("1", printed, repair),
        "Too large by 1/beta: with beta = c/sqrt(T) the step of a transferring client grows with sqrt(T).",
    )


def line10() -> Claim:
    """alpha_i of line 10 has beta Lambda_i in place of Lambda_i."""
    table = alpha * (1 - Lambda_i / memory2)
    goal = equal(alpha * (1 - line_Lambda / beta / memory2), table)
    repair = Repair(
        "typo",
        "divide Lambda_{t,i} of line 5 by beta; not in addition to line 4's repair",
        shown(
            "The same with Lambda_{t,i} / beta.", goal, given=("line 5",), under=(INTERFERENCE,), where=(SEEN_PRODUCT,)
        ),
    )
    printed = Statement(
        "alpha_{t,i} of line 10 is that of Table 1, with Lambda_{t,i} of line 5.",
        equal(alpha * (1 - line_Lambda / memory2), table),
        (INTERFERENCE,),
        None,
        (SEEN_PRODUCT,),
    )
    return _one(
        "cflag.alg3_line10",
        "line 10",
        "alpha_i of the algorithm and of Table 1",
        Part("1", printed, repair),
        "The rate that makes up exactly for what beta a_i takes along grad_f_memory is alpha - beta Lambda_i / "
        "||grad_f_memory||^2: with Lambda_i < 0 this is Table 1's only for beta = alpha, and the line's only for "
        "alpha = 1.",
    )


def line14() -> Claim:
    """The returned update: the step it makes, and whether that is bounded."""
    return Claim(
        "cflag.alg3_line14",
        "Algorithm 3, lines 13-14",
        "Returned update with adaptation",
        (_consistent(), _bounded()),
        (
            "With equal rates beta_{t,i} the extra term vanishes, and the step is (24).",
            "The paper says nothing of the step's length, which part bounded asks for.",
            f"{_SETS} Both sets make the same step.",
            "The simulation has both: the rows c_flag_adaptive and c_flag_adaptive_printed.",
        ),
    )


def _consistent() -> Part:
    target = x - alpha_mean * update.grad_f_memory - adapted
    mean_correction = beta * (update.total_weight * update.grad_g - update.grad_g_mean)
    goal = equal(target - E * mean_correction, target)
    of_g = Fact("g", equal(update.grad_g_mean, update.grad_g), "grad g = sum_i p_i grad g_i.")
    follows = Obligation("the statement follows", goal, ("weights", "g"))
    return Part(
        "consistent",
        Statement(
            "With line 12 of Algorithm 1 the returned update makes (24) with the adapted rates, x_{t+1} = x_t - sum_i "
            "p_i alpha_{t,i} grad_f_memory - sum_i p_i beta_{t,i} a_i.",
            equal(target - E * correction, target),
            (WEIGHTS,),
        ),
        Repair(
            "typo",
            "E beta (grad g - grad g_i) in place of E beta_{t,i} (grad g - grad g_i): only a_i is rescaled",
            Statement("The same with E beta (grad g - grad g_i).", goal, (WEIGHTS,), Proof((follows,)), (of_g,)),
        ),
    )


def _bounded() -> Part:
    grown = alpha + (1 - alpha) * (1 + epsilon) ** 2 / (4 * beta * epsilon)
    chosen = Fact("epsilon", equal(4 * beta * K * epsilon, 1 - alpha), "epsilon = (1 - alpha) / (4 beta K).")
    small = Fact("K", at_most(epsilon, 1), "K >= (1 - alpha) / (4 beta), so that epsilon <= 1.")
    rate = Fact("alpha", below(alpha, 1), "alpha < 1 = 1/L.")
    beyond = below(K, grown)
    refutation = shown(
        "N = 2, p_i = 1/2, E = 1, L = 1, f_i = x^2/2, x_t = 1, g_1 = epsilon x, g_2 = x, a memory of everything: no "
        "gradient at x_t is longer than 1, both clients transfer, and by lines 4-14 x_t - x_{t+1} = alpha + "
        "(1 - alpha)(1 + epsilon)^2 / (4 beta epsilon), which exceeds any K for small epsilon.",
        beyond,
        given=("epsilon",),
        under=(rate, chosen, small),
    )
    return Part(
        "bounded",
        Statement(
            "For given alpha, beta and E the step ||x_{t+1} - x_t|| of lines 4-14 is bounded in terms of a bound on "
            "the round's gradients.",
            None,
            (MEMORY,),
        ),
        Repair(
            "typo",
            "keep line 4, which computes beta a_i, and repair line 8, line 10 and the middle term of line 14",
            _step_bound(),
        ),
        refutation=refutation,
        unseen=FOR_NO_CONSTANT,
        kind="question",
    )


def _step_bound() -> Statement:
    """||x_{t+1} - x_t|| <= (alpha + |1 - L alpha| / L) ||grad_f_memory|| + (alpha + beta) max_int ||a_i||."""
    goal = at_most(step, (alpha + abs_q / L) * memory + (alpha + beta) * longest)
    definitions = (
        Fact(
            "T",
            equal(L * N * p_i * length**2 * abs_rate, abs_q * Lambda_i),
            "Table 1, a client with transference.",
            (client,),
        ),
        Fact(
            "I",
            equal(alpha_j * memory**2, alpha * (memory**2 - Lambda_j)),
            "Table 1, a client with interference.",
            (_member,),
        ),
        Fact("longest", at_most(length_j, longest), "For every client with interference.", (_member,)),
        Fact("a_i", below(0, length), "a_i is not zero, as Lambda_i > 0 implies.", (client,)),
        Fact("sign", equal(sign**2, 1), "beta_{t,i} under transference has the sign of 1 - L alpha."),
        Fact("kinds", equal(N, N_T + N_I), "Every client has transference or interference."),
        Fact("weights", at_most(weight_I, 1), "All weights sum to 1."),
    )
    share = at_most(p_i * abs_rate * length, abs_q * memory / (L * N))
    more = at_most((alpha_j - alpha) * memory, alpha * longest)
    taken = over_T(weight_of(i) * _size_of(i) * norm(a(i)))
    steps: tuple[Step, ...] = (
        rules.cauchy_schwarz("product", memory_gradient, a(client)),
        rules.cauchy_schwarz("its negative", -memory_gradient, a(N_T + _member)),
        Obligation("a T client", share, ("T", "product", "a_i")),
        rules.at("any T client", client, i, given="a T client"),
        rules.mean("sum over T", over_T, given="any T client"),
        Obligation("all T", at_most(taken, abs_q * memory / L), ("sum over T", "kinds")),
        Obligation("an I client's alpha", more, ("I", "its negative", "longest", "memory")),
        rules.at("any I client's alpha", _member, i, given="an I client's alpha"),
        rules.mean("all alpha", over_I, _weight, given="any I client's alpha"),
        rules.at("any I client", _member, i, given="longest"),
        rules.mean("all I", over_I, _weight, given="any I client"),
        rules.norm_of_mean("T together", over_T, weight_of(i) * _size_of(i) * a(i)),
        rules.norm_of_mean("I together", over_I, _weight * _a),
        rules.norm_squared("with sign", _signed_T),
        rules.norm_squared("without", _taken_T),
        Obligation("squares", at_most(norm(_signed_T) ** 2, norm(_taken_T) ** 2), ("with sign", "without", "sign")),
        rules.square_root("T part", norm(_signed_T), norm(_taken_T), given="squares"),
        rules.triangle("step", _move, alpha * memory_gradient, _raised * memory_gradient, _signed_T, beta * _taken_I),
        Obligation(
            "the statement follows",
            goal,
            ("step", "T part", "T together", "I together", "all T", "all alpha", "all I", "weights"),
        ),
    )
    return Statement(
        "||x_{t+1} - x_t|| <= (alpha + |1 - L alpha| / L) ||grad_f_memory|| + (alpha + beta) max_int ||a_i||, the "
        "maximum over the clients with interference; ||a_i|| is at most E times the longest delayed gradient.",
        goal,
        (MEMORY,),
        Proof(steps),
        definitions,
    )


CLAIMS = {
    "cflag.alg3_line2": line2,
    "cflag.alg3_line4": line4,
    "cflag.alg3_line8": line8,
    "cflag.alg3_line10": line10,
    "cflag.alg3_line14": line14,
}
