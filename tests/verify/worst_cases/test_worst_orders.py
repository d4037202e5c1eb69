"""The worst order, by proof, against all orders up to relabelling."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.orders import (
    all_worst,
    count_up_to_relabelling,
    cyclic,
    measure,
    repeated,
    settled,
    up_to_relabelling,
    worst_order,
)
from cflag_theory.verify.instances.recursions import local_worst

QUANTITIES = ("drift", "error", "gradient_sum", "error_sum", "delayed_sum")
SHARES = tuple(Fraction(share) for share in ("1/12", "1/2", "1", "3/2", "3", "10", "60"))


def error_ceiling(k: int, step: Fraction) -> Fraction:
    """max_s beta L (k - s) (1 + beta L)^s over s <= k: no n and no order has a larger error at k."""
    return max(step * (k - s) * (1 + step) ** s for s in range(k + 1))


def error_sum_ceiling(local_steps: int, step: Fraction) -> Fraction:
    """max_s beta L (1 + beta L)^s (E - s)(E - s - 1)/2: the same for the sum of the errors of E local steps."""
    E = local_steps
    return max(step * (1 + step) ** s * (E - s) * (E - s - 1) / 2 for s in range(E))


@pytest.mark.parametrize(("n", "E"), list(product((1, 2, 3, 4), range(1, 8))))
def test_no_order_is_worse_than_the_worst_one(n, E):
    for share in SHARES:
        step = share / E
        everything = list(all_worst(n, E, step))
        for quantity in QUANTITIES:
            found = local_worst(worst_order(quantity, n=n, local_steps=E, step=step), n=n, step=step)
            assert measure(quantity, found) == max(measure(quantity, one) for one in everything)
        # The last local step is the worst one for both.
        last = local_worst(worst_order("error", n=n, local_steps=E, step=step), n=n, step=step).error[-1]
        assert max(max(one.error) for one in everything) == last
        turns = local_worst(cyclic(n, E), n=n, step=step)
        assert all(a <= b for one in everything for a, b in zip(one.drift, turns.drift, strict=True))


@pytest.mark.parametrize(("n", "E"), list(product((2, 3, 4), (4, 5, 7))))
def test_neither_the_components_in_turn_nor_one_alone_are_the_worst_for_every_step(n, E):
    def most(share, order):
        return local_worst(order, n=n, step=share / E).error[-1]

    assert most(SHARES[0], repeated(E)) > most(SHARES[0], cyclic(n, E))
    far = worst_order("error", n=n, local_steps=E, step=SHARES[-1] / E)
    assert most(SHARES[-1], far) > most(SHARES[-1], repeated(E))
    assert far != repeated(E)


def test_up_to_beta_L_k_one_it_is_one_component_again_and_again():
    for n, E in product((2, 5, 40), (2, 9, 60)):
        assert worst_order("error", n=n, local_steps=E, step=Fraction(1, E - 1)) == repeated(E)
        assert worst_order("error_sum", n=n, local_steps=E, step=Fraction(1, E - 1)) == repeated(E)


def test_the_order_changes_where_a_fresh_table_begins_to_pay():
    # n = 2, E = 4: refreshing the other component at k = 2 pays from (1 + b/2) - 1 = 1 on, that is beta L = 2.
    before, after = (worst_order("error", n=2, local_steps=4, step=Fraction(step)) for step in ("199/100", "201/100"))
    assert before == (0, 0, 0)
    assert after == (0, 1, 1)


def test_ceilings_for_all_sizes():
    for n, E, share in product((2, 6, 30), (3, 12, 40), (Fraction(1, 2), Fraction(2), Fraction(5))):
        step = share / E
        error = local_worst(worst_order("error", n=n, local_steps=E, step=step), n=n, step=step).error[-1]
        total = local_worst(worst_order("error_sum", n=n, local_steps=E, step=step), n=n, step=step).error_sum
        assert 0 < error < error_ceiling(E - 1, step)
        assert 0 < total < error_sum_ceiling(E, step)


def _stirling(steps, sets):
    """Partitions of a set into that many parts, by inclusion and exclusion."""
    total = sum((-1) ** (sets - j) * comb(sets, j) * j**steps for j in range(sets + 1))
    for divisor in range(1, sets + 1):
        total //= divisor
    return total


@pytest.mark.parametrize(("n", "E"), list(product((1, 2, 3, 5), (1, 2, 4, 6))))
def test_orders_up_to_relabelling_are_all_and_differ(n, E):
    found = list(up_to_relabelling(n, E))
    assert len(set(found)) == len(found) == count_up_to_relabelling(n, E)
    assert len(found) == sum(_stirling(E - 1, sets) for sets in range(n + 1))
    named = set()
    for order in product(range(n), repeat=E - 1):
        names = {}
        named.add(tuple(names.setdefault(j, len(names)) for j in order))
    assert named == set(found)


def test_relabelling_changes_nothing():
    step = Fraction(3, 8)
    one, other = local_worst((0, 1, 1, 2), n=4, step=step), local_worst((3, 0, 0, 1), n=4, step=step)
    assert (one.drift, one.table) == (other.drift, other.table)


def test_named_orders():
    assert cyclic(3, 6) == (0, 1, 2, 0, 1)
    assert repeated(4) == (0, 0, 0)
    assert settled(3, 7, 5) == (0, 1, 2, 0, 1, 1)
    assert settled(3, 4, 1) == repeated(4)
    assert settled(3, 4, 9) == cyclic(3, 4)
    assert cyclic(2, 1) == repeated(1) == ()


def test_what_cannot_be_enumerated_is_said(monkeypatch):
    monkeypatch.setattr(orders, "LIMIT", 10)
    with pytest.raises(InvalidInput, match=r"n = 3 and E = 5 have 14 orders, too many .*use a smaller n or E"):
        all_worst(3, 5, Fraction(1))


def test_unknown_quantities_are_refused():
    with pytest.raises(InvalidInput, match="'gap' is unknown: use one of drift"):
        worst_order("gap", n=2, local_steps=3, step=Fraction(1))
    with pytest.raises(InvalidInput, match="'gap' is unknown: use one of drift"):
        measure("gap", local_worst((0,), n=1, step=1))
