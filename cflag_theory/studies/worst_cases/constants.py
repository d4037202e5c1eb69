"""`sharp`: paper constant, exact worst case and the instance that was run, along beta L E, E and n."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Annotated

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import fraction
from cflag_theory.public import Rule, at_least, taking
from cflag_theory.studies.worst_cases.findings import Range, Row, Sharp, Union
from cflag_theory.studies.worst_cases.lemmas import Lemma, choose, of_order, worst_constant
from cflag_theory.studies.worst_cases.ranges import largest_for_all, largest_step, supremum
from cflag_theory.studies.worst_cases.surrogate import (
    PRINTED_STEP,
    best_union_constant,
    many_steps,
    printed_range,
    union_constant,
)
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.attaining import walk_attaining
from cflag_theory.verify.instances.recursions import POSITIVE, check_order, local_worst

#: beta L E by default: the printed ends of ranges, and beyond.
STEPS = (Fraction(1, 12), Fraction(1, 4), Fraction(1), Fraction(2), Fraction(4))
#: n and E by default.
SIZES, LOCAL_STEPS = (1, 8), (4, 16)
#: The same for the command where worst cases are to be solved.
SOLVED_SIZES, SOLVED_LOCAL_STEPS = (1, 2), (4,)
#: Orders that have a name; "worst" is the worst for each lemma.
ORDERS = ("worst", "cyclic", "repeated")
#: Local steps up to which an instance is run in exact arithmetic.
MOST_STEPS = 200
#: Components, and n E, up to which that takes about a second.
MOST_COMPONENTS, MOST_GRADIENTS = 1_000, 20_000
#: The largest beta L E for which exp is bounded by fractions in reasonable time, and the least that says something.
MOST_U, LEAST_U = 200, Fraction(1, 10**6)
_PLACE = POSITIVE._replace(
    fits=lambda value: POSITIVE.fits(value) and LEAST_U <= value <= MOST_U,
    wanted=f"a Fraction or a whole number from {LEAST_U} to {MOST_U}",
)
#: n E up to which a case is solved, in seconds.
MOST_SOLVED = 20


def _up_to(name: str, most: int) -> Rule:
    """Instances are run in exact arithmetic."""
    return Rule(lambda value: at_least(1).fits(value) and value <= most, f"an integer from 1 to {most}", called=name)


@taking
def sharp(
    lemmas: Sequence[str] = (),
    *,
    n: Sequence[Annotated[int, _up_to("n", MOST_COMPONENTS)]] = SIZES,
    local_steps: Sequence[Annotated[int, _up_to("E", MOST_STEPS)]] = LOCAL_STEPS,
    u: Sequence[Annotated[Fraction | int, _PLACE]] = STEPS,
    order: str | Sequence[int] = "worst",
    pep: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Sharp:
    """How sharp Lemmas 12, 13, 15, 16 and Corollary 14 are, and what that does to Lemma 3.

    Parameters
    ----------
    lemmas : sequence of str
        Claim ids, with or without "cflag."; all without any.
    n, local_steps : sequences of int
        Components of a client, and E: every pair is looked at.
    u : sequence of Fraction
        beta L E, from `LEAST_U` to `MOST_U`.
    order : {"worst", "cyclic", "repeated"} or sequence of int
        The refreshes at k = 1, ..., E - 1: the worst order for each lemma, the components in turn, one component
        again and again, or E - 1 components from 0 to n - 1 for the only E.
    pep : bool
        Also solve every case, except those of Lemma 12, and prove the worst case in fractions; small n and E only.
    progress : callable, optional
        Called with a few words after each row and each range.

    Raises
    ------
    InvalidInput
        An unknown lemma or order, sizes below 1, more than `MOST_STEPS` local steps, `MOST_COMPONENTS` components or
        `MOST_GRADIENTS` of n E, a step size that is not a fraction from `LEAST_U` to `MOST_U`.
    Unsolved
        The solver of a case gives no answer.
    """
    chosen = choose(lemmas)
    sizes, lengths = (list(dict.fromkeys(map(int, given))) for given in (n, local_steps))
    places = list(dict.fromkeys(map(Fraction, u)))
    for name, number in (("n", len(sizes)), ("E", len(lengths)), ("beta L E", len(places))):
        if not number:
            raise InvalidInput(f"no {name} is given: give one at least")
    for E in lengths:
        for size in sizes:
            if size * E > MOST_GRADIENTS:
                raise InvalidInput(
                    f"n = {size} with E = {E} is too large for exact arithmetic: use n E of at most {MOST_GRADIENTS}"
                )
            _order(order, size, E)
            if pep and size * E > MOST_SOLVED:
                raise InvalidInput(
                    f"n = {size} with E = {E} is too large to be solved: use n E of at most {MOST_SOLVED}"
                )
    rows, ends = [], []
    for lemma in chosen:
        for size in sizes:
            for E in lengths:
                for place in places:
                    rows.append(_row(lemma, size, E, place, order, pep))
                    _tell(progress, f"{lemma.where}, E = {E}")
                ends.append(
                    Range(
                        lemma.id,
                        lemma.where,
                        lemma.range,
                        size,
                        E,
                        largest_step(lemma, n=size, local_steps=E),
                        largest_for_all(lemma),
                        "argument" if lemma.argued else "proof",
                    )
                )
                _tell(progress, f"{lemma.where}, range")
    union = [_lemma3(E) for E in lengths]
    return Sharp(tuple(rows), tuple(ends), tuple(union), many_steps(PRINTED_STEP))


def _order(order: str | Sequence[int], n: int, local_steps: int) -> tuple[int, ...] | None:
    """The refreshes, or None for the worst ones."""
    if isinstance(order, str):
        if order not in ORDERS:
            raise InvalidInput(
                f"the order is {order!r}: use one of {', '.join(ORDERS)}, or components from 0 to {n - 1}"
            )
        named = {"cyclic": orders.cyclic(n, local_steps), "repeated": orders.repeated(local_steps)}
        return named.get(order)
    if len(order) != local_steps - 1:
        raise InvalidInput(
            f"the order has {len(order)} refreshes: give E - 1 = {local_steps - 1}, or the name of an order"
        )
    return check_order(order, n)


def _row(lemma: Lemma, n: int, local_steps: int, u: Fraction, order: str | Sequence[int], pep: bool) -> Row:
    given = _order(order, n, local_steps)
    if given is None:
        found = worst_constant(lemma, n=n, local_steps=local_steps, u=u)
    else:
        found = of_order(lemma, given, n=n, u=u)
    met = lemma.constant(walk_attaining(found.order, n=n, step=u / local_steps))
    return Row(
        lemma.id,
        lemma.where,
        lemma.words,
        n,
        local_steps,
        u,
        found.order,
        found.how,
        lemma.printed(u),
        lemma.range is None or u <= lemma.range,
        found.constant,
        met,
        supremum(lemma, u),
        _estimated(lemma, found.order, n, local_steps, u) if pep else None,
    )


def _estimated(lemma: Lemma, order: tuple[int, ...], n: int, local_steps: int, u: Fraction) -> float | None:
    """The constant by a proved worst case, at the k that needs it for those that are about one k."""
    from cflag_theory.worstcase.local_steps import solve_local_steps

    if lemma.estimated is None or local_steps < 2:
        return None
    E = local_steps
    at = None
    if lemma.quantity == "error":
        # A given order can refresh what was stale before its last step.
        errors = local_worst(order, n=n, step=u / E).error
        at = max(range(1, E), key=errors.__getitem__)
    found = solve_local_steps(order, n=n, u=u, quantity=lemma.quantity, k=at)
    return lemma.estimated(found.value, E, float(u))


def _lemma3(local_steps: int) -> Union:
    return Union(
        local_steps,
        union_constant(local_steps=local_steps, u=PRINTED_STEP),
        best_union_constant(local_steps),
        printed_range(local_steps),
    )


def _tell(progress: Callable[[str], None] | None, words: str) -> None:
    if progress is not None:
        progress(words)


def parse_step(text: str) -> Fraction:
    """beta L E from text such as 1/12 or 0.25, exactly."""
    try:
        if _PLACE.fits(value := fraction(text)):
            return value
    except ValueError:
        pass
    raise InvalidInput(f"beta L E is {text!r}: use a number from {LEAST_U} to {MOST_U}, such as 1/12 or 0.25")


def parse_order(text: str) -> str | tuple[int, ...]:
    """An order from text: one of the names, or components such as 0,1,0."""
    if text in ORDERS:
        return text
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        known = ", ".join(ORDERS)
        raise InvalidInput(f"the order is {text!r}: use one of {known}, or components such as 0,1,0") from None


def pieces(lemmas: Sequence[str], n: Sequence[int], local_steps: Sequence[int], u: Sequence[Fraction]) -> int:
    """How often `sharp` reports progress."""
    return len(choose(lemmas)) * len(set(n)) * len(set(local_steps)) * (len(set(u)) + 1)
