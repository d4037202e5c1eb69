"""What the vectors, drifts and functions of a row look like in small instances, as equations between numbers.

A norm or an inner product in a statement is not a free number. Here each row's are made of vectors on the line, of
quadratics c w^2/2 with mu <= c <= L, or of drifts with fair signs, so that every draw is an instance that exists.
Underlying numbers are drawn from [-4, 4] unless a row says otherwise; a, b, d, e, x, y, z, w are of any sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.falsify.ledger.solving import COUNT, SHARE, SLACK
from cflag_theory.falsify.ranges import Range

#: What an underlying number is drawn from, if its world says no more.
_ANY, _WHOLE = Range(-4, 4), {"integer": True, "nonnegative": True}
_SPANS = {
    "sign": Range(-1, 1),
    "size": Range(0, 4),
    "part": Range("-15/16", "15/16"),
    "below_one": Range(0, "15/16"),
    "curvature": Range("1/16", 4),
    "share": SHARE,
    "slack": SLACK,
    "count": COUNT,
}


@dataclass(frozen=True)
class Realisation:
    """Equations "symbol = expression" joined by semicolons, in words, and spans of underlying numbers."""

    words: str
    equations: str
    spans: Mapping[str, Range]

    def relations(self, statement: Statement) -> tuple[list[Relation], dict[str, Range]]:
        """The equations of the statement's symbols, and a span for every underlying number."""
        named = {s.name: s for r in statement.relations for side in (r.left, r.right) for s in side.atoms(sp.Symbol)}
        inside = {
            word: sp.Symbol(word, **(_WHOLE if self.spans.get(word) == COUNT else {"real": True}))
            for word in set(re.findall(r"\b[^\W\d]\w*", self.equations)) - {*named, "Abs", "Max", "Min"}
        }
        table = {**inside, **named, "Abs": sp.Abs, "Max": sp.Max, "Min": sp.Min}
        pairs = [equation.split("=") for equation in self.equations.split(";")]
        made = [equal(*(sp.sympify(side.strip(), locals=table) for side in pair)) for pair in pairs]
        free = {**inside, **{word: one for word, one in named.items() if word in self.spans}}
        defined = {r.left for r in made}
        return made, {word: self.spans.get(word, _ANY) for word, one in free.items() if one not in defined}


def realisation(id: str, part: str, on: str) -> Realisation | None:
    """The realisation of a row's statement, if there is one."""
    return ROWS.get(f"{id}.{part} {on}") or ROWS.get(f"{id}.{part}")


