"""(67)-(68), Lemmas 3 and 11: the instances by hand, and the sum over the rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from rows import points_of

from cflag_theory.claims.c_flag.union import lemma3 as union
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine import notation
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.kernels import simulate
from cflag_theory.verify.checks.c_flag.union import at_rest
from cflag_theory.verify.instances.unions import AT_REST, UnionRun, random_unions, union_run


def test_the_replay_of_67_and_68_is_the_delayed_method_and_one_full_step():
    """A second witness of how (67)-(68) are run: FedTrack on the union, less beta grad h~."""
    step, steps = Fraction(1, 90), 3
    union, _ = random_unions()[0]
    x = UnionRun(union, step, step, steps).visited
    alone = simulate(
        union.problem(),
        "fedtrack",
        beta=step,
        local_steps=steps,
        rounds=1,
        seed=68,
        engine="reference",
        iterates=True,
    )
    both = [[*kept, *new] for kept, new in zip(union.memory, union.current, strict=True)]
    at = [sum(a * union.start - b for a, b in client) / Fraction(len(client)) for client in both]
    assert x[1] == alone.iterates[0, 1, 0] - step * sum(p * g for p, g in zip(union.p, at, strict=True))


def test_the_two_unions_are_one_function_for_equal_shares():
    """h~ by total sizes is that of the replayed runs where the shares are equal."""
    even = [union for union, _ in random_unions() if union.spread == 0]
    assert len(even) > 3
    for data in (AT_REST, *even):
        run = UnionRun(data, Fraction(1, 60), Fraction(1, 60), 2, 3)
        assert [value for value, _ in run.by_sizes] == run.losses
        assert [slope**2 for _, slope in run.by_sizes[:-1]] == run.sizes2


@pytest.mark.parametrize("smoothness", [1, 89])
def test_every_round_satisfies_73_where_the_kept_components_are_smooth(smoothness):
    steep = union_run(Fraction(1, 30), 1, kept=smoothness, pull=0, curve=1, push=0, start=1)
    random = (UnionRun(union, Fraction(1, 30 * E), Fraction(1, 30 * E), E, 3) for union, E in random_unions()[:8])
    for run in (steep, *random):
        met = all(
            size2 <= 60 * (here - there) for size2, (here, there) in zip(run.sizes2, pairwise(run.losses), strict=True)
        )
        assert met == (run.L_memory <= 1)


def test_instances_against_the_hypotheses():
    """By hand: x goes from 1 to -2 on 45 x^2/2, and from 0 to -1/50 on x^2/2."""
    first, second = (next(p for p in points_of("cflag.lemma3_surrogate") if p.part == part).values for part in "12")
    assert (first[surrogate.h(0)], first[surrogate.h(surrogate.T)], first[surrogate.least]) == (
        Fraction(45, 2),
        90,
        2025,
    )
    assert (second[surrogate.h_sizes(0)], second[surrogate.h_sizes(surrogate.T)]) == (0, Fraction(1, 5000))


def test_the_best_constant_is_within_a_thousandth():
    lower = 2 / (1 - sp.exp(-sp.Rational(1, 15)))
    assert sp.Rational(31011, 1000) < lower < sp.Rational(31012, 1000)
    assert LEDGER["cflag.lemma3_surrogate"]().parts[0].sharp.value / lower < sp.Rational(1001, 1000)


def test_a_bound_in_one_round_does_not_sum_up():
    """(74) needs (73) in every round: with the hypothesis in one round t alone its proof is refused."""
    printed = LEDGER["cflag.eq74"]().parts[0].printed
    assert examine(printed).accepted
    each, *others = printed.hypotheses
    once = replace(printed, hypotheses=(replace(each, forall=()), *others))
    assert "does not hold for every t" in examine(once).faults[0]


def test_lemma3_fails_with_any_constant():
    """The right side is zero where Algorithm 1 rests, so that no constant fixes it."""
    for point in points_of("cflag.lemma3"):
        assert point.values[union.h(0)] == point.values[union.h(union.T)]
        assert point.values[union.least] > 0


def test_the_family_that_refutes_lemma3_rests_where_it_says():
    family = LEDGER["cflag.lemma3"]().parts[0].refutation
    start = family.hypotheses[0]
    # The closed form is the one of the simulated round.
    assert at_rest([(1, 0)], [(1, 1)], 2).start == start.relation.right


def test_weights_of_first_order_do_not_save_lemma3():
    """|C| = E |M| makes both algorithms agree to first order in beta; the distance that remains is beta / 2 of it."""
    step = sp.Rational(1, 60)
    rest = at_rest([(1, 0)], [(1, 1)] * 2, 2).start
    assert rest == (2 - step / 2) / (3 - step / 2)
    assert rest != sp.Rational(2, 3)


def test_lemma11_with_equal_shares_uses_them():
    """The two h~ differ on some instances and are the same on others."""
    whole = [point for point in points_of("cflag.lemma11") if point.part == "2"]
    assert any(point.values[surrogate.share_spread] > 0 for point in whole)
    assert any(point.values[surrogate.share_spread] == 0 for point in whole)


def test_the_mean_of_the_clients_h_and_the_pooled_one_vanish_at_different_points():
    """Shares of memory 1/2 and 1/4, grad f_memory = 0 and grad g_i = (3, -2), by hand and as the row has it."""
    half = Fraction(1, 2)
    by_client = half * (1 - half) * 3 + half * (1 - Fraction(1, 4)) * -2
    g, pooled = half * 3 - half * 2, (1 - Fraction(1, 3)) * (half * 3 - half * 2)
    assert (by_client, g, pooled) == (0, half, Fraction(1, 3))
    (point,) = [one for one in points_of("cflag.lemma3_remark") if one.part == "2"][:1]
    assert (point.values[union.size_by_client], point.values[union.size_g]) == (0, half)
    assert point.values[notation.r] * point.values[union.share] < 1 - point.values[union.share]
