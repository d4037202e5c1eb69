"""What constants the worst cases need, where they tend, and how large a step size the printed ones allow."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.studies.worst_cases import lemmas, ranges
from cflag_theory.studies.worst_cases.lemmas import LEMMAS, find, of_order, worst_constant
from cflag_theory.studies.worst_cases.ranges import exp_bounds, largest_for_all, largest_step, last_place, supremum
from cflag_theory.verify.instances.attaining import walk_attaining
from cflag_theory.verify.instances.orders import all_worst, cyclic, settled, up_to_relabelling
from cflag_theory.verify.instances.recursions import local_worst

EXACT = [id for id, lemma in LEMMAS.items() if lemma.exact]
QUARTER, TWELFTH = Fraction(1, 4), Fraction(1, 12)


@pytest.mark.parametrize("id", EXACT)
@pytest.mark.parametrize("u", [TWELFTH, QUARTER, Fraction(2), Fraction(7)])
def test_the_worst_constant_is_that_of_the_worst_order(id, u):
    lemma = LEMMAS[id]
    for n, E in ((1, 4), (2, 5), (3, 6)):
        found = worst_constant(lemma, n=n, local_steps=E, u=u)
        assert found.exact
        assert found.how == ("argument" if lemma.argued and u * (E - 1) / E > 1 else "proof")
        assert found.constant == max(lemma.constant(one) for one in all_worst(n, E, u / E))
        assert found.attained == lemma.constant(walk_attaining(found.order, n=n, step=u / E))


#: n and E with worst cases near their limits: one component for the drift, many for the error.
_NEAR = {
    "cflag.lemma13": (1, 400),
    "cflag.lemma15_1": (1, 400),
    "cflag.lemma15_2": (1, 400),
    "cflag.cor14": (200, 400),
    "cflag.lemma16": (200, 400),
}


@pytest.mark.parametrize("id", EXACT)
def test_the_sharp_constants_of_the_ledger_are_approached_from_below(id):
    lemma = LEMMAS[id]
    assert lemma.range is not None
    (found,) = (part.sharp for part in claim(id).parts if part.sharp)
    best, low_high = float(found.value), supremum(lemma, lemma.range)
    assert float(low_high[0]) == pytest.approx(best, rel=1e-12)
    assert float(found.printed) == pytest.approx(float(lemma.printed(lemma.range)))
    # Never above, whatever n and E; nearer and nearer.
    for n, E in product((1, 2, 5, 20), (1, 2, 5, 20, 60)):
        assert worst_constant(lemma, n=n, local_steps=E, u=lemma.range).constant < low_high[0]
    n, E = _NEAR[id]
    assert 0.985 * best < float(worst_constant(lemma, n=n, local_steps=E, u=lemma.range).constant) < best


@pytest.mark.parametrize("id", EXACT)
@pytest.mark.parametrize("u", [Fraction(3, 2), Fraction(3), Fraction(5)])
def test_beyond_the_printed_ranges_the_limit_is_approached_from_below_too(id, u):
    lemma = LEMMAS[id]
    low, high = supremum(lemma, u)
    assert high - low < Fraction(1, 10**9) * low
    for n, E in product((1, 3, 9, 30), (3, 9, 30)):
        assert worst_constant(lemma, n=n, local_steps=E, u=u).constant < low
    if lemma.quantity in ("error", "error_sum"):
        # Turns that are short beside the round, then a stale table of all components but one.
        n, E = 60, 12_000
        turns = {1, *(int(E * share / float(u)) for share in (0.5, 1, 2, 3, 4, 4.1) if share < u)}
        met = max(_float_constant(lemma, settled(n, E, one), n, float(u) / E) for one in turns)
        assert 0.93 * float(low) < met < float(high)
    else:
        found = [worst_constant(lemma, n=1, local_steps=E, u=u).constant for E in (50, 100, 200, 400)]
        assert sorted(found) == found
        assert 0.93 * low < found[-1] < low


def _float_constant(lemma, order, n, step):
    """The recursion on floats, for rounds too long for fractions."""
    drift, filled, table = [0.0], [0.0] * n, [0.0]
    for j in order:
        drift.append(drift[-1] + step * (1 + table[-1]))
        table.append(table[-1] + (drift[-1] - filled[j]) / n)
        filled[j] = drift[-1]
    errors = [d - mean for d, mean in zip(drift, table, strict=True)]
    E = len(drift)
    return max(errors) / (step * E) if lemma.quantity == "error" else sum(errors) / (step * E * E)


@pytest.mark.parametrize(
    ("id", "root"),
    [
        ("cflag.lemma13", lambda u: math.expm1(u) - 4 * u),
        ("cflag.cor14", lambda u: math.exp(u - 1) - 2 * u),
        ("cflag.lemma15_1", lambda u: math.expm1(u) - u - 4 * u**2),
        ("cflag.lemma15_2", lambda u: (math.expm1(u) / u) ** 2 - 32 * u**2 - 2),
        ("cflag.lemma16", lambda u: math.exp(u - 2) - u**2),
    ],
)
def test_the_largest_step_for_all_sizes_is_a_root(id, root):
    low, high = largest_for_all(LEMMAS[id])
    assert root(float(low)) < 0 < root(float(high))
    assert high - low < Fraction(1, 10**5)
    assert low > LEMMAS[id].range


#: What the notes of the ledger print.
PRINTED_ROOTS = {
    "ours.worst_drift": ("cflag.lemma13",),
    "ours.worst_iag_error": ("cflag.cor14",),
    "ours.worst_error_beyond": ("cflag.cor14",),
    "ours.worst_sums": ("cflag.lemma15_1", "cflag.lemma15_2", "cflag.lemma16"),
}


@pytest.mark.parametrize("id", PRINTED_ROOTS)
def test_the_notes_print_these_roots(id):
    text = " ".join(claim(id).notes)
    for lemma in PRINTED_ROOTS[id]:
        low, high = (str(math.floor(10**4 * side) / 10**4) for side in largest_for_all(LEMMAS[lemma]))
        assert low == high
        assert f"{low}..." in text


@pytest.mark.parametrize("id", EXACT)
@pytest.mark.parametrize(("n", "E"), [(1, 3), (2, 5), (4, 8), (3, 40)])
def test_an_instance_breaks_the_lemma_just_beyond_its_largest_step(id, n, E):
    lemma = LEMMAS[id]
    found = largest_step(lemma, n=n, local_steps=E)
    if found is None:
        assert (n, lemma.quantity) in ((1, "error"), (1, "error_sum"))
        return
    low, high = found
    assert low < high < low * (1 + Fraction(1, 10**6))
    assert largest_for_all(lemma)[0] < low

    def met(u):
        order = worst_constant(lemma, n=n, local_steps=E, u=u).order
        return lemma.constant(walk_attaining(order, n=n, step=u / E)) - lemma.printed(u)

    assert met(low) <= 0 < met(high)
    # True all the way up.
    assert all(met(low * Fraction(i, 12)) < 0 for i in range(1, 12))


@pytest.mark.parametrize("id", EXACT)
def test_with_two_local_steps_nothing_depends_on_a_refreshed_table(id):
    lemma = LEMMAS[id]
    assert largest_step(lemma, n=3, local_steps=2) is None
    assert largest_step(lemma, n=3, local_steps=1) is None
    for u in (Fraction(1), Fraction(1000)):
        assert worst_constant(lemma, n=3, local_steps=2, u=u).constant <= lemma.printed(u)


def test_lemma_15_II_fails_once_and_for_good():
    lemma = LEMMAS["cflag.lemma15_2"]
    for n, E in ((1, 3), (1, 12), (5, 6)):
        _, high = largest_step(lemma, n=n, local_steps=E)
        found = {
            share: worst_constant(lemma, n=n, local_steps=E, u=high * share).constant <= lemma.printed(high * share)
            for share in (Fraction(i, 40) for i in range(1, 120))
        }
        assert all(holds == (share < 1) for share, holds in found.items())


@pytest.mark.parametrize(("n", "E"), [(1, 3), (1, 40), (3, 5), (50, 3)])
def test_where_lemma_15_II_is_looked_at_nothing_is_overlooked_before_and_after(n, E):
    lemma, begin = LEMMAS["cflag.lemma15_2"], ranges._unfolded(n, E)

    def quotient(u):
        return worst_constant(lemma, n=n, local_steps=E, u=u).constant / lemma.printed(u)

    # The sum at u is at least twice that at u / 2, so its slope is steeper there than the chord from 0, and after.
    sums = [local_worst(cyclic(n, E), n=n, step=u / E).gradient_sum for u in (begin, begin / 2)]
    assert sums[0] >= 2 * sums[1]
    assert max(quotient(begin * Fraction(i, 20)) for i in range(1, 21)) <= 1
    later = [quotient(begin * (1 + Fraction(i, 5))) for i in range(20)]
    assert sorted(later) == later


def test_lemma_12_needs_no_maximum_up_to_beta_L_E_one():
    lemma = LEMMAS["cflag.lemma12"]
    assert largest_for_all(lemma) is largest_step(lemma, n=4, local_steps=6) is None
    for n, E in ((1, 3), (3, 4), (4, 6), (30, 60)):
        found = worst_constant(lemma, n=n, local_steps=E, u=Fraction(1))
        assert found.constant == found.attained == 0
    # Whatever the order.
    assert all(of_order(lemma, order, n=3, u=Fraction(1)).attained == 0 for order in up_to_relabelling(3, 6))


@pytest.mark.parametrize("u", [Fraction(3, 2), Fraction(6), Fraction(40)])
def test_beyond_that_lemma_12_is_enclosed(u):
    lemma = LEMMAS["cflag.lemma12"]
    for n, E in ((2, 4), (3, 5), (3, 6)):
        found = worst_constant(lemma, n=n, local_steps=E, u=u)
        assert found.how == "enumeration"
        assert 0 <= found.attained <= found.constant <= 1
        for one in all_worst(n, E, u / E):
            assert lemma.constant(one) <= found.constant
    many = worst_constant(lemma, n=20, local_steps=30, u=u)
    assert many.how == "bounds"
    assert many.attained <= many.constant < 1
    assert supremum(lemma, u) == (0, 1)


def test_the_bounds_on_the_error_of_lemma_12_by_hand():
    # n = 3, one component after the other: filled at (1, 2, 0) when k = 2, at (1, 2, 3) when k = 3.
    b = Fraction(5, 7)
    worst = local_worst((0, 1, 2), n=3, step=b)
    third = Fraction(1, 3)
    assert lemmas._lemma12_lines(worst) == [
        # Two steps back to x_0 and one to x_1; the last step, and M more from x_1 to x_0.
        (2, [(b, 2 * b / 9), (2 * b / 3, 2 * b / 9 + third), (worst.error[2], 0)]),
        # One step back to x_2, two to x_1; the last step, and 2 M between x_2 and x_1 on both sides of x_t.
        (3, [(b, 5 * b / 9), (2 * b / 3, 4 * b / 9 + 2 * third), (worst.error[3], 0)]),
    ]


@pytest.mark.parametrize("u", [Fraction(3, 2), Fraction(6), Fraction(40)])
def test_without_enumeration_lemma_12_has_a_bound_that_no_order_exceeds(u, monkeypatch):
    lemma, found = LEMMAS["cflag.lemma12"], {}
    for n, E in ((1, 4), (2, 6), (3, 6), (4, 5)):
        every = worst_constant(lemma, n=n, local_steps=E, u=u)
        with monkeypatch.context() as patch:
            patch.setattr(lemmas, "_FEW", 0)
            found[n, E] = worst_constant(lemma, n=n, local_steps=E, u=u)
        assert found[n, E].how == "bounds"
        assert every.constant <= found[n, E].constant < 1
        assert found[n, E].attained <= found[n, E].constant
    assert found[1, 4].constant == 0
    # By hand: n = 2, E = 6 and k = 5; the two bounds meet at M = error / (beta L k) - 1, and M is at least beta L.
    step = u / 6
    most = max(one.error[5] for one in all_worst(2, 6, step))
    place = max(most / (5 * step) - 1, step)
    assert found[2, 6].constant == max(0, (most - u) / (u * place))


def test_lemma_12_is_bounded_where_two_of_its_lines_meet():
    """The ceiling against a fine grid of M, for orders whose largest quotient is inside the range."""
    lemma, inside = LEMMAS["cflag.lemma12"], 0
    for worst in all_worst(3, 6, Fraction(1)):
        u, ends, grid = Fraction(6), [Fraction(0)], []
        for k, lines in lemmas._lemma12_lines(worst):
            low, high = worst.step, worst.drift[k - 1]
            places = [low + (high - low) * Fraction(i, 50) for i in range(51)]
            found = [(min(a + slope * M for a, slope in lines) - u) / (u * M) for M in places]
            grid += found
            ends += [found[0], found[-1]]
        assert max(grid) <= lemmas.ceiling(lemma, worst)
        inside += max(grid) > max(ends)
    assert inside > 0


def test_what_lemma_12_needs_at_its_first_maximum():
    # n = 2, E = 3, k = 2: the error is beta L + (beta L)^2 / 4 and the maximum beta L.
    for b in (Fraction(16), Fraction(100)):
        found = of_order(LEMMAS["cflag.lemma12"], (0, 0), n=2, u=3 * b)
        assert found.attained == (b + b**2 / 4 - 3 * b) / (3 * b * b) > 0


def test_lemma_12_on_one_component_again_and_again_is_exact():
    lemma, order, u = LEMMAS["cflag.lemma12"], (0,) * 9, Fraction(12)
    found = of_order(lemma, order, n=4, u=u)
    assert found.how == "given"
    assert found.exact
    assert 0 < found.constant < Fraction(1, 4)


def test_lemmas_by_name():
    assert find("lemma13") is find("cflag.lemma13") is LEMMAS["cflag.lemma13"]
    with pytest.raises(UnknownName, match=r"'lemma3': use lemma12, lemma13, cor14"):
        find("lemma3")
    for id, lemma in LEMMAS.items():
        assert claim(id).where.startswith(lemma.where)


def test_a_step_size_must_be_positive_and_exact():
    for u, message in ((Fraction(0), "beta L E is 0: "), (0.25, r"beta L E is 0\.25")):
        with pytest.raises(InvalidInput, match=message):
            worst_constant(LEMMAS["cflag.lemma13"], n=1, local_steps=3, u=u)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 12), Fraction(1), Fraction(17, 3), Fraction(30)])
def test_exp_lies_between_its_bounds(x):
    low, high = exp_bounds(x)
    assert low <= high
    assert float(low) == pytest.approx(math.exp(x), rel=1e-14)
    assert high - low <= Fraction(1, 10**15) * high
    # Coarse bounds enclose fine ones.
    coarse = exp_bounds(x, terms=4)
    assert coarse[0] <= low <= high <= coarse[1]


def test_exp_of_a_negative_number_is_refused():
    with pytest.raises(InvalidInput, match="x = -1 is negative"):
        exp_bounds(Fraction(-1))


def test_where_a_condition_ends():
    low, high = last_place(lambda x: x * x <= 2, Fraction(1))
    assert low**2 <= 2 < high**2
    assert high - low <= low / 2**24
    assert last_place(lambda x: True, Fraction(1), top=50) is None
    with pytest.raises(InvalidInput, match="does not hold at 3"):
        last_place(lambda x: x < 2, Fraction(3))


def test_a_printed_constant_below_the_worst_case_is_noticed():
    lemma = LEMMAS["cflag.lemma13"]
    worst = local_worst((0,) * 39, n=1, step=QUARTER / 40)
    assert lemma.constant(worst) > Fraction(112, 100)
    assert lemma.constant(worst) <= lemma.printed(QUARTER)


@pytest.mark.parametrize("n", [2, 600, 40_000])
def test_many_components_allow_a_step_as_large_as_one_likes(n):
    # E = 3: d_2 / (2 beta) = 1 + beta L / (2 n) is 4 at beta L = 6 n.
    low, high = largest_step(LEMMAS["cflag.lemma13"], n=n, local_steps=3)
    assert low <= 18 * n < high
    for id in EXACT:
        found = largest_step(LEMMAS[id], n=n, local_steps=3)
        assert found is not None
        assert found[0] > n


def test_the_note_on_the_error_has_the_limits_that_are_computed():
    lemma, text = LEMMAS["cflag.cor14"], " ".join(claim("ours.worst_iag_error").notes)
    assert "at most u ||grad g(x_t)|| for u <= 1 and at most exp(u - 1) ||grad g(x_t)|| beyond" in text
    for u in (TWELFTH, Fraction(1)):
        assert supremum(lemma, u) == (1, 1)
    low, high = supremum(lemma, Fraction(3))
    assert float(3 * low) == pytest.approx(math.exp(2), rel=1e-14) == float(3 * high)


@pytest.mark.parametrize("id", ["ours.worst_sums", "cflag.lemma16"])
def test_where_5_3566_is_printed_it_is_said_that_no_proof_of_the_ledger_has_it(id):
    (note,) = (note for note in claim(id).notes if "5.3566" in note)
    assert "by an argument that is not one of the ledger's proofs" in note
    assert LEMMAS["cflag.lemma16"].argued
