"""Fashion-MNIST from small idx files, whole and damaged."""

from __future__ import annotations

import numpy as np
import pytest
from image_files import FASHION_IMAGES as IMAGES
from image_files import FASHION_LABELS as LABELS
from image_files import idx, write_fashion

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.data.findings import check_data
from cflag_theory.errors import DataError


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inside", ["", "FashionMNIST/raw"])
def test_four_files(tmp_path, packed, inside):
    write_fashion(tmp_path / inside, packed=packed)
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
    write_fashion(tmp_path, **files)
    with pytest.raises(DataError, match=words):
        load_images("fashion-mnist", tmp_path)
    assert check_data(tmp_path).found[0].status == "damaged"


def test_packed_and_cut_short_and_missing(tmp_path):
    with pytest.raises(DataError, match="put the four idx files there"):
        load_images("fashion-mnist", tmp_path)
    write_fashion(tmp_path, packed=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        load_images("fashion-mnist", tmp_path)
