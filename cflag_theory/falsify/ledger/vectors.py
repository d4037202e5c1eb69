"""What the vectors, drifts and functions of a row look like in small instances, as equations between numbers.

A norm or an inner product in a statement is not a free number. Here each row's are made of vectors on the line, of
quadratics c w^2/2 with mu <= c <= L, or of drifts with fair signs, so that every draw is an instance that exists.
Underlying numbers are drawn from [-4, 4] unless a row says otherwise; a, b, d, e, x, y, z, w are of any sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sympy as sp

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.falsify.ledger.solving import COUNT, SHARE, SLACK
from cflag_theory.falsify.ranges import Range

#: What an underlying number is drawn from.
_SPANS = {
    "any": Range(-4, 4),
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
    spans: Mapping[str, Range] = field(default_factory=dict)
    only: tuple[str, ...] = ("printed", "repair", "sharp")

    def relations(self, statement: Statement) -> tuple[list[Relation], dict[str, Range]]:
        """The equations over the statement's symbols, and a span for every underlying number."""
        named = {s.name: s for r in statement.relations for s in r.slack.atoms(sp.Symbol)}
        pairs = [equation.split("=") for equation in self.equations.split(";")]
        inside = {
            word: sp.Symbol(word, real=True, integer=(self.spans.get(word) == COUNT) or None)
            for word in _words(self.equations)
            if word not in named
        }
        table = {**inside, **named, "Abs": sp.Abs, "Max": sp.Max, "Min": sp.Min}
        made = [equal(*(sp.sympify(side.strip(), locals=table) for side in pair)) for pair in pairs]
        defined = {r.left for r in made}
        return made, {word: self.spans.get(word, _SPANS["any"]) for word in inside if inside[word] not in defined} | {
            word: span for word, span in self.spans.items() if word in named
        }


def _words(text: str) -> list[str]:
    return sorted(set(re.findall(r"\b[^\W\d]\w*", text)) - {"Abs", "Max", "Min"})


def realisation(id: str, part: str, on: str) -> Realisation | None:
    """The realisation of a row's statement, if there is one."""
    found = ROWS.get(f"{id}.{part} {on}") or ROWS.get(f"{id}.{part}")
    return found if found and on in found.only else None


