"""How the CFL paper splits its data: algorithms by hand, and which of their changes are needed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from rows import points_of

from cflag_theory.claims.cfl.experiments import splitting as page
from cflag_theory.verify.checks.cfl import experiments_quadratic_model as check


def renormalize(theta, i):
    """Algorithm 5 line by line, theta changing while the loop runs; theta / theta[i] is theta without theta[i]."""
    changed = list(theta)
    for j in range(len(changed)):
        if j != i:
            changed[j] /= sum(weight for place, weight in enumerate(changed) if place != i)
    return changed


def test_the_page_has_what_the_algorithm_gives():
    for values in (point.values for point in points_of("cfl.alg5")):
        theta = [Fraction(str(values[name])) for name in (page.theta_a, page.theta_b, page.deleted)]
        assert [values[page.new_theta(0)], values[page.new_theta(1)]] == renormalize(theta, 2)[:2]


def test_algorithm5_by_hand():
    quarter = Fraction(1, 4)
    assert renormalize([2 * quarter, quarter, quarter], 2) == [Fraction(2, 3), Fraction(3, 11), quarter]
    # One class left: the loop divides by that class alone.
    assert renormalize([quarter, 3 * quarter], 1)[0] == 1


@pytest.mark.parametrize("small", [Fraction(1, 100), Fraction(1, 10**6)])
def test_the_printed_sum_can_be_as_small_as_one_likes(small):
    share = Fraction(1, 100)
    after = renormalize([share * small, (1 - share) * small, 1 - small], 2)
    assert sum(after[:2]) == share + (1 - share) * small / (share + (1 - share) * small)


def test_the_gap_of_algorithm5_as_the_notes_give_it():
    theta = [Fraction(1, 8), Fraction(1, 4), Fraction(1, 8), Fraction(1, 2)]
    running, gap, weights = sum(theta[:3]), theta[3], list(theta)
    for j in range(3):
        gap *= 1 - weights[j] / running
        weights[j] /= running
        running = sum(weights[:3])
    assert 1 - sum(renormalize(theta, 3)[:3]) == gap > 0


def test_algorithm6_fails_where_it_is_said_to():
    ended, failures = check.split((1, 1), 1, Fraction(2), frozenset())
    assert ended
    assert any(line.endswith("G[1] = 2 is not a class") for line in failures)
    assert check.split((1, 1), 1, Fraction(2)) == (1, [])
    # More is asked for than there is.
    assert check.split((1, 1), 3, Fraction(1))[0] == 0
    assert check.split((1, 1), 3, Fraction(1))[1]


@pytest.mark.parametrize(
    ("changes", "failures"),
    [
        (frozenset(), 72),
        (frozenset({check.INDEX}), 72),
        (frozenset({check.INDEX, check.DELETE}), 48),
        (frozenset({check.INDEX, check.REDRAW}), 50),
        (check.ALL, 0),
    ],
)
def test_each_change_of_algorithm6_is_needed(changes, failures):
    assert len(check.failing(changes)) == failures


def test_238_would_fit_the_training_images():
    assert 210 * 238 <= 50000 < 210 * 239


@pytest.mark.parametrize(("step", "share"), [(285, 0), (213, Fraction(72, 285)), (142, Fraction(143, 285))])
def test_overlaps(step, share):
    starts = check.windows(step)
    assert starts[-1] + 285 <= 30 * 285 < starts[-1] + step + 285
    assert Fraction(max(0, 285 - step), 285) == share
