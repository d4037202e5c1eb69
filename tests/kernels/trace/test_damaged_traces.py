"""Damaged traces: one reader, one sentence, and no more memory than the file could hold."""

from __future__ import annotations

import io
import json
import random
import zipfile
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels import make_problem, read_trace, simulate, to_exact, uniform, write_trace
from cflag_theory.kernels.numbers import fraction, written
from cflag_theory.studies.stepsize.estimates import estimate_constants

RUN = {"alpha": Fraction(1, 10), "beta": Fraction(1, 100), "local_steps": 2, "rounds": 2, "memory": uniform(1)}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """An exact trace, so that there are fractions, with all columns."""
    problem = to_exact(make_problem("quadratic", clients=2, components=2, dimension=2))
    trace = simulate(problem, "c_flag", **RUN, engine="reference", diagnostics="all", iterates=True)
    return write_trace(tmp_path_factory.mktemp("good") / "run.npz", trace)


def arrays_of(path):
    with np.load(path) as file:
        return dict(file)


def changed(good, folder, **changes):
    arrays = arrays_of(good)
    header = json.loads(str(arrays["header"]))
    header["config"] |= changes.pop("config", {})
    header |= changes.pop("header", {})
    path = folder / "bad.npz"
    np.savez_compressed(path, **(arrays | {"header": np.array(json.dumps(header))} | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"column f": np.full((1, 2), "1e400000000")}, "'1e400000000' is not a number"),
        ({"column f": np.full((1, 2), "1/0")}, "'1/0' divides by 0"),
        ({"column f": np.full((1, 2), "9" * 5000)}, "4300 digits"),
        ({"rounds_done": np.array([10**9])}, "is damaged, see .*f"),
        ({"rounds_done": np.array([-1])}, "is damaged, see status"),
        ({"rounds_done": np.array([2.0])}, "is damaged, see status"),
        ({"rounds_done": np.array(2), "status": np.array(0)}, "is damaged, see status"),
        ({"status": np.zeros(0, int), "rounds_done": np.zeros(0, int)}, "is damaged, see status"),
        ({"iterates": np.zeros(3)}, "see .*iterates"),
        ({"end f": np.array([1 + 2j])}, "see .*f"),
        ({"config": {"every": 0}}, "see .*every"),
        ({"config": {"every": "x"}}, "see .*every"),
        ({"config": {"alpha": "1e400000000"}}, "'1e400000000' is not a number"),
        ({"config": {"beta": None}}, "None is not text"),
        ({"config": {"dtype": "int8"}}, "see dtype"),
        ({"config": {"memory": [1]}}, "see memory"),
        ({"header": {"config": []}}, "not a trace"),
        ({"header": {"absent": 3}}, "not a trace"),
    ],
)
def test_what_no_run_writes(good, tmp_path, changes, reason):
    with pytest.raises(DataError, match=reason):
        read_trace(changed(good, tmp_path, **changes))


def test_archives_that_lie(good, tmp_path):
    def lying(**how):
        path = tmp_path / "bad.npz"
        with zipfile.ZipFile(path, "w", **how.pop("archive", {})) as archive:
            for name, content in how.items():
                archive.writestr(name.replace("_", "."), content)
        return path

    giant = io.BytesIO()
    np.lib.format.write_array_header_1_0(giant, {"descr": "<f8", "fortran_order": False, "shape": (1 << 50,)})
    deep = b"\x93NUMPY\x01\x00" + (4000).to_bytes(2, "little") + b"{'descr': " + b"(" * 3990
    for path in (
        lying(x_npy=giant.getvalue()),
        lying(x_npy=deep),
        lying(x_npy=b""),
        lying(**{f"x{number}_npy": b"" for number in range(10_001)}),
    ):
        with pytest.raises(DataError, match="is not a trace"):
            read_trace(path)
    # Another method of compression, and a mark that it is encrypted.
    whole = bytearray(good.read_bytes())
    directory = whole.index(b"PK\x01\x02")
    for place, value in ((directory + 10, 99), (directory + 8, 1)):
        damaged = whole.copy()
        damaged[place] = value
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(DataError, match="is not a trace"):
            read_trace(tmp_path / "bad.npz")


def test_mutations_of_any_byte_are_refused_or_harmless(good, tmp_path):
    draw, whole = random.Random(0), good.read_bytes()
    path, read = tmp_path / "bad.npz", 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 2, 8))):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged[: draw.choice((len(damaged), draw.randrange(len(damaged))))])
        with suppress(DataError, InvalidInput):
            estimate_constants(read_trace(path))
            read += 1
    assert read < 100


@pytest.mark.parametrize("text", ["1e1000", "1e-1000", "0x1/0x0", "inf", "nan", "1/2/3", "", " 1", "١", "1_0", 3, None])
def test_what_is_no_number(text):
    with pytest.raises((ValueError, ZeroDivisionError)):
        fraction(text)


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-3, 4), 0.1, 1e-300, Fraction(10**5000 + 1, 3**9000)])
def test_numbers_are_written_and_read_to_the_last_digit(value):
    found = fraction(written(value))
    assert (float(found) if isinstance(value, float) else found) == value
