"""Attacks through what makes rounds a run: vectors with an index, the vector with which a round ends, settings."""

from __future__ import annotations

import pytest
import sympy as sp
from attacks import Attack, answer, fact, table
from test_imported_facts import named, takes
from test_replaced_in_imports import of

from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.operators import Largest, index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

c = sp.Symbol("c", nonnegative=True)
a = sp.Symbol("a", positive=True)
k, n = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kn")
draw, fresh, other = (index(f"red {name}") for name in ("draw", "fresh", "other"))
past, noises, others = (mean_over(f"red mean over {one}", one) for one in (draw, fresh, other))
of_x, of_u, of_noise, of_y, of_run, of_end = (
    vector(f"red {name}", name) for name in ("begin", "step", "noise", "fixed", "way", "end")
)
x, u, noise, y, end = of_x(draw), of_u(draw), of_noise(draw, fresh), of_y(draw), of_end(draw, fresh)
f, g = function("red round", "f_r"), function("red other round", "g_r")
STEP = setting("red step", equal(u, x - a * f.grad(x)), "A step.")
ENDS = setting("red end", equal(end, u - a * noise), "The end of a round.")
UNBIASED = setting("red unbiased", equal(noises(noise), 0), "The noise.")
PLACED = setting("red place", equal(x, 2 * y), "What begins a round.")
now, later = of_run(k, draw), of_run(k + 1, draw)
AFTER = past(noises(norm2(end)))
ROUND = at_most(AFTER, past(norm2(x)) / 2)
RUN = at_most(past(norm2(later)), past(norm2(now)) / 2)


def run(relation, *given, source=ROUND, uses=(STEP, ENDS, UNBIASED), at=((x, now),), ends=((end, later),), needs=()):
    """A relation of a run from a round's."""
    return takes(relation, *given, forall=(k,), sources=named(at=at, ends=ends), source=of(source, *needs, uses=uses))


def squared(relation):
    """The same from a source about (𝔼 ||end||^2 | past)^2 and the like."""
    return run(RUN, source=relation)


