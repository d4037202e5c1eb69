"""What the vectors, drifts and functions of a row look like in small instances, as equations between numbers.

A norm or an inner product in a statement is not a free number. Here each row's are made of vectors on the line, of
quadratics c w^2/2 with mu <= c <= L, or of drifts with fair signs, so that every draw is an instance that exists.
Underlying numbers are drawn from [-4, 4] unless a row says otherwise; a, b, d, e, x, y, z, w are of any sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.falsify.ledger.numbers import COUNT, SHARE, SLACK, Span

_ANY = Span(Fraction(-4), Fraction(4))
_SIGN = Span(Fraction(-1), Fraction(1))
_SIZE = Span(Fraction(0), Fraction(4))
_PART = Span(Fraction(-15, 16), Fraction(15, 16))
_CURVED = {"c": Span(Fraction(1, 16), Fraction(4)), "over": SLACK, "s": SHARE}
_BETWEEN = "; L = c + over; convexity = c*s"
_SERVER = "ours.adaptive_server.interference"
_TWO = {"p": SHARE}
_DATA = {"rest": COUNT}
#: The solution of (7) for t = 3: a, b and w are p_1, p_2 and p_3, loss2 is R^2.
_WEIGHTS_OF_7 = (
    "whole = time_drift2*(3 - correlation_power - 3*correlation_power**2 + correlation_power**3) + 2*loss2; "
    "a = (time_drift2*(1 - correlation_power**2) + loss2*correlation_power)/whole; "
    "b = (time_drift2*(1 - correlation_power)**2*(1 + correlation_power) - loss2*correlation_power)/whole; "
    "w = (time_drift2*(1 - correlation_power**2) + 2*loss2)/whole"
)
_LAST = "past_rounds = 2; past_weights2 = a**2 + b**2; p_current = 1 - a - b"
_EARLIER = "nc_earlier = 2; nc_q = a + b; nc_earlier2 = a**2 + b**2"
_PARTS = {"a": SHARE, "b": SHARE}
_PAIR = "weights2 = p**2 + (1 - p)**2"
_SIZES = "grad2_mean = g**2; client_drift2 = d**2"
_DRIFTS = f"{_SIZES}; gradient_dot_drifts = 0; client_dot_time = 0"
_TIMES = f"{_DRIFTS}; {_PAIR}; weight_pairs = 2*p*(1 - p); weighted_drift2 = e**2*weights2"
_MIXED = "mixed_grad2 = g**2 + d**2 + e**2*weights2"
_CORRELATED = f"{_TIMES}; weighted_correlations = weight_pairs*q*e**2; {_MIXED} + weight_pairs*q*e**2"
_CLIENTS = "bias2 = (p*a*x + (1 - p)*b*y)**2; grad_f2 = (p*x + (1 - p)*y)**2"
_FIRST = "bias_i2 = a**2*x**2; grad_f_i2 = x**2; m_i_of = a**2"
_BIASED = {"p": SHARE, "a": _PART, "b": _PART}
_STEP = "((1 - eta*c)*x + eta*b)**2 + eta**2*n**2"
_STEP_SPANS = {**_CURVED, "x": _SIZE, "b": _SIZE, "n": _SIZE}


@dataclass(frozen=True)
class Realisation:
    """Equations "symbol = expression" joined by semicolons, in words, and spans of underlying numbers."""

    words: str
    equations: str
    spans: Mapping[str, Span] = field(default_factory=dict)
    only: tuple[str, ...] = ("printed", "repair", "sharp")

    def relations(self, statement: Statement) -> tuple[list[Relation], dict[str, Span]]:
        """The equations over the statement's symbols, and a span for every underlying number."""
        named = {s.name: s for r in statement.relations for s in r.slack.atoms(sp.Symbol)}
        pairs = [equation.split("=") for equation in self.equations.split(";")]
        inside = {word: sp.Symbol(word, real=True) for word in _words(self.equations) if word not in named}
        table = {**inside, **named, "Abs": sp.Abs, "Max": sp.Max, "Min": sp.Min}
        made = [equal(*(sp.sympify(side.strip(), locals=table) for side in pair)) for pair in pairs]
        defined = {r.left for r in made}
        return made, {word: self.spans.get(word, _ANY) for word in inside if inside[word] not in defined} | {
            word: span for word, span in self.spans.items() if word in named
        }


