"""Our fractions are the standard library's, and stay of our class."""

from __future__ import annotations

import operator
from fractions import Fraction as Plain
from random import Random

import numpy as np
import pytest

from cflag_theory.falsify.search.exact_numbers import Exact
from cflag_theory.kernels.exact import Fraction

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("size", [4, 60, 10**30])
@pytest.mark.parametrize("do", BINARY)
def test_every_result_is_the_library_s(do, size):
    random = Random(size)
    for _ in range(2000):
        a = Plain(random.randint(-size, size), random.randint(1, size))
        b = random.choice([Plain(random.randint(-size, size), random.randint(1, size)), random.randint(-size, size)])
        for left, right in ((a, b), (b, a)):
            ours = [Fraction(one) if isinstance(one, Plain) else one for one in (left, right)]
            for mine in (ours, [ours[0], right], [left, ours[1]]):
                if do is operator.truediv and right == 0:
                    with pytest.raises(ZeroDivisionError):
                        do(*mine)
                    continue
                found, wanted = do(*mine), do(left, right)
                assert (found.numerator, found.denominator) == (wanted.numerator, wanted.denominator)
                assert hash(found) == hash(wanted)
                assert type(found) is (Fraction if any(type(one) is Fraction for one in mine) else Plain)


def test_one_number_alone():
    for number in (Plain(-3, 4), Plain(0), Plain(5, 2)):
        own = Fraction(number)
        assert repr(own) == repr(number)
        assert [-own, abs(own), own**3] == [-number, abs(number), number**3]
        assert {type(-own), type(abs(own)), type(own**3)} == {Fraction}
    assert Fraction(-2, 3) ** -3 == Plain(-2, 3) ** -3
    assert Fraction(1, 4) ** Plain(1, 2) == 0.5
    assert Fraction(1, 2) + 0.25 == 0.75 == 1 - 0.5 * Fraction(1, 2)


def test_an_array_keeps_them():
    array = np.array([Fraction(1, 2), Fraction(1, 3)])
    assert {type(one) for one in (array @ array, array.sum(), (2 * array)[0], (array / 3)[1])} == {Fraction}


@pytest.mark.parametrize("do", BINARY)
def test_a_class_built_on_fractions_goes_first(do):
    """Otherwise the guard of `Exact` against floats would be lost on the way."""
    assert type(do(Fraction(1, 2), Exact(1, 3))) is type(do(Exact(1, 3), Fraction(1, 2))) is Exact
