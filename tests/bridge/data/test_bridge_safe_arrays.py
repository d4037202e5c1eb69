"""A pickle is read for its arrays and never run: what is allowed, and every attack that we could think of."""

from __future__ import annotations

import builtins
import copyreg
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from image_files import python2

from cflag_theory.bridge.data.safe_arrays import read_record
from cflag_theory.errors import DataError

PIXELS = np.arange(24, dtype=np.uint8).reshape(4, 6)
HEAD, RECONSTRUCT = b"\x80\x02", b"cnumpy.core.multiarray\n_reconstruct\n"
#: A call of _reconstruct(ndarray, (0,), 'b') as NumPy writes it.
EMPTY = RECONSTRUCT + b"cnumpy\nndarray\nK\x00\x85U\x01b\x87R"
BYTE = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


def record(value):
    """A pickle of {"data": value}, the value as instructions."""
    return HEAD + b"}U\x04data" + value + b"s."


def text(value):
    return b"U" + bytes([len(value)]) + value


@pytest.fixture
def read(tmp_path):
    def from_bytes(data):
        path = tmp_path / "data_batch_1"
        path.write_bytes(data)
        return read_record(path)

    return from_bytes


def test_a_python_2_pickle_is_read(read):
    found = read(
        python2({"data": PIXELS, "labels": [3, 70000, -1], "batch_label": "a\xe9", "wide": PIXELS.astype("<i8")})
    )
    assert found["data"].dtype == np.uint8
    assert found["wide"].dtype == np.int64
    assert np.array_equal(found["data"], PIXELS)
    assert np.array_equal(found["wide"], PIXELS)
    assert (found["labels"], found["batch_label"]) == ([3, 70000, -1], "a\xe9")
    assert set(found) == {"data", "labels", "batch_label", "wide"}


def test_the_python_2_pickles_of_these_tests_are_real_ones():
    """The standard library's unpickler agrees with what the tests write."""
    found = pickle.loads(python2({"data": PIXELS, "labels": list(range(300)), "long": "x" * 300}), encoding="latin1")
    assert np.array_equal(found.pop("data"), PIXELS)
    assert found == {"labels": list(range(300)), "long": "x" * 300}


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_python_3_writes_is_read(read, protocol, order):
    values = np.asarray(PIXELS, order=order)
    found = read(pickle.dumps({b"data": values, "labels": [1, 2], "big": values.astype(">f4")}, protocol=protocol))
    assert np.array_equal(found["data"], PIXELS)
    assert np.array_equal(found["big"], PIXELS)
    assert found["labels"] == [1, 2]


def test_an_array_that_is_named_twice_is_one_array(read):
    found = read(pickle.dumps({"data": PIXELS, "again": PIXELS}, protocol=2))
    assert found["data"] is found["again"]


class Reduce:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Stateful:
    def __getstate__(self):
        return {"x": 1}