def _words(text: str) -> list[str]:
    expression = "".join(c if c.isalnum() or c == "_" else " " for c in text)
    return sorted(
        {w for w in expression.split() if not w[0].isdigit()} - {"Abs", "Max", "Min", "Piecewise", "Eq", "True"}
    )


def realisation(id: str, part: str, on: str) -> Realisation | None:
    """The realisation of a row's statement, if there is one."""
    for key in (f"{id}.{part} {on}", f"{id}.{part}"):
        found = ROWS.get(key)
        if found is not None and on in found.only:
            return found
    return None


_MEMORY_LINE = "gradients c x of f_i and (c + d) x + e of the memory"
_BIAS_LINE = "bias_i = Abs(d*x + e); grad_f_i = Abs(c*x)"
#: The least sigma^2 that the hypothesis on each of two variables allows; its sum is weaker.
_EACH = "sigma2 = Max(d**2 - M_A4*x**2, e**2 - M_A4*y**2, 0)"
_MEMORY = "two clients on the line with shares p and 1 - p, gradients x and y, biases a x and b y"
_LINE = "f = c w^2/2 on the line"
_SIGNS = "drifts with independent fair signs, two rounds with weights p and 1 - p"
_ROUNDS = "three rounds with weights a, b and 1 - a - b"