#: Rows and what is drawn for them; under these the equations, the spans of underlying numbers, and for which of
#: "printed", "repair" and "sharp" they are, if not for all.
_TEXT = """
cflag.assumption2.1 printed: gradients c x of f_i and (c + d) x + e of the memory; m_i < 1 large enough there, if any
    is
  bias_i = Abs(d*x + e); grad_f_i = Abs(c*x); m_i = (bias_i**2 + grad_f_i**2)/(2*Max(bias_i**2, grad_f_i**2))
  over curvature c, slack over, share s
cflag.assumption2.1 repair: gradients c x of f_i and (c + d) x + e of the memory
  bias_i = Abs(d*x + e); grad_f_i = Abs(c*x); bias_at_rest = Abs(e); kappa = Abs(d)/c
  over curvature c, slack over, share s
cflag.assumption3.1 repair; cflag.assumption3.2 repair: gradients L d of the memory and mu d of g, mu <= L, at a
    distance d from a common minimiser
  memory_i_at = L*distance; grad_g = mu*distance; memory_at_rest = 0; L = mu + over
  over slack over
cflag.lemma9.1 printed: two clients on the line with shares p and 1 - p, gradients x and y, biases a x and b y; m
    large enough there, if any is
  bias2 = (p*a*x + (1 - p)*b*y)**2; grad_f2 = (p*x + (1 - p)*y)**2; bias_i2 = a**2*x**2; grad_f_i2 = x**2;
    m_i_of = a**2; m = (2*bias2 + 0**grad_f2)/(grad_f2 + 0**grad_f2)
  over share p, part a b
cflag.lemma9.1 repair: two clients on the line with shares p and 1 - p, gradients x and y, biases a x and b y; m the
    least that (28) allows
  bias2 = (p*a*x + (1 - p)*b*y)**2; grad_f2 = (p*x + (1 - p)*y)**2; bias_i2 = a**2*x**2; grad_f_i2 = x**2;
    m_i_of = a**2; m = Max(a**2*x**2, b**2*y**2)/grad_f2
  over share p, part a b
cflag.lemma10.1: memory gradients a and b of two clients
  memory_norm = Abs(p*a + (1 - p)*b); memory_i = Abs(a); r_i_of = Abs(a)/grad_g; r = Max(Abs(a), Abs(b))/grad_g
  over share p
cflag.lemma11.1: two clients with gradients a, b of g_i and x, y of h~_i
  grad_g2 = (p*a + (1 - p)*b)**2; grad_h2_by_client = (p*x + (1 - p)*y)**2;
    mean_gap2 = p*(a - x)**2 + (1 - p)*(b - y)**2
  over share p
cflag.eq188.1: two clients with sums a and b, memory gradient d
  sum_pa2 = (p*a + (1 - p)*b)**2; own = p**2*a**2 + (1 - p)**2*b**2; N = 2; Lambda_pa = d*(p*a + (1 - p)*b)
  over share p
cflag.table1_interference.feasible: a_i at an angle of cosine -s to the memory gradient
  Lambda_i = -s*a_i*grad_f_memory
  over share s
cflag.table1_interference.lowers; cflag.lemma6.1; cflag.lemma6.equal: a_i at an angle of cosine s to the memory gradient
  Lambda_i = s*a_i*grad_f_memory
  over sign s
cflag.table1_transference.average; cflag.table1_transference.worst; cflag.table1_transference.step size;
    cflag.table1_transference.large m: memory gradient d along a_i
  Lambda_i = d*a_i
cflag.eq16.minimiser; cflag.eq16.step size; cflag.eq16.large m;
    ours.adaptive_server.interference: S = a and memory gradient d on the line
  sum2 = a**2; Lambda = d*a
cflag.eq160.1: grad g at a distance d from grad h~ along it
  grad_g = norm_grad_union + d; omega2 = d**2
  over size d
ours.assumption2.1: b_i against grad f_i
  memory_i_x = Abs(grad_f_i - bias_i)
ours.bias_floor.1: two clients on the line with shares p and 1 - p, gradients x and y, biases a x and b y
  bias2 = (p*a*x + (1 - p)*b*y)**2; grad_f2 = (p*x + (1 - p)*y)**2; bias_i2 = a**2*x**2; grad_f_i2 = x**2;
    m_i_of = a**2; spread2 = p*(1 - p)*(x - y)**2; m_max = Max(a**2, b**2)
  over share p, part a b
cflag.lemma3_remark.1; ours.current_from_union.1: memory gradient d against grad g
  size_memory = d; size_h = Abs((1 - share)*size_g - share*d)
  over size d
ours.current_from_union.2: memory gradient d, grad g = a
  grad_g2 = a**2; grad_h2 = ((1 - share)*a + share*d)**2; memory_dot_g = a*d
cfl.assumption1_corollary.1: f = c w^2/2 on the line
  grad_x2 = c**2*x**2; grad_y2 = c**2*y**2; grad_x_dot_grad_y = c**2*x*y; f_x = c*x**2/2; f_y = c*y**2/2;
    grad_x_dot_h = c*x*(x - y); grad_y_dot_h = c*y*(x - y); L = c + over
  over curvature c, slack over, share s
cfl.lemA3.1: two vectors on the line
  norm_of_mean2 = (a + b)**2/4; mean_of_norms2 = (a**2 + b**2)/2
cfl.lemA4.1: Xi_1 = x + d s_1, Xi_2 = y + e s_2 with fair signs of correlation q
  tau = 2; total2 = (x + y)**2 + d**2 + e**2 + 2*q*d*e; means2 = x**2 + y**2; deviations2 = d**2 + e**2;
    correlations = 2*q*d*e; sigma2 = Max(d**2 - M_A4*x**2, e**2 - M_A4*y**2, 0)
  over sign q
cfl.lemA5.1: h = c w^2/2 on the line
  h_y = c*y**2/2; h_z = c*z**2/2; slope_y_to_z = c*x*(z - y); z_minus_x2 = (z - x)**2; y_minus_z2 = (y - z)**2;
    L = c + over; convexity = c*s
  over curvature c, slack over, share s
cfl.lemB1.1; cfl.lemB1.2: noise with a fair sign
  grad2_mean = g**2; sigma_noise2 = d**2; gradient_dot_noise = 0; one_round_moment2 = g**2 + d**2
cfl.lemB2.1: drifts with independent fair signs, two rounds with weights p and 1 - p
  grad2_mean = g**2; client_drift2 = d**2; gradient_dot_noise = 0; client_dot_one_time = 0; time_drift_size2 = e**2;
    one_round_moment2 = g**2 + d**2 + e**2
  over share p
cfl.lemB2.2: drifts with independent fair signs, two rounds with weights p and 1 - p
  grad2_mean = g**2; client_drift2 = d**2; gradient_dot_drifts = 0; client_dot_time = 0; weights2 = p**2 + (1 - p)**2;
    time_drift_size2 = e**2; weighted_correlations = 0; mixed_grad2 = g**2 + d**2 + e**2*weights2
  over share p
cfl.lemB2.3: drifts with independent fair signs, two rounds with weights p and 1 - p, another client in each
  grad2_mean = g**2; each_client_drift2 = d**2; gradient_dot_once = 0; clients_dot_time = 0;
    weights2 = p**2 + (1 - p)**2; time_drift_size2 = e**2; weighted_correlations = 0; weighted_client_correlations = 0;
    mixed_once2 = g**2 + (d**2 + e**2)*weights2
  over share p
cfl.lemB7.1: time drifts of two rounds with correlation q; F^2 and C^2 bound it
  grad2_mean = g**2; client_drift2 = d**2; gradient_dot_drifts = 0; client_dot_time = 0; weights2 = p**2 + (1 - p)**2;
    weight_pairs = 2*p*(1 - p); weighted_drift2 = e**2*weights2; weighted_correlations = weight_pairs*q*e**2;
    mixed_grad2 = g**2 + d**2 + e**2*weights2 + weight_pairs*q*e**2; least_FD = Min(F2, time_drift2)
  over share p, sign q
cfl.lemB10.1: time drifts of two rounds with correlation q; pair_F and pair_C bound it
  grad2_mean = g**2; client_drift2 = d**2; gradient_dot_drifts = 0; client_dot_time = 0; weights2 = p**2 + (1 - p)**2;
    weight_pairs = 2*p*(1 - p); weighted_drift2 = e**2*weights2; weighted_correlations = weight_pairs*q*e**2;
    mixed_grad2 = g**2 + d**2 + e**2*weights2 + weight_pairs*q*e**2; pair_F = weight_pairs*F; pair_C = weight_pairs*C;
    pair_least = weight_pairs*Min(F, time_drift2)
  over share p, sign q, size F C
cfl.eq10.2: h = c w^2/2 on the line, w_t = x, w* = y
  grad_h_to_star = c*(x + x_minus_t)*(y - x); round_h_star = c*y**2/2; round_h_t = c*x**2/2; star_minus_t2 = (y - x)**2;
    L = c + over; convexity = c*s
  over curvature c, slack over, share s
cfl.eq13.1: the loss pulls straight away from w*
  loss_pull = round_dist*round_rho
cfl.eq13.2: the loss pulls straight away from w*
  pull = true_pull + round_dist*round_rho; dist2 = round_dist**2
cfl.eq15.1: f = c w^2/2 on the line, w_t = y, the local point y + z
  c_grad2 = c_pB*c**2*(y + z)**2; c_drift2 = c_pB*z**2; f_gap = c*y**2/2; L = c + over
  over curvature c, slack over, share s
cfl.eq18.1: f = c w^2/2 on the line, w_t = y; the loss b follows the gradient a
  local_grad2 = (a + b)**2; mixed_grad2 = a**2; loss_grad2 = b**2; grad_w2 = c**2*(y + w_from_t)**2; f_gap = c*y**2/2;
    L = c + over
  over curvature c, slack over, share s
cfl.lemB4.1; cfl.lemB4.2; cfl.eq33.1; ours.cfl_bound_weights.2: three rounds with weights a, b and 1 - a - b
  past_rounds = 2; past_weights2 = a**2 + b**2; p_current = 1 - a - b
  over share a b
cfl.thm4_9.2: three rounds with the weights of (7), time drifts a chain of signs
  whole = time_drift2*(3 - correlation_power - 3*correlation_power**2 + correlation_power**3) + 2*loss2;
    a = (time_drift2*(1 - correlation_power**2) + loss2*correlation_power)/whole;
    b = (time_drift2*(1 - correlation_power)**2*(1 + correlation_power) - loss2*correlation_power)/whole;
    w = (time_drift2*(1 - correlation_power**2) + 2*loss2)/whole; d = A2*mean_grad2_cfl + time_drift2;
    drift_pair = q*correlation_power*d; least_weight = Min(a, b, w);
    weights_form = a**2 + b**2 + w**2 + 2*b*(a + w)*correlation_power + 2*a*w*correlation_power**2;
    drift_moment = d*(a**2 + b**2 + w**2 + 2*b*(a*q + w*s)*correlation_power + 2*a*w*q*s*correlation_power**2)
  over sign q s, below_one correlation_power, size loss2
cfl.thm4_7_cO.1: two rounds with weights p and 1 - p
  weights_squares = p**2 + (1 - p)**2
  over share p
cfl.alg6.2; cfl.alg6.4: drawn data and those left of a data set
  total = drawn + rest
  over count rest
cfl.nc_eq26.1: gradients g and w of f and of the clients, loss d on the line
  nc_mean_grad2 = g**2; nc_whole2 = w**2; nc_gap2 = (g - w)**2; nc_Delta2 = d**2;
    nc_grad_dot_move = -eta*g*w + eta*nc_past_weight*g*d
  over share nc_past_weight
cfl.eq21.1: a move of length y at an angle of cosine q to w* - w_t, of length x
  dist2 = x**2; move2 = y**2; pull = q*x*y/eta
  over sign q, size x y
  only repair
cfl.nc_eq32.1: a move of length y at an angle of cosine q to grad f, of length x
  nc_mean_grad2 = x**2; nc_move2 = y**2; nc_grad_dot_move = q*x*y
  over sign q, size x y
cfl.nc_eq28.1: f = c w^2/2 on the line, gradient g at w_t, drift d, one local step z = -rate (g + d)
  g = -d*(1 + h); z = rate*h*d; nc_gap2 = (c*z + d)**2; nc_change2 = c**2*z**2; nc_drift2 = d**2; nc_dist2 = z**2;
    nc_mean_grad2 = g**2; nc_grad_k2 = (g + c*z)**2; L = c + over
  over curvature c, slack over, share s, size rate
cfl.nc_weights.1; cfl.nc_weights.2: three rounds with weights a, b and 1 - a - b
  nc_earlier = 2; nc_q = a + b; nc_earlier2 = a**2 + b**2
  over share a b, slack R2
ours.cfl_nonconvex_weights.1; ours.cfl_nonconvex_weights.2: three rounds with weights a, b and 1 - a - b
  nc_earlier = 2; nc_q = a + b; nc_earlier2 = a**2 + b**2
  over share a b
ours.cfl_nonconvex.3: N = 1; the mean drift a, and a loss b that follows it
  N = 1; nc_bar2 = (a + b)**2; nc_client2 = a**2 - nc_squares*nc_time2; R2 = b**2/nc_past_weight**2
  over share nc_past_weight nc_squares
ours.cfl_interpolation.1: f = c w^2/2 on the line
  grad_x2 = c**2*x**2; grad_y2 = c**2*y**2; grad_x_dot_grad_y = c**2*x*y; f_x = c*x**2/2; f_y = c*y**2/2;
    grad_x_dot_h = c*x*(x - y); grad_y_dot_h = c*y*(x - y); x_minus_y2 = (x - y)**2; L = c + over; convexity = c*s
  over curvature c, slack over, share s
ours.cfl_separation.1: Xi_1 = x + d s, Xi_2 = y + e s with one fair sign
  tau = 2; total2 = (x + y)**2 + (d + e)**2; means2 = x**2 + y**2; deviations2 = d**2 + e**2;
    sigma2 = Max(d**2 - M_A4*x**2, e**2 - M_A4*y**2, 0)
ours.cfl_separation.2: nu_1 = b s with a fair sign, m_2 = a s
  total2 = (a + b)**2; conditional_total2 = a**2; noise_total2 = b**2
ours.cfl_strongly_convex.round: f = c w^2/2 on the line, bias b along w_t - w* = x, noise n with a fair sign
  after_second_moment = ((1 - eta*c)*x + eta*b)**2 + eta**2*n**2; x_root = x; x_second_moment = x**2;
    b_second_moment = b**2; n_second_moment = n**2; L = c + over; convexity = c*s
  over curvature c, slack over, share s, size x b n
ours.cfl_strongly_convex.bias: the loss follows the drift
  b_root = drift_root + loss_root
ours.cfl_general_convex.round: f = c w^2/2 on the line, bias b along w_t - w* = x, noise n with a fair sign
  after_second_moment = ((1 - eta*c)*x + eta*b)**2 + eta**2*n**2; x_second_moment = x**2; b_second_moment = b**2;
    n_second_moment = n**2; f_now_gap = c*x**2/2; L = c + over
  over curvature c, slack over, share s, size x b n
ours.cfl_decaying_fedavg.clients: f = c w^2/2 on the line, where the mean gradient is that of the drifts
  x_second_moment = g_second_moment/c**2; convexity = c*s
  over curvature c, slack over, share s
ours.cfl_sum_over_rounds.sum; ours.cfl_sum_over_rounds.expectation: f = c w^2/2 on the line, w - w* at a times the
    minimiser of the sum
  f_now_gap = a**2*mean_drift2/(2*c); sum_gap = (a - 1)**2*mean_drift2/(2*c); convexity = c*s
  over curvature c, slack over, share s
ours.cfl_time_drift.minimiser: f = c w^2/2 on the line
  minimiser_gap = mean_drift2/(2*c); convexity = c*s
  over curvature c, slack over, share s
ours.cfl_correlated_bias.1: N = 1, two rounds with weights p and 1 - p and time drifts of correlation q
  N = 1; mean_client_drift2 = d**2; one_drift2 = e**2; weights_products = 2*p*(1 - p);
    drifts_own2 = e**2*weights_squares; drifts_pairs = weights_products*q*e**2; weights_squares = p**2 + (1 - p)**2;
    correlated_bias2 = d**2 + e**2*weights_squares + 2*p*(1 - p)*q*e**2
  over share p, sign q
"""


def _read() -> Iterator[tuple[str, Realisation]]:
    # What is indented further goes on with the line before it.
    for block in re.split(r"\n(?=\S)", _TEXT.replace("\n    ", " ").strip()):
        head, *lines = block.split("\n  ")
        keys, words = head.split(": ", 1)
        said = dict(line.split(" ", 1) for line in lines if line.startswith(("over ", "only ")))
        spans: dict[str, Range] = {}
        for drawn in filter(None, said.get("over", "").split(", ")):
            kind, *names = drawn.split()
            spans |= dict.fromkeys(names, _SPANS[kind])
        only = tuple(said.get("only", "printed repair sharp").split())
        yield from ((key, Realisation(words, lines[0], spans, only)) for key in keys.split("; "))


ROWS: Mapping[str, Realisation] = dict(_read())