def attacks():
    """(name, pickle, words of the message): each would run something, or cost more than its length, if unpickled."""
    for protocol in (2, 4):
        yield f"system-{protocol}", pickle.dumps({"data": Reduce(os.system, "touch ran")}, protocol), "posix.system"
        yield f"eval-{protocol}", pickle.dumps({"data": Reduce(eval, "open('ran', 'w')")}, protocol), "eval"
        yield f"popen-{protocol}", pickle.dumps({"data": Reduce(subprocess.Popen, ["touch", "ran"])}, protocol), "Popen"
        yield f"getattr-{protocol}", pickle.dumps({"data": Reduce(getattr, PIXELS, "tofile")}, protocol), "getattr"
        yield f"object-{protocol}", pickle.dumps({"data": Stateful()}, protocol), "asks for"
        nested = Reduce(builtins.list, Reduce(os.system, "touch ran"))
        yield f"nested-{protocol}", pickle.dumps({"data": nested}, protocol), "asks for"
        objects = np.array([Reduce(os.system, "touch ran")], dtype=object)
        yield f"object-array-{protocol}", pickle.dumps({"data": objects}, protocol), "O8|system"
        structured = np.zeros(2, dtype=[("a", "u1"), ("b", "i4")])
        yield f"structured-{protocol}", pickle.dumps({"data": structured}, protocol), "V5"
        yield f"text-array-{protocol}", pickle.dumps({"data": np.array(["a"])}, protocol), "U1"
        yield f"date-{protocol}", pickle.dumps({"data": np.array(["2020"], "M8[D]")}, protocol), "M8"
    yield "protocol-0", pickle.dumps({"data": Reduce(os.system, "touch ran")}, 0), "not allowed"
    yield "numpy-load", record(b"cnumpy\nload\n" + text(b"x") + b"\x85R"), "numpy.load"
    yield "numpy-exec", record(b"cnumpy.testing._private.utils\nrunstring\n(U\x01x}tR"), "runstring"
    yield "multiarray-other", record(b"cnumpy.core.multiarray\nscalar\n(U\x01xtR"), "scalar"
    yield "module-chain", record(b"cnumpy\ncore.multiarray._reconstruct\n"), "asks for"
    yield "dotted-stack-global", record(text(b"numpy") + text(b"ndarray.tofile") + b"\x93"), "asks for"
    yield "two-words", record(b"cnumpy core.multiarray\n_reconstruct\n"), "asks for"
    yield "name-not-text", record(b"K\x01K\x02\x93"), "not text"
    yield "encode-other", record(b"c_codecs\nencode\n" + text(b"abc") + text(b"rot13") + b"\x86R"), "encode"
    yield "encode-hook", record(b"c_codecs\nencode\n" + text(b"abc") + text(b"zip") + b"\x86R"), "encode"
    yield "decode", record(b"c_codecs\ndecode\n" + text(b"abc") + text(b"latin1") + b"\x86R"), "_codecs.decode"
    yield "dtype-of-python", record(b"cnumpy\ndtype\n" + text(b"O") + b"K\x00K\x01\x87R"), "plain numbers"
    yield "dtype-arguments", record(b"cnumpy\ndtype\n" + text(b"u1") + b"\x85R"), "as NumPy does not"
    yield "subclass", record(RECONSTRUCT + b"cnumpy\nmatrix\nK\x00\x85U\x01b\x87R"), "numpy.matrix"
    yield "reconstruct-other", record(RECONSTRUCT + b"cnumpy\ndtype\nK\x00\x85U\x01b\x87R"), "as NumPy does not"
    yield "call-of-text", record(text(b"system") + b"K\x01\x85R"), "not a name"
    yield "call-without-tuple", record(b"cnumpy\ndtype\nK\x01R"), "not a name"
    yield "build-of-text", record(text(b"x") + b"K\x01\x85b"), "state to what has none"
    yield "build-with-dict", record(EMPTY + b"}U\x01xK\x01sb"), "not its state"
    yield "build-of-dtype", record(BYTE[: BYTE.index(b"(K")] + b"K\x03U\x01|\x86b"), "plain numbers"
    yield "subarray", record(BYTE.replace(b"NNN", b"K\x02NN")), "plain numbers"
    huge = b"\x8a\x07" + (10**15).to_bytes(7, "little")
    yield (
        "huge-shape",
        record(EMPTY + b"(K\x01" + huge + b"\x85" + BYTE + b"\x89" + text(b"abc") + b"tb"),
        "with 3 bytes",
    )
    yield "negative", record(EMPTY + b"(K\x01J\xff\xff\xff\xff\x85" + BYTE + b"\x89" + text(b"") + b"tb"), "shape"
    yield (
        "shape-of-text",
        record(EMPTY + b"(K\x01" + text(b"ab") + b"\x85" + BYTE + b"\x89" + text(b"ab") + b"tb"),
        "shape",
    )
    yield "bytes-of-list", record(EMPTY + b"(K\x01K\x02\x85" + BYTE + b"\x89]tb"), "shape or bytes"
    yield "wide-text", record(EMPTY + b"(K\x01K\x01\x85" + BYTE + b"\x89X\x02\x00\x00\x00\xc4\x80tb"), "latin"
    yield "no-values", record(EMPTY), "without values"
    yield "short-state", record(EMPTY + b"(K\x01tb"), "form"
    yield "huge-text", HEAD + b"T" + struct.pack("<i", 2**31 - 1) + b"x.", "2147483647"
    yield "huge-text-8", b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"x.", "BINUNICODE8"
    yield "huge-bytes", b"\x80\x03B" + struct.pack("<I", 2**32 - 1) + b"x.", "4294967295"
    yield "escaped-name", record(b"cnump\\x79\ndtype\n"), "asks for"
    yield "half-name", HEAD + b"cnumpy", "asks for"
    yield "huge-number", HEAD + b"}U\x04dataI" + b"9" * 100_000 + b"\ns.", "INT "
    yield "huge-memo", HEAD + b"}r\xff\xff\xff\xff]1.", "POP_MARK"
    yield "missing-memo", record(b"h\x07"), "no sense"
    yield "persistent", HEAD + b"}U\x04dataPfile\ns.", "PERSID"
    yield "persistent-2", HEAD + b"}U\x04dataK\x01Qs.", "BINPERSID"
    yield "extension-1", record(b"\x82\x01"), "EXT1"
    yield "extension-4", record(b"\x84\x01\x00\x00\x00"), "EXT4"
    yield "instance", HEAD + b"}U\x04data(ios\nsystem\ns.", "INST"
    yield "object", HEAD + b"}U\x04data(cos\nsystem\nos.", "asks for 'os.system'"
    yield "newobj", record(b"cnumpy\nndarray\n)\x81"), "NEWOBJ"
    yield "buffer", b"\x80\x05\x97.", "NEXT_BUFFER"
    yield "key-of-tuples", HEAD + b"})" + b"\x85" * 200_000 + b"K\x01s.", "key that is not text"
    yield "key-of-numbers", HEAD + b"}K\x01K\x01s.", "key that is not text"
    yield "append-to-dict", HEAD + b"}K\x01a.", "not a list"
    yield "set-in-list", HEAD + b"]K\x01K\x01s.", "not a dictionary"
    yield "odd-items", HEAD + b"}(U\x01xu.", "shorter|argument"
    yield "underflow", HEAD + b"\x86.", "no sense"
    yield "no-mark", HEAD + b"t.", "no sense"
    yield "not-a-dictionary", HEAD + b"].", "holds a list"
    yield "nothing", HEAD + b".", "no sense"
    yield "empty", b"", "cut short"
    yield "no-pickle", b"\xff\xd8\xff\xe0 a JPEG", "0xff"
    yield "trailing", python2({"data": PIXELS}) + b"more", "4 bytes follow"