ROWS: Mapping[str, Realisation] = {
    "cflag.assumption2.1 printed": Realisation(
        f"{_MEMORY_LINE}; m_i < 1 large enough there, if any is",
        f"{_BIAS_LINE}; m_i = (bias_i**2 + grad_f_i**2)/(2*Max(bias_i**2, grad_f_i**2))",
        _CURVED,
    ),
    "cflag.assumption2.1 repair": Realisation(
        _MEMORY_LINE, f"{_BIAS_LINE}; bias_at_rest = Abs(e); kappa = Abs(d)/c", _CURVED
    ),
    **{
        f"cflag.assumption3.{part} repair": Realisation(
            "gradients L d of the memory and mu d of g, mu <= L, at a distance d from a common minimiser",
            "memory_i_at = L*distance; grad_g = mu*distance; memory_at_rest = 0; L = mu + over",
            {"over": SLACK},
        )
        for part in ("1", "2")
    },
    "cflag.lemma9.1 printed": Realisation(
        f"{_MEMORY}; m large enough there, if any is",
        f"{_CLIENTS}; {_FIRST}; m = Piecewise((1, Eq(grad_f2, 0)), (2*bias2/grad_f2, True))",
        _BIASED,
    ),
    "cflag.lemma9.1 repair": Realisation(
        f"{_MEMORY}; m the least that (28) allows",
        f"{_CLIENTS}; {_FIRST}; m = Max(a**2*x**2, b**2*y**2)/grad_f2",
        _BIASED,
    ),
    "cflag.lemma10.1": Realisation(
        "memory gradients a and b of two clients",
        "memory_norm = Abs(p*a + (1 - p)*b); memory_i = Abs(a); r_i_of = Abs(a)/grad_g; r = Max(Abs(a), Abs(b))/grad_g",
        _TWO,
    ),
    "cflag.lemma11.1": Realisation(
        "two clients with gradients a, b of g_i and x, y of h~_i",
        "grad_g2 = (p*a + (1 - p)*b)**2; grad_h2_by_client = (p*x + (1 - p)*y)**2; "
        "mean_gap2 = p*(a - x)**2 + (1 - p)*(b - y)**2",
        _TWO,
    ),
    "cflag.eq188.1": Realisation(
        "two clients with sums a and b, memory gradient d",
        "sum_pa2 = (p*a + (1 - p)*b)**2; own = p**2*a**2 + (1 - p)**2*b**2; N = 2; Lambda_pa = d*(p*a + (1 - p)*b)",
        _TWO,
    ),
    "cflag.table1_interference.feasible": Realisation(
        "a_i at an angle of cosine -s to the memory gradient", "Lambda_i = -s*a_i*grad_f_memory", {"s": SHARE}
    ),
    **{
        f"cflag.{row}": Realisation(
            "a_i at an angle of cosine s to the memory gradient", "Lambda_i = s*a_i*grad_f_memory", {"s": _SIGN}
        )
        for row in ("table1_interference.lowers", "lemma6.1", "lemma6.equal")
    },
    **{
        f"cflag.table1_transference.{part}": Realisation("memory gradient d along a_i", "Lambda_i = d*a_i")
        for part in ("average", "worst", "step size", "large m")
    },
    **{
        row: Realisation("S = a and memory gradient d on the line", "sum2 = a**2; Lambda = d*a")
        for row in (
            "cflag.eq16.minimiser",
            "cflag.eq16.step size",
            "cflag.eq16.large m",
            "ours.adaptive_server.interference",
        )
    },
    "cflag.eq160.1": Realisation(
        "grad g at a distance d from grad h~ along it", "grad_g = norm_grad_union + d; omega2 = d**2", {"d": _SIZE}
    ),
    "ours.assumption2.1": Realisation("b_i against grad f_i", "memory_i_x = Abs(grad_f_i - bias_i)"),
    "ours.bias_floor.1": Realisation(
        _MEMORY,
        f"{_CLIENTS}; {_FIRST}; spread2 = p*(1 - p)*(x - y)**2; m_max = Max(a**2, b**2)",
        _BIASED,
    ),
    **{
        row: Realisation(
            "memory gradient d against grad g",
            "size_memory = d; size_h = Abs((1 - share)*size_g - share*d)",
            {"d": _SIZE},
        )
        for row in ("cflag.lemma3_remark.1", "ours.current_from_union.1")
    },
    "ours.current_from_union.2": Realisation(
        "memory gradient d, grad g = a", "grad_g2 = a**2; grad_h2 = ((1 - share)*a + share*d)**2; memory_dot_g = a*d"
    ),
    "cfl.assumption1_corollary.1": Realisation(
        _LINE,
        "grad_x2 = c**2*x**2; grad_y2 = c**2*y**2; grad_x_dot_grad_y = c**2*x*y; f_x = c*x**2/2; f_y = c*y**2/2; "
        "grad_x_dot_h = c*x*(x - y); grad_y_dot_h = c*y*(x - y); L = c + over",
        _CURVED,
    ),
    "cfl.lemA3.1": Realisation(
        "two vectors on the line", "norm_of_mean2 = (a + b)**2/4; mean_of_norms2 = (a**2 + b**2)/2"
    ),
    "cfl.lemA4.1": Realisation(
        "Xi_1 = x + d s_1, Xi_2 = y + e s_2 with fair signs of correlation q",
        "tau = 2; total2 = (x + y)**2 + d**2 + e**2 + 2*q*d*e; means2 = x**2 + y**2; deviations2 = d**2 + e**2; "
        f"correlations = 2*q*d*e; {_EACH}",
        {"q": _SIGN},
    ),
    "cfl.lemA5.1": Realisation(
        "h = c w^2/2 on the line",
        "h_y = c*y**2/2; h_z = c*z**2/2; slope_y_to_z = c*x*(z - y); z_minus_x2 = (z - x)**2; "
        f"y_minus_z2 = (y - z)**2{_BETWEEN}",
        _CURVED,
    ),
    **{
        f"cfl.lemB1.{part}": Realisation(
            "noise with a fair sign",
            "grad2_mean = g**2; sigma_noise2 = d**2; gradient_dot_noise = 0; one_round_moment2 = g**2 + d**2",
        )
        for part in ("1", "2")
    },
    "cfl.lemB2.1": Realisation(
        _SIGNS,
        f"{_SIZES}; gradient_dot_noise = 0; client_dot_one_time = 0; time_drift_size2 = e**2; "
        "one_round_moment2 = g**2 + d**2 + e**2",
        _TWO,
    ),
    "cfl.lemB2.2": Realisation(
        _SIGNS, f"{_DRIFTS}; {_PAIR}; time_drift_size2 = e**2; weighted_correlations = 0; {_MIXED}", _TWO
    ),
    "cfl.lemB2.3": Realisation(
        f"{_SIGNS}, another client in each",
        f"grad2_mean = g**2; each_client_drift2 = d**2; gradient_dot_once = 0; clients_dot_time = 0; {_PAIR}; "
        "time_drift_size2 = e**2; weighted_correlations = 0; weighted_client_correlations = 0; "
        "mixed_once2 = g**2 + (d**2 + e**2)*weights2",
        _TWO,
    ),
    "cfl.lemB7.1": Realisation(
        "time drifts of two rounds with correlation q; F^2 and C^2 bound it",
        f"{_CORRELATED}; least_FD = Min(F2, time_drift2)",
        {"p": SHARE, "q": _SIGN},
    ),
    "cfl.lemB10.1": Realisation(
        "time drifts of two rounds with correlation q; pair_F and pair_C bound it",
        f"{_CORRELATED}; pair_F = weight_pairs*F; pair_C = weight_pairs*C; "
        "pair_least = weight_pairs*Min(F, time_drift2)",
        {"p": SHARE, "q": _SIGN, "F": _SIZE, "C": _SIZE},
    ),
    "cfl.eq10.2": Realisation(
        "h = c w^2/2 on the line, w_t = x, w* = y",
        "grad_h_to_star = c*(x + x_minus_t)*(y - x); round_h_star = c*y**2/2; round_h_t = c*x**2/2; "
        f"star_minus_t2 = (y - x)**2{_BETWEEN}",
        _CURVED,
    ),
    "cfl.eq13.1": Realisation("the loss pulls straight away from w*", "loss_pull = round_dist*round_rho"),
    "cfl.eq13.2": Realisation(
        "the loss pulls straight away from w*",
        "pull = true_pull + round_dist*round_rho; dist2 = round_dist**2",
    ),
    "cfl.eq15.1": Realisation(
        f"{_LINE}, w_t = y, the local point y + z",
        "c_grad2 = c_pB*c**2*(y + z)**2; c_drift2 = c_pB*z**2; f_gap = c*y**2/2; L = c + over",
        _CURVED,
    ),
    "cfl.eq18.1": Realisation(
        f"{_LINE}, w_t = y; the loss b follows the gradient a",
        "local_grad2 = (a + b)**2; mixed_grad2 = a**2; loss_grad2 = b**2; grad_w2 = c**2*(y + w_from_t)**2; "
        "f_gap = c*y**2/2; L = c + over",
        _CURVED,
    ),
    **{f"cfl.lemB4.{part}": Realisation(_ROUNDS, _LAST, _PARTS) for part in ("1", "2")},
    "cfl.eq33.1": Realisation(_ROUNDS, _LAST, _PARTS),
    "cfl.thm4_9.2": Realisation(
        "three rounds with the weights of (7), time drifts a chain of signs",
        f"{_WEIGHTS_OF_7}; d = A2*mean_grad2_cfl + time_drift2; drift_pair = q*correlation_power*d; "
        "least_weight = Min(a, b, w); "
        "weights_form = a**2 + b**2 + w**2 + 2*b*(a + w)*correlation_power + 2*a*w*correlation_power**2; "
        "drift_moment = d*(a**2 + b**2 + w**2 + 2*b*(a*q + w*s)*correlation_power + 2*a*w*q*s*correlation_power**2)",
        {"q": _SIGN, "s": _SIGN, "correlation_power": Span(Fraction(0), Fraction(15, 16)), "loss2": _SIZE},
    ),
    "cfl.thm4_7_cO.1": Realisation("two rounds with weights p and 1 - p", "weights_squares = p**2 + (1 - p)**2", _TWO),
    **{
        f"cfl.alg6.{part}": Realisation("drawn data and those left of a data set", "total = drawn + rest", _DATA)
        for part in ("2", "4")
    },
    "cfl.nc_eq26.1": Realisation(
        "gradients g and w of f and of the clients, loss d on the line",
        "nc_mean_grad2 = g**2; nc_whole2 = w**2; nc_gap2 = (g - w)**2; nc_Delta2 = d**2; "
        "nc_grad_dot_move = -eta*g*w + eta*nc_past_weight*g*d",
        {"nc_past_weight": SHARE},
    ),
    "cfl.eq21.1": Realisation(
        "a move of length y at an angle of cosine q to w* - w_t, of length x",
        "dist2 = x**2; move2 = y**2; pull = q*x*y/eta",
        {"q": _SIGN, "x": _SIZE, "y": _SIZE},
        ("repair",),
    ),
    "cfl.nc_eq32.1": Realisation(
        "a move of length y at an angle of cosine q to grad f, of length x",
        "nc_mean_grad2 = x**2; nc_move2 = y**2; nc_grad_dot_move = q*x*y",
        {"q": _SIGN, "x": _SIZE, "y": _SIZE},
    ),
    "cfl.nc_eq28.1": Realisation(
        f"{_LINE}, gradient g at w_t, drift d, one local step z = -rate (g + d)",
        "g = -d*(1 + h); z = rate*h*d; "
        "nc_gap2 = (c*z + d)**2; nc_change2 = c**2*z**2; nc_drift2 = d**2; nc_dist2 = z**2; nc_mean_grad2 = g**2; "
        "nc_grad_k2 = (g + c*z)**2; L = c + over",
        _CURVED | {"rate": _SIZE},
    ),
    **{f"cfl.nc_weights.{part}": Realisation(_ROUNDS, _EARLIER, _PARTS | {"R2": SLACK}) for part in ("1", "2")},
    **{f"ours.cfl_nonconvex_weights.{part}": Realisation(_ROUNDS, _EARLIER, _PARTS) for part in ("1", "2")},
    "ours.cfl_bound_weights.2": Realisation(_ROUNDS, _LAST, _PARTS),
    "ours.cfl_nonconvex.3": Realisation(
        "N = 1; the mean drift a, and a loss b that follows it",
        "N = 1; nc_bar2 = (a + b)**2; nc_client2 = a**2 - nc_squares*nc_time2; R2 = b**2/nc_past_weight**2",
        {"nc_past_weight": SHARE, "nc_squares": SHARE},
    ),
    "ours.cfl_interpolation.1": Realisation(
        _LINE,
        "grad_x2 = c**2*x**2; grad_y2 = c**2*y**2; grad_x_dot_grad_y = c**2*x*y; f_x = c*x**2/2; f_y = c*y**2/2; "
        f"grad_x_dot_h = c*x*(x - y); grad_y_dot_h = c*y*(x - y); x_minus_y2 = (x - y)**2{_BETWEEN}",
        _CURVED,
    ),
    "ours.cfl_separation.1": Realisation(
        "Xi_1 = x + d s, Xi_2 = y + e s with one fair sign",
        f"tau = 2; total2 = (x + y)**2 + (d + e)**2; means2 = x**2 + y**2; deviations2 = d**2 + e**2; {_EACH}",
    ),
    "ours.cfl_separation.2": Realisation(
        "nu_1 = b s with a fair sign, m_2 = a s",
        "total2 = (a + b)**2; conditional_total2 = a**2; noise_total2 = b**2",
    ),
    "ours.cfl_strongly_convex.round": Realisation(
        f"{_LINE}, bias b along w_t - w* = x, noise n with a fair sign",
        f"after_second_moment = {_STEP}; x_root = x; x_second_moment = x**2; b_second_moment = b**2; "
        f"n_second_moment = n**2{_BETWEEN}",
        _STEP_SPANS,
    ),
    "ours.cfl_strongly_convex.bias": Realisation("the loss follows the drift", "b_root = drift_root + loss_root"),
    "ours.cfl_general_convex.round": Realisation(
        f"{_LINE}, bias b along w_t - w* = x, noise n with a fair sign",
        f"after_second_moment = {_STEP}; x_second_moment = x**2; b_second_moment = b**2; n_second_moment = n**2; "
        "f_now_gap = c*x**2/2; L = c + over",
        _STEP_SPANS,
    ),
    "ours.cfl_decaying_fedavg.clients": Realisation(
        f"{_LINE}, where the mean gradient is that of the drifts",
        "x_second_moment = g_second_moment/c**2; convexity = c*s",
        _CURVED,
    ),
    **{
        f"ours.cfl_sum_over_rounds.{part}": Realisation(
            f"{_LINE}, w - w* at a times the minimiser of the sum",
            "f_now_gap = a**2*mean_drift2/(2*c); sum_gap = (a - 1)**2*mean_drift2/(2*c); convexity = c*s",
            _CURVED,
        )
        for part in ("sum", "expectation")
    },
    "ours.cfl_time_drift.minimiser": Realisation(_LINE, "minimiser_gap = mean_drift2/(2*c); convexity = c*s", _CURVED),
    "ours.cfl_correlated_bias.1": Realisation(
        "N = 1, two rounds with weights p and 1 - p and time drifts of correlation q",
        "N = 1; mean_client_drift2 = d**2; one_drift2 = e**2; weights_products = 2*p*(1 - p); "
        "drifts_own2 = e**2*weights_squares; drifts_pairs = weights_products*q*e**2; "
        "weights_squares = p**2 + (1 - p)**2; correlated_bias2 = d**2 + e**2*weights_squares + 2*p*(1 - p)*q*e**2",
        {"p": SHARE, "q": _SIGN},
    ),
}


def sequences(statement: Statement) -> bool:
    """Whether a statement speaks of members of sequences."""
    return any(r.slack.has(AppliedUndef) for r in statement.relations)
