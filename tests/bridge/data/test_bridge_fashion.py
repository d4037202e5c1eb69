"""Fashion-MNIST from small idx files, whole and damaged."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.data.findings import check_data
from cflag_theory.errors import DataError

IMAGES = np.random.default_rng(0).integers(0, 256, (30, 28, 28), dtype=np.uint8)
LABELS = (np.arange(30) % 10).astype(np.uint8)


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def write(folder, *, packed=False, **files):
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "train-images-idx3-ubyte": idx(IMAGES[:20]),
        "train-labels-idx1-ubyte": idx(LABELS[:20]),
        "t10k-images-idx3-ubyte": idx(IMAGES[20:]),
        "t10k-labels-idx1-ubyte": idx(LABELS[20:]),
    }
    for name, data in (content | {name.replace("_", "-"): data for name, data in files.items()}).items():
        if data is not None:
            (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inside", ["", "FashionMNIST/raw"])
def test_four_files(tmp_path, packed, inside):
    write(tmp_path / inside, packed=packed)
    found = load_images("fashion-mnist", tmp_path)
    assert np.array_equal(found.train_images[..., 0], IMAGES[:20])
    assert np.array_equal(found.test_labels, LABELS[20:])
    assert found.classes[9] == "Ankle boot"
    assert found.notes[0] == "fashion-mnist has 20 train images, where the published data set has 60000"
    (one,) = check_data(tmp_path).found
    assert (one.name, one.status, one.train, one.test, one.classes) == ("fashion-mnist", "part", 20, 10, 10)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"train_labels_idx1_ubyte": None}, "train-labels-idx1-ubyte is missing"),
        ({"train_images_idx3_ubyte": idx(IMAGES[:20])[:-1]}, r"says \(20, 28, 28\) and has 15679 bytes: it is cut"),
        ({"train_images_idx3_ubyte": b"\0\0\x09\3"}, "is no idx file of bytes in 3 dimensions"),
        ({"train_images_idx3_ubyte": idx(IMAGES[:20, :27])}, r"images of \(27, 28\)"),
        ({"t10k_labels_idx1_ubyte": idx(LABELS[:9])}, "has 10 images, and there are 9 labels"),
        ({"t10k_labels_idx1_ubyte": idx(LABELS[20:] + np.uint8(1))}, "has label 10"),
    ],
)
def test_damaged(tmp_path, files, words):
    write(tmp_path, **files)
    with pytest.raises(DataError, match=words):
        load_images("fashion-mnist", tmp_path)
    assert check_data(tmp_path).found[0].status == "damaged"


def test_packed_and_cut_short_and_missing(tmp_path):
    with pytest.raises(DataError, match="put the four idx files there"):
        load_images("fashion-mnist", tmp_path)
    write(tmp_path, packed=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        load_images("fashion-mnist", tmp_path)
