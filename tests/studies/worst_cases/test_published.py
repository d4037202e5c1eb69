"""Published bounds beside exact worst cases: none is exceeded, and what applies at a step is said."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cflag_theory.figures import published_figure
from cflag_theory.kernels.own.algorithms import algorithm
from cflag_theory.studies.worst_cases import published
from cflag_theory.studies.worst_cases.published import PUBLISHED, that_apply
from cflag_theory.worstcase.methods import Setting


@pytest.fixture(scope="module")
def table():
    return published.table(((2, 2),))


def test_no_bound_with_its_constant_is_below_the_exact_value(table):
    assert [one.published for one in table.compared] == list(PUBLISHED)
    factors = {one.published.name: one.factor for one in table.compared}
    assert min(factors.values()) > 1
    assert factors["Khaled et al. 2019"] == pytest.approx(15.08, abs=0.01)
    assert factors["Karimireddy et al. 2020, SCAFFOLD"] == pytest.approx(82.1, abs=0.1)
    assert "recalled, to be checked" in " ".join(table.sheet().notes)


def test_the_figure_has_a_row_for_each(table):
    (axes,) = published_figure(table).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [one.name for one in reversed(PUBLISHED)]


def test_the_same_is_bounded_that_is_solved():
    """One local step without heterogeneity: the mean of the local points is that of x_0, ..., x_{T-1}."""
    by_name = {one.name: one for one in PUBLISHED}
    setting = Setting(algorithm("fedavg"), 1, 1, Fraction(1, 10), heterogeneity=Fraction(0))
    for name in ("Khaled et al. 2019", "Karimireddy et al. 2020, FedAvg"):
        # F(x_0) - F* itself.
        assert published.compare(by_name[name], setting).exact == pytest.approx(0.5, abs=1e-6)


def test_bounds_apply_in_their_range_only():
    def names(method, eta, **more):
        return [one.published.name for one in that_apply(Setting(algorithm(method), 2, 2, Fraction(eta), **more))]

    assert names("fedavg", "1/10") == ["Khaled et al. 2019", "Khaled et al. 2020"]
    assert len(names("fedavg", "1/100")) == 3
    assert names("scaffold", "1/200") == ["Karimireddy et al. 2020, SCAFFOLD"]
    assert names("fedavg", "1") == names("fedtrack", "1/100") == []
    assert names("fedavg", "1/100", measure="distance") == names("fedavg", "1/100", clients=1) == []


def test_units_do_not_matter():
    one = Setting(algorithm("fedavg"), 2, 2, Fraction(1, 10))
    other = Setting(
        algorithm("fedavg"), 2, 2, Fraction(1, 50), L=Fraction(5), radius=Fraction(2), heterogeneity=Fraction(100)
    )
    for a, b in zip(that_apply(one), that_apply(other), strict=True):
        assert b.bound == pytest.approx(20 * a.bound)
        assert b.exact == pytest.approx(20 * a.exact, rel=1e-4)
