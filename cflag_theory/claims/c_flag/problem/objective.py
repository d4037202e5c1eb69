"""The objective and the delayed gradient: (3), (5) and the cost of (5)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.update import delayed
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import E, clients, i, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, by_induction


# (3): values at one x; sizes of the data sets, in all and of one client.
def of_client(name: str, latex: str, **assumptions: bool) -> tuple[sp.Symbol, Any]:
    """A number of any client as a symbol, and as a function of the client."""
    number = sp.Function(f"{name}_of", **assumptions)
    return symbol(name, latex, number(client), **assumptions), number


h_i, h_of = of_client("h_i", "h_i(x)", real=True)
f_i, f_of = of_client("f_i", "f_i(x)", real=True)
g_i, g_of = of_client("g_i", "g_i(x)", real=True)
past_i, past_of = of_client("past_i", r"{|\mathcal{P}^i|}", positive=True)
current_i, current_of = of_client("current_i", r"{|\mathcal{C}^i|}", positive=True)
h, f, g = (
    symbol(name, f"{name}(x)", clients(of(i)), real=True) for name, of in (("h", h_of), ("f", f_of), ("g", g_of))
)
past = symbol("past", r"{|\mathcal{P}|}", positive=True)
current = symbol("current", r"{|\mathcal{C}|}", positive=True)

# (5): gradients of the toy example's components at the local iterates, one coordinate, and at x_0.
grad_c = tuple(sequence(f"grad_c{j}", rf"\nabla g_{{i,c_{j}}}(x_{{t,@}}^i)", real=True) for j in (1, 2, 3))
grad_c_initial = tuple(symbol(f"grad_c{j}_initial", rf"\nabla g_{{i,c_{j}}}(x_0)", real=True) for j in (1, 2, 3))
grad_g_i = symbol("grad_g_i_start", r"\nabla g_i(x_t)", real=True)

# The cost: evaluations(k) component gradients have been evaluated after local step k of a round.
n = symbol("n", r"{|\mathcal{C}^i|}", positive=True, integer=True)
cost = symbol("cost", r"\mathrm{evaluations}", nonnegative=True, integer=True)
evaluations = sequence("evaluations", r"\mathrm{evaluations}_{@}", nonnegative=True)


def decomposed(value_f: sp.Expr, value_g: sp.Expr) -> sp.Expr:
    """The right side of (3)."""
    return (past * value_f + current * value_g) / (past + current)


def eq3() -> Claim:
    """(3) against (2) and the definitions of f and g below it."""
    mean_loss = Fact(
        "h_i",
        equal((past_i + current_i) * h_i, past_i * f_i + current_i * g_i),
        "h_i is the mean loss over P^i and C^i, f_i over P^i, g_i over C^i.",
        forall=(client,),
    )
    shares = Fact(
        "equal shares",
        equal(past_i * current, current_i * past),
        "|P^i| / |C^i| is |P| / |C| at every client.",
        forall=(client,),
    )
    goal = equal(h, decomposed(f, g))
    words = "h(x) = |P| / (|P| + |C|) f(x) + |C| / (|P| + |C|) g(x)"
    printed = Statement(
        words + ", with h = sum p_i h_i, f = sum p_i f_i and g = sum p_i g_i.",
        goal,
        definitions=(mean_loss,),
    )
    mended = shown(
        words + ", when all clients have the same share of past data.",
        goal,
        Obligation(
            "one client",
            equal(h_i, decomposed(f_i, g_i)),
            ("h_i", "equal shares"),
            (residual("equal shares") * (g_i - f_i) / (past + current) - residual("h_i")) / (past_i + current_i),
        ),
        rules.at("any client", client, i, given="one client"),
        rules.mean("clients", clients, given="any client"),
        given=("clients",),
        under=(shares,),
        where=(mean_loss,),
    )
    repair = Repair(
        "needs-hypothesis",
        "every client must have the same share of past data, |P^i| / |C^i| = |P| / |C|: the p_i weigh clients, the "
        "printed factors weigh all data at once",
        mended,
    )
    return Claim(
        "cflag.eq3",
        "(3)",
        "h as a weighted sum of f and g",
        (Part("1", printed, repair),),
        (
            "A local loss is read as the mean over its data, as the supplement prints it for g_i. With sums in place "
            "of means h = f + g, and (3) fails for all sizes.",
            "Weights p_i in proportion to the clients' amounts of data do not help; what is true then, and the exact "
            "remainder for any weights, is ours.eq3.",
        ),
    )


def _mean(*gradients: sp.Expr) -> sp.Expr:
    return sp.Add(*gradients) / 3


def eq5() -> Claim:
    """The delayed gradient of the toy example at k = 0, 1 and 2."""
    c1, c2, c3 = grad_c
    full = Fact(
        "k = 0", equal(delayed(0), grad_g_i), "At k = 0 the client computes its full gradient at x_{t,0} = x_t."
    )
    local = Fact("g_i", equal(3 * grad_g_i, c1(0) + c2(0) + c3(0)), "g_i is the mean of its three components.")
    first = Fact(
        "k = 1",
        equal(delayed(1), delayed(0) + (c1(1) - c1(0)) / 3),
        "At k = 1 the gradient of c_1 at x_{t,1} replaces the one at x_{t,0}.",
    )
    second = Fact(
        "k = 2",
        equal(delayed(2), delayed(1) + (c3(2) - c3(0)) / 3),
        "At k = 2 the gradient of c_3 at x_{t,2} replaces the one at x_{t,0}.",
    )
    start = equal(delayed(0), _mean(c1(0), c2(0), c3(0)))
    after_one = equal(delayed(1), _mean(c1(1), c2(0), c3(0)))
    after_two = equal(delayed(2), _mean(c1(1), c2(0), c3(2)))
    zero = Obligation("full gradient", start, ("k = 0", "g_i"))
    one = Obligation("one refreshed", after_one, ("k = 1", "full gradient"))
    two = Obligation("two refreshed", after_two, ("k = 2", "one refreshed"))
    here = "(grad c_1(x_{t,1}) + grad c_2(x_{t,0}) + grad c_3(x_{t,2})) / 3"
    parts = (
        Part(
            "1",
            Statement(
                "At k = 0 the delayed gradient is the mean of grad c_j(x_0), where x_0 is the initial model.",
                equal(delayed(0), _mean(*grad_c_initial)),
            ),
            Repair(
                "typo",
                "x_t (that is x_{t,0}^i) in place of x_0, which is the initial model and equals x_t at t = 0 only",
                Statement(
                    "At k = 0 the delayed gradient is the mean of grad c_j(x_{t,0}).",
                    start,
                    proof=Proof((zero,)),
                    definitions=(full, local),
                ),
            ),
        ),
        Part(
            "2",
            Statement(
                "At k = 1 it is (grad c_1(x_{t,1}) + grad c_2(x_{t,0}) + grad c_3(x_{t,0})) / 3.",
                after_one,
                proof=Proof((zero, one)),
                definitions=(full, local, first),
            ),
        ),
        Part(
            "3",
            Statement(f"At k = 2 the text prints grad g_i'(x_{{t,1}}) = {here}.", equal(delayed(1), after_two.right)),
            Repair(
                "typo",
                "x_{t,2}^i in place of x_{t,1}^i on the left",
                Statement(
                    f"At k = 2, grad g_i'(x_{{t,2}}) = {here}.",
                    after_two,
                    proof=Proof((zero, one, two)),
                    definitions=(full, local, first, second),
                ),
            ),
        ),
    )
    return Claim(
        "cflag.eq5",
        "(5) and the toy example",
        "The delayed gradient step by step",
        parts,
        (
            "(5) itself is a definition: tau_{k,j} is the last local step at which component j was evaluated, 0 at "
            "first. The kernels keep the mean and replace one term of it; the proofs start from that.",
            "Other slips of the example change no value: tau_{t,j} for tau_{k,j}, d_1 for c_1, x_1^i for x_{t,1}^i; "
            "Table 4 calls j the k-th data point.",
        ),
    )


def iag_cost() -> Claim:
    """How many component gradients a client evaluates in a round."""
    full = Fact("k = 0", equal(evaluations(0), n), "At k = 0 all n gradients are evaluated.")
    single = Fact(
        "k >= 1", equal(evaluations(k + 1), evaluations(k) + 1), "At each later step one gradient is evaluated."
    )
    whole = Fact("cost", equal(cost, evaluations(E - 1)), "The cost of a round is what its E local steps evaluate.")
    counted = equal(cost, n + E - 1)
    count = (
        by_induction("steps", k, equal(evaluations(k), n + k), start=("k = 0",), given=("k >= 1",)),
        Instance("last step", "steps", k, E - 1),
        Obligation("count", counted, ("cost", "last step")),
    )
    several = (
        Fact("n", at_most(2, n), "The client has at least two current components."),
        Fact("E", at_most(2, E), "There are at least two local steps."),
    )
    saves = below(cost, n * E)
    saving = Obligation("the statement follows", saves, ("count", "n", "E"))
    parts = (
        Part(
            "1",
            Statement(
                "With all n = |C^i| gradients at k = 0 and one at each k >= 1, a client evaluates n + E - 1 component "
                "gradients in a round.",
                counted,
                proof=Proof(count),
                definitions=(full, single, whole),
            ),
        ),
        Part(
            "2",
            Statement(
                "Delayed gradients decrease the number of component gradients evaluated, from n E with full local "
                "gradients, for all n and E.",
                saves,
            ),
            Repair(
                "needs-hypothesis",
                "n >= 2 and E >= 2; the saving is (n - 1)(E - 1), nothing at E = 1 or n = 1",
                Statement(
                    "The cost is below n E when n >= 2 and E >= 2.",
                    saves,
                    several,
                    Proof((*count, saving)),
                    (full, single, whole),
                ),
            ),
            kind="question",
        ),
    )
    return Claim(
        "cflag.iag_cost",
        "Sec. 3, text after (5)",
        "Component gradients evaluated by IAG",
        parts,
        (
            "Part 1 is the count that the two sentences after (5) give. The paper says that the cost decreases, and "
            "not for which n and E: that is part 2.",
            "The cost relative to full local gradients is 1/E + 1/n - 1/(nE), never below 1/E: at E = 2 more than "
            "half of the cost remains. The word 'drastically' needs large n and E.",
            "Counted once, the full gradient of line 2 of Algorithm 1 is the one at k = 0; evaluated again it costs n "
            "more. The memory gradient adds |M^i| a round, and the table holds n vectors.",
        ),
    )


CLAIMS = {"cflag.eq3": eq3, "cflag.eq5": eq5, "cflag.iag_cost": iag_cost}