#: Small worlds: in words, then what each symbol is there; under these the spans of underlying numbers, and the rows, or
#: "printed", "repair" and "sharp" statements of rows, that are drawn from it, with more words and more equations.
_WORLDS = """
gradients c x of f_i and (c + d) x + e of the memory
  bias_i = Abs(d*x + e); grad_f_i = Abs(c*x); bias_at_rest = Abs(e); kappa = Abs(d)/c
  over curvature c
  of cflag.assumption2.1 repair
  of cflag.assumption2.1 printed, m_i < 1 large enough there, if any is: m_i = (bias_i**2 +
    grad_f_i**2)/(2*Max(bias_i**2, grad_f_i**2))
gradients L d of the memory and mu d of g, mu <= L, at a distance d from a common minimiser
  memory_i_at = L*distance; grad_g = mu*distance; memory_at_rest = 0; L = mu + over
  over slack over
  of cflag.assumption3.1 repair; cflag.assumption3.2 repair
two clients on the line with shares p and 1 - p, gradients x and y, biases a x and b y
  bias2 = (p*a*x + (1 - p)*b*y)**2; grad_f2 = (p*x + (1 - p)*y)**2; bias_i2 = a**2*x**2; grad_f_i2 = x**2;
    m_i_of = a**2; spread2 = p*(1 - p)*(x - y)**2; m_max = Max(a**2, b**2)
  over share p, part a b
  of ours.bias_floor.1
  of cflag.lemma9.1 printed, m large enough there, if any is: m = (2*bias2 + 0**grad_f2)/(grad_f2 + 0**grad_f2)
  of cflag.lemma9.1 repair, m the least that (28) allows: m = Max(a**2*x**2, b**2*y**2)/grad_f2
two clients with shares p and 1 - p, gradients a, b of g_i or the memory or sums, and x, y of h~_i; memory gradient d
  memory_norm = Abs(p*a + (1 - p)*b); memory_i = Abs(a); r_i_of = Abs(a)/grad_g; r = Max(Abs(a), Abs(b))/grad_g;
    grad_g2 = (p*a + (1 - p)*b)**2; grad_h2_by_client = (p*x + (1 - p)*y)**2;
    mean_gap2 = p*(a - x)**2 + (1 - p)*(b - y)**2; N = 2; sum_pa2 = (p*a + (1 - p)*b)**2;
    own = p**2*a**2 + (1 - p)**2*b**2; Lambda_pa = d*(p*a + (1 - p)*b)
  over share p
  of cflag.lemma10.1; cflag.lemma11.1; cflag.eq188.1
memory gradient d on the line, or size d
  Lambda_i = d*a_i; Lambda = d*a; sum2 = a**2; size_memory = Abs(d); size_h = Abs((1 - share)*size_g - share*Abs(d));
    grad_g2 = a**2; grad_h2 = ((1 - share)*a + share*d)**2; memory_dot_g = a*d; memory_i_x = Abs(grad_f_i - bias_i);
    grad_g = norm_grad_union + Abs(d); omega2 = d**2
  of cflag.table1_transference.average; cflag.table1_transference.worst; cflag.table1_transference.step size;
    cflag.table1_transference.large m
  of cflag.eq16.minimiser; cflag.eq16.step size; cflag.eq16.large m; ours.adaptive_server.interference, S = a
  of cflag.lemma3_remark.1; ours.current_from_union.1; ours.current_from_union.2, grad g = a
  of cflag.eq160.1, grad g at a distance d from grad h~ along it
  of ours.assumption2.1, b_i against grad f_i
a_i at an angle of cosine s to the memory gradient
  Lambda_i = s*a_i*grad_f_memory
  over sign s
  of cflag.table1_interference.lowers; cflag.lemma6.1; cflag.lemma6.equal
a_i at an angle of cosine -s to the memory gradient
  Lambda_i = -s*a_i*grad_f_memory
  over share s
  of cflag.table1_interference.feasible
f or h = c w^2/2 on the line
  grad_x2 = c**2*x**2; grad_y2 = c**2*y**2; grad_x_dot_grad_y = c**2*x*y; f_x = c*x**2/2; f_y = c*y**2/2;
    grad_x_dot_h = c*x*(x - y); grad_y_dot_h = c*y*(x - y); x_minus_y2 = (x - y)**2; h_y = c*y**2/2; h_z = c*z**2/2;
    slope_y_to_z = c*x*(z - y); z_minus_x2 = (z - x)**2; y_minus_z2 = (y - z)**2; L = c + over; convexity = c*s;
    grad_h_to_star = c*(x + x_minus_t)*(y - x); round_h_star = c*y**2/2; round_h_t = c*x**2/2;
    star_minus_t2 = (y - x)**2; c_grad2 = c_pB*c**2*(y + z)**2; c_drift2 = c_pB*z**2; f_gap = c*y**2/2;
    local_grad2 = (a + b)**2; mixed_grad2 = a**2; loss_grad2 = b**2; grad_w2 = c**2*(y + w_from_t)**2;
    minimiser_gap = mean_drift2/(2*c); sum_gap = (a - 1)**2*mean_drift2/(2*c)
  over curvature c, slack over, share s, size rate
  of cfl.assumption1_corollary.1; ours.cfl_interpolation.1; cfl.lemA5.1; ours.cfl_time_drift.minimiser
  of cfl.eq10.2, w_t = x, w* = y
  of cfl.eq15.1, w_t = y, the local point y + z
  of cfl.eq18.1, w_t = y, and the loss b follows the gradient a
  of ours.cfl_decaying_fedavg.clients, where the mean gradient is that of the drifts: x_second_moment =
    g_second_moment/c**2
  of ours.cfl_sum_over_rounds.sum; ours.cfl_sum_over_rounds.expectation, w - w* at a times the minimiser of the sum:
    f_now_gap = a**2*mean_drift2/(2*c)
  of cfl.nc_eq28.1, gradient g at w_t, drift d, one local step z = -rate (g + d): g = -d*(1 + h); z = rate*h*d;
    nc_gap2 = (c*z + d)**2; nc_change2 = c**2*z**2; nc_drift2 = d**2; nc_dist2 = z**2; nc_mean_grad2 = g**2;
    nc_grad_k2 = (g + c*z)**2
f = c w^2/2 on the line, bias b along w_t - w* = x, noise n with a fair sign
  after_second_moment = ((1 - eta*c)*x + eta*b)**2 + eta**2*n**2; x_root = x; x_second_moment = x**2;
    b_second_moment = b**2; n_second_moment = n**2; f_now_gap = c*x**2/2; L = c + over; convexity = c*s
  over curvature c, slack over, share s, size x b n
  of ours.cfl_strongly_convex.round; ours.cfl_general_convex.round
vectors a and b, or x and y with fair signs of sizes d and e and correlation q
  norm_of_mean2 = (a + b)**2/4; mean_of_norms2 = (a**2 + b**2)/2; tau = 2; means2 = x**2 + y**2;
    deviations2 = d**2 + e**2; correlations = 2*q*d*e; sigma2 = Max(d**2 - M_A4*x**2, e**2 - M_A4*y**2, 0);
    conditional_total2 = a**2; noise_total2 = b**2
  over sign q
  of cfl.lemA3.1
  of cfl.lemA4.1: total2 = (x + y)**2 + d**2 + e**2 + 2*q*d*e
  of ours.cfl_separation.1, one sign for both: total2 = (x + y)**2 + (d + e)**2
  of ours.cfl_separation.2, nu_1 = b s with a fair sign, m_2 = a s: total2 = (a + b)**2
drifts d of clients and e of two rounds with weights p and 1 - p, independent fair signs; time drifts of correlation q
  grad2_mean = g**2; sigma_noise2 = d**2; gradient_dot_noise = 0; client_dot_one_time = 0; time_drift_size2 = e**2;
    client_drift2 = d**2; each_client_drift2 = d**2; gradient_dot_drifts = 0; client_dot_time = 0;
    gradient_dot_once = 0; clients_dot_time = 0; weights2 = p**2 + (1 - p)**2; weighted_client_correlations = 0;
    mixed_once2 = g**2 + (d**2 + e**2)*weights2; weight_pairs = 2*p*(1 - p); weighted_drift2 = e**2*weights2;
    least_FD = Min(F2, time_drift2); pair_F = weight_pairs*F; pair_C = weight_pairs*C;
    pair_least = weight_pairs*Min(F, time_drift2); weights_squares = p**2 + (1 - p)**2;
    mean_client_drift2 = d**2; one_drift2 = e**2; weights_products = 2*p*(1 - p); drifts_own2 = e**2*weights_squares;
    drifts_pairs = weights_products*q*e**2;
    correlated_bias2 = d**2 + e**2*weights_squares + 2*p*(1 - p)*q*e**2
  over share p, sign q, size F C
  of cfl.thm4_7_cO.1
  of cfl.lemB1.1; cfl.lemB1.2: one_round_moment2 = g**2 + d**2
  of cfl.lemB2.1: one_round_moment2 = g**2 + d**2 + e**2
  of cfl.lemB2.2; cfl.lemB2.3, another client in each where it says so: weighted_correlations = 0;
    mixed_grad2 = g**2 + d**2 + e**2*weights2
  of cfl.lemB7.1; cfl.lemB10.1, which F^2 and C^2 or pair_F and pair_C bound: weighted_correlations =
    weight_pairs*q*e**2; mixed_grad2 = g**2 + d**2 + e**2*weights2 + weight_pairs*q*e**2
  of ours.cfl_correlated_bias.1, N = 1: N = 1
losses straight away from w*, or with the drift; data drawn and left
  loss_pull = round_dist*round_rho; pull = true_pull + round_dist*round_rho; dist2 = round_dist**2;
    b_root = drift_root + loss_root; total = drawn + rest
  over count rest
  of cfl.eq13.1; cfl.eq13.2; ours.cfl_strongly_convex.bias; cfl.alg6.2; cfl.alg6.4
three rounds with weights a, b and 1 - a - b
  past_rounds = 2; past_weights2 = a**2 + b**2; p_current = 1 - a - b; nc_earlier = 2; nc_q = a + b;
    nc_earlier2 = a**2 + b**2
  over share a b
  of cfl.lemB4.1; cfl.lemB4.2; cfl.eq33.1; ours.cfl_bound_weights.2
  of ours.cfl_nonconvex_weights.1; ours.cfl_nonconvex_weights.2
three rounds with weights a, b and 1 - a - b
  nc_earlier = 2; nc_q = a + b; nc_earlier2 = a**2 + b**2
  over share a b, slack R2
  of cfl.nc_weights.1; cfl.nc_weights.2
three rounds with the weights of (7), time drifts a chain of signs
  whole = time_drift2*(3 - correlation_power - 3*correlation_power**2 + correlation_power**3) + 2*loss2;
    a = (time_drift2*(1 - correlation_power**2) + loss2*correlation_power)/whole;
    b = (time_drift2*(1 - correlation_power)**2*(1 + correlation_power) - loss2*correlation_power)/whole;
    w = (time_drift2*(1 - correlation_power**2) + 2*loss2)/whole; d = A2*mean_grad2_cfl + time_drift2;
    drift_pair = q*correlation_power*d; least_weight = Min(a, b, w);
    weights_form = a**2 + b**2 + w**2 + 2*b*(a + w)*correlation_power + 2*a*w*correlation_power**2;
    drift_moment = d*(a**2 + b**2 + w**2 + 2*b*(a*q + w*s)*correlation_power + 2*a*w*q*s*correlation_power**2)
  over sign q s, below_one correlation_power, size loss2
  of cfl.thm4_9.2
gradients and moves on the line: grad f = g, the clients' w, a loss d; a drift a with a loss b
  nc_mean_grad2 = g**2; nc_whole2 = w**2; nc_gap2 = (g - w)**2; nc_Delta2 = d**2;
    nc_grad_dot_move = -eta*g*w + eta*nc_past_weight*g*d; N = 1; nc_bar2 = (a + b)**2;
    nc_client2 = a**2 - nc_squares*nc_time2
  over share nc_past_weight nc_squares
  of cfl.nc_eq26.1
  of ours.cfl_nonconvex.3: R2 = b**2/nc_past_weight**2
a move of length y at an angle of cosine q to w* - w_t or grad f, of length x
  dist2 = x**2; move2 = y**2; pull = q*x*y/eta; nc_mean_grad2 = x**2; nc_move2 = y**2; nc_grad_dot_move = q*x*y
  over sign q, size x y
  of cfl.eq21.1 repair; cfl.nc_eq32.1
"""


def _read() -> Iterator[tuple[str, Realisation]]:
    # What is indented further goes on with the line before it.
    for block in re.split(r"\n(?=\S)", _WORLDS.replace("\n    ", " ").strip()):
        words, equations, *lines = block.split("\n  ")
        over = [line.removeprefix("over ") for line in lines if line.startswith("over ")]
        drawn = [one.split() for line in over for one in line.split(", ")]
        spans = {name: _SPANS[kind] for kind, *names in drawn for name in names}
        for line in lines[len(over) :]:
            rows, _, more = line.removeprefix("of ").partition(": ")
            keys, comma, said = rows.partition(", ")
            made = Realisation(words + comma + said, "; ".join(filter(None, (equations, more))), spans)
            yield from ((key, made) for key in keys.split("; "))


ROWS: Mapping[str, Realisation] = dict(_read())