@pytest.mark.parametrize(("data", "words"), [pytest.param(*rest, id=name) for name, *rest in attacks()])
def test_nothing_else_is_read_or_run(read, tmp_path, monkeypatch, data, words):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    with pytest.raises(DataError, match=words) as caught:
        read(data)
    assert str(tmp_path / "data_batch_1") in str(caught.value)
    assert "fetch the data set again" in str(caught.value)
    assert not (tmp_path / "ran").exists()
    # Nothing was even imported by a name in the file.
    assert {name for name in set(sys.modules) - before if not name.startswith("_pytest")} == set()


def test_a_registered_extension_is_not_called(read):
    copyreg.add_extension("os", "system", 0x70)
    try:
        with pytest.raises(DataError, match="EXT1"):
            read(record(b"\x82\x70"))
    finally:
        copyreg.remove_extension("os", "system", 0x70)


def test_every_cut_of_a_file_is_refused(read):
    whole = python2({"data": PIXELS, "labels": [1, 2, 300], "names": ["a", "b" * 300]})
    for length in range(len(whole)):
        with pytest.raises(DataError, match="data_batch_1"):
            read(whole[:length])


def test_changed_bytes_are_read_or_refused_and_nothing_else(read):
    """One byte at a time, and pairs: no error but ours, and never more memory than the file has."""
    whole = python2({"data": PIXELS, "labels": [1, 2, 300]})
    random = np.random.default_rng(0)
    refused = 0
    for case in range(1200):
        changed = bytearray(whole)
        for _ in range(1 + case % 2):
            changed[random.integers(len(whole))] = random.integers(256)
        try:
            found = read(bytes(changed))
        except DataError:
            refused += 1
        else:
            assert isinstance(found, dict)
    assert refused > 300


def test_the_length_of_a_frame_is_not_believed(read):
    assert read(b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"}\x8c\x01xK\x01s.") == {"x": 1}


def test_a_list_that_holds_itself_does_no_harm(read):
    found = read(HEAD + b"}U\x06labels]q\x01h\x01as.")
    assert found["labels"][0] is found["labels"]


def test_the_same_text_is_not_turned_into_bytes_again_and_again(read):
    """9 kB that would take 80 MB, and as the square of its length."""
    words = b"X" + (4000).to_bytes(4, "little") + b"a" * 4000 + b"q\x00" + b"X\x06\x00\x00\x00latin1q\x01"
    once = b"c_codecs\nencode\nq\x02h\x00h\x01\x86R"
    again = b"h\x02h\x00h\x01\x86R" * 20_000
    with pytest.raises(DataError, match="turns the same text into bytes again and again"):
        read(b"\x80\x02" + words + once + again + b".")


def test_a_file_that_is_too_large_or_unreadable(tmp_path):
    path = tmp_path / "data_batch_1"
    with path.open("wb") as file:
        file.truncate(2**30 + 1)
    with pytest.raises(DataError, match="it has more than 1073741824 bytes"):
        read_record(path)
    with pytest.raises(DataError, match=r"data_batch_2 cannot be read .* fix"):
        read_record(tmp_path / "data_batch_2")