ATTACKS = [
    Attack("a run's vector with an index of another mean", run(RUN, at=((x, of_run(k, other)),)), "does not begin"),
    Attack("a vector that knows the noise", run(RUN, at=((x, of_run(k, fresh)),)), "wherever it stands"),
    Attack(
        "one member of a family for all",
        run(RUN, source=at_most(AFTER, past(norm2(x)) / 4 + past(norm2(of_x(other))) / 4)),
        "wherever it stands",
    ),
    Attack("a member at a sum of indices", run(RUN, at=((of_x(draw + 1), now),)), "wherever it stands"),
    Attack("the end of the same round", run(RUN, ends=((end, now),)), "does not begin the next round"),
    Attack("the end of the round after next", run(RUN, ends=((end, of_run(k + 2, draw)),)), "does not begin"),
    Attack("the end of another run", run(RUN, ends=((end, y),)), "does not begin the next round"),
    Attack("an end where nothing begins", run(RUN, at=()), "does not begin the next round"),
    Attack(
        "a beginning that is said to be something else",
        run(RUN, uses=(STEP, ENDS, UNBIASED, PLACED)),
        "does not begin the next round",
    ),
    Attack("an end in every draw", run(RUN, source=at_most(norm2(end), past(norm2(x)) / 2)), "where"),
    Attack(
        "the mean of the end given the past",
        run(RUN, source=at_most(past(norm2(noises(end))), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "the square of what is expected given the past",
        run(RUN, source=at_most(past(noises(norm2(end)) ** 2), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "an end beside the noise of its round",
        run(RUN, source=at_most(past(noises(dot(end, noise))), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "an end and the square of the noise of its round",
        run(RUN, source=at_most(past(noises(norm(end) * norm(noise))), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "a sum over draws",
        run(RUN, source=at_most(past(sum_over(fresh, n)(norm2(end))), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "the largest of all draws",
        run(RUN, source=at_most(past(Largest(fresh, n, norm2(end))), past(norm2(x)) / 2)),
        "does not stand alone under expectations",
    ),
    Attack(
        "a sum of which a part is spoken of elsewhere",
        run(
            RUN,
            source=at_most(past(noises(norm2(u - a * noise))), past(norm2(x)) / 2 + past(noises(norm2(noise)))),
            ends=((u - a * noise, later),),
        ),
        "its proof uses 'red step'",
    ),
    Attack(
        "what is assumed of the end",
        run(RUN, needs=(fact("short", at_most(AFTER, c)),)),
        "is spoken of in what",
    ),
    Attack("a number for an end", run(RUN, ends=((end, c),)), "does not stand alone"),
    Attack(
        "a step of another function",
        run(
            at_most(past(f(later)), past(f(now))),
            source=at_most(past(noises(f(end))), past(f(x))),
            at=((x, now), (f, g)),
        ),
        "it does not follow",
    ),
    Attack(
        "a step that something is said of",
        run(RUN, fact("step", at_most(past(norm2(u)), c))),
        "its proof uses 'red step'",
    ),
    Attack(
        "a step that the relation still has",
        run(
            at_most(past(norm2(later)), past(norm2(now)) / 2 + past(norm2(u))),
            source=at_most(AFTER, past(norm2(x)) / 2 + past(norm2(u))),
        ),
        "its proof uses 'red step'",
    ),
    Attack(
        "noise that need not have mean zero",
        run(
            at_most(past(norm2(later)), past(noises(norm2(of_noise(draw, other))))),
            source=at_most(AFTER, past(noises(norm2(noise)))),
            at=((x, now), (noise, of_noise(draw, other))),
        ),
        "its proof uses 'red unbiased'",
    ),
]


@table(*ATTACKS)
def test_rounds_make_a_run_only_where_one_begins_as_another_ends(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "sound",
    [
        run(RUN),
        run(
            at_most(past(norm2(later - y)), past(norm2(now - y)) / 2),
            source=at_most(past(noises(norm2(end - y))), past(norm2(x - y)) / 2),
        ),
        run(
            RUN, source=at_most(past(noises(norm2(u - a * noise))), past(norm2(x)) / 2), ends=((u - a * noise, later),)
        ),
        run(
            at_most(past(f(later)), past(f(now))),
            source=at_most(past(noises(f(end))), past(f(x))),
        ),
    ],
)
def test_a_run_is_made_of_rounds(sound):
    assert sound() == "nothing"


ROOT, SQUARE = sp.sqrt(past(norm2(x))), sp.Function("red_square", nonnegative=True)
root = sp.Function("red_root", nonnegative=True)


def called(new, *given, old=ROOT, relation=None):
    source = at_most(ROOT, 1) if relation is None else relation
    return takes(at_most(new, 1), *given, forall=(k,), sources=named(at=((x, now), (old, new))), source=of(source))


@table(
    Attack(
        "a root of another square",
        called(root(k), fact("root", equal(root(k) ** 2, 2 * past(norm2(now))), k)),
        "known as something else",
    ),
    Attack(
        "the root of one member for all",
        called(root(k), fact("root", equal(root(0) ** 2, past(norm2(of_run(0, draw)))))),
        "known as something else",
    ),
    Attack(
        "a bound for an equation",
        called(root(k), fact("root", at_most(root(k) ** 2, past(norm2(now))), k)),
        "known as something else",
    ),
)
def test_a_name_that_is_known_must_be_shown_equal(attack):
    assert attack.sentence in answer(attack)


def test_a_fact_may_say_what_a_name_is():
    assert called(root(k), fact("root", equal(root(k) ** 2, past(norm2(now))), k))() == "nothing"
    assert called(root(k), fact("root", equal(root(k), sp.sqrt(past(norm2(now)))), k))() == "nothing"
