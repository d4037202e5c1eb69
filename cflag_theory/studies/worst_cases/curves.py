"""What the figure of `cflag sharp` shows: constants along beta L E, and along E, for several n."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from cflag_theory.studies.worst_cases.lemmas import Lemma, choose, worst_constant
from cflag_theory.studies.worst_cases.ranges import largest_for_all, supremum
from cflag_theory.verify.instances.attaining import walk_attaining

#: beta L E along which constants are drawn; instances are run at every fourth place.
_GRID = tuple(Fraction(i, 8) for i in range(1, 49))
_EVERY = 4
_LENGTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
_TWELFTH = Fraction(1, 12)


def sharp_curves(
    lemmas: Sequence[str] = (), *, n: Sequence[int] = (1, 8), local_steps: Sequence[int] = (4, 16)
) -> list[dict[str, Any]]:
    """The curves of the figure, a mapping a lemma.

    Parameters
    ----------
    lemmas : sequence of str
        Claim ids, with or without "cflag."; all without any.
    n, local_steps : sequences of int
        Components of a client, and E.

    Returns
    -------
    list of dict
        "where", "constant", "exact" (else "worst" is an upper bound), "u" and "printed" along it; "supremum" along
        "u", or None where it is not known; "range" and "largest", the printed and the true end for every n and E;
        "along_u": curves with "n", "E", "worst", and the instances run as "met_u" and "met"; "along_E": at u = "at",
        curves with "n", "E", "worst" and "met".
    """
    sizes, lengths = list(dict.fromkeys(n)), list(dict.fromkeys(local_steps))
    return [_curves(lemma, sizes, lengths) for lemma in choose(lemmas)]


def _curves(lemma: Lemma, sizes: Sequence[int], lengths: Sequence[int]) -> dict[str, Any]:
    at = lemma.range or _TWELFTH
    end = largest_for_all(lemma)
    return {
        "lemma": lemma.id,
        "where": lemma.where,
        "constant": lemma.words,
        "exact": lemma.exact,
        "u": [float(u) for u in _GRID],
        "printed": [float(lemma.printed(u)) for u in _GRID],
        "supremum": [float(supremum(lemma, u)[1]) for u in _GRID] if lemma.exact else None,
        "range": None if lemma.range is None else float(lemma.range),
        "largest": None if end is None else float(end[0]),
        "along_u": [_along_u(lemma, size, E) for size in sizes for E in lengths],
        "at": float(at),
        "printed_at": float(lemma.printed(at)),
        "along_E": [_along_E(lemma, size, at) for size in sizes],
    }


def _along_u(lemma: Lemma, n: int, local_steps: int) -> dict[str, Any]:
    worst = [worst_constant(lemma, n=n, local_steps=local_steps, u=u) for u in _GRID]
    run = list(zip(_GRID, worst, strict=True))[_EVERY - 1 :: _EVERY]
    met = [lemma.constant(walk_attaining(one.order, n=n, step=u / local_steps)) for u, one in run]
    return {
        "n": n,
        "E": local_steps,
        "worst": [float(one.constant) for one in worst],
        "met_u": [float(u) for u, _ in run],
        "met": [float(value) for value in met],
    }


def _along_E(lemma: Lemma, n: int, u: Fraction) -> dict[str, Any]:
    worst = [worst_constant(lemma, n=n, local_steps=E, u=u) for E in _LENGTHS]
    met = [lemma.constant(walk_attaining(one.order, n=n, step=u / E)) for E, one in zip(_LENGTHS, worst, strict=True)]
    return {
        "n": n,
        "E": list(_LENGTHS),
        "worst": [float(one.constant) for one in worst],
        "met": [float(value) for value in met],
    }
