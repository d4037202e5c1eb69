"""Image data sets by name, from tiny files in the exact formats, whole, damaged and missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from image_files import FOLDERS, cifar_rows, python2, write_cifar, write_tiny_imagenet

from cflag_theory.bridge.data.datasets import load_images, moments
from cflag_theory.errors import DataError, InvalidInput, MissingExtra, UnknownName

VERSIONS = sorted(FOLDERS)


def test_digits():
    images = load_images("digits")
    assert images.train_images.shape == (1442, 8, 8, 1)
    assert images.test_images.shape == (355, 8, 8, 1)
    assert images.train_images.dtype == images.test_images.dtype == np.uint8
    assert (images.train_images.min(), images.train_images.max()) == (0, 255)
    assert images.classes == tuple("0123456789")
    assert images.notes == ()
    # Every fifth of each class: 174 to 183 of each in all.
    train, test = np.bincount(images.train_labels), np.bincount(images.test_labels)
    assert ((train + test) // 5 == test).all()
    assert np.array_equal(np.unique(images.train_images), np.rint(np.arange(17) * 255 / 16))


def test_the_digits_are_those_of_scikit_learn_in_their_order():
    from sklearn.datasets import load_digits

    images, whole = load_images("digits"), load_digits()
    zeros = whole.images[whole.target == 0]
    assert np.array_equal(images.test_images[images.test_labels == 0][:, :, :, 0], np.rint(zeros[4::5] * 255 / 16))
    kept = np.delete(zeros, np.s_[4::5], axis=0)
    assert np.array_equal(images.train_images[images.train_labels == 0][:, :, :, 0], np.rint(kept * 255 / 16))


def test_moments_are_those_of_the_pixels():
    pixels = np.random.default_rng(0).integers(0, 256, size=(1203, 4, 5, 3), dtype=np.uint8)
    pixels[..., 2] = 51
    mean, std = moments(pixels)
    wide = pixels.astype(np.float64) / 255
    np.testing.assert_allclose(mean, wide.mean(axis=(0, 1, 2)), rtol=1e-12)
    np.testing.assert_allclose(std[:2], wide.std(axis=(0, 1, 2))[:2], rtol=1e-12)
    assert std[2] == 1


@pytest.mark.parametrize(("name", "version"), VERSIONS)
@pytest.mark.parametrize("inside", [False, True])
def test_cifar(tmp_path, name, version, inside):
    folder = write_cifar(tmp_path, name, version)
    images = load_images(name, folder if inside else str(tmp_path))
    files, classes = (5, 10) if name == "cifar10" else (1, 100)
    assert images.train_images.shape == (20 * files, 32, 32, 3)
    assert images.test_images.shape == (20, 32, 32, 3)
    assert images.train_labels.dtype == np.int64
    assert images.train_labels.tolist() == [place % classes for place in range(20)] * files
    assert images.classes == tuple(f"class {label}" for label in range(classes))
    # Rows are planes: the pixel at row y, column x of channel c is number 1024 c + 32 y + x.
    for number, found in ((files - 1, images.train_images[-20:]), (files, images.test_images)):
        rows, _ = cifar_rows(20, classes, number)
        assert found[7, 3, 5].tolist() == [rows[7, 1024 * c + 32 * 3 + 5] for c in range(3)]
    np.testing.assert_allclose(images.mean, images.train_images.mean(axis=(0, 1, 2)) / 255)
    assert images.notes == (
        f"{name} has {20 * files} train images, where the published data set has 50000",
        f"{name} has 20 test images, where the published data set has 10000",
    )


def test_both_versions_of_cifar_are_the_same_images(tmp_path):
    for name in ("cifar10", "cifar100"):
        for version in ("python", "binary"):
            write_cifar(tmp_path / version, name, version)
        first, second = (load_images(name, tmp_path / version) for version in ("python", "binary"))
        assert np.array_equal(first.train_images, second.train_images)
        assert np.array_equal(first.test_labels, second.test_labels)


def cut(count):
    return lambda path: path.write_bytes(path.read_bytes()[:-count])


def rewrite(**changes):
    def change(path):
        rows, labels = cifar_rows(4, 10)
        path.write_bytes(python2({"data": rows, "labels": labels} | changes))

    return change


def put_byte(offset, value):
    def change(path):
        data = bytearray(path.read_bytes())
        data[offset] = value
        path.write_bytes(data)

    return change


ROWS = cifar_rows(4, 10)[0]
FAULTS = [
    (
        "cifar10",
        "python",
        "data_batch_3",
        lambda path: path.unlink(),
        "is missing: unpack cifar-10-python.tar.gz again",
    ),
    ("cifar10", "python", "test_batch", lambda path: path.unlink(), "is missing: unpack cifar-10-python.tar.gz again"),
    ("cifar10", "python", "batches.meta", lambda path: path.unlink(), "is missing: unpack"),
    ("cifar10", "python", "data_batch_2", cut(1), "cut short"),
    ("cifar10", "python", "data_batch_2", cut(5000), "data file that can be trusted"),
    ("cifar10", "python", "data_batch_2", lambda path: path.write_bytes(b""), "cut short"),
    ("cifar10", "python", "data_batch_4", rewrite(labels=[0, 1, 10, 3]), "has label 10 at image 2"),
    ("cifar10", "python", "data_batch_4", rewrite(labels=[0, -1, 2, 3]), "has label -1 at image 1"),
    ("cifar10", "python", "data_batch_4", rewrite(labels=[0, 1, 2]), "has 4 images and 3 labels"),
    ("cifar10", "python", "data_batch_4", rewrite(labels=["a", "b", "c", "d"]), "no list 'labels' of integers"),
    ("cifar10", "python", "data_batch_4", rewrite(labels=None), "no list 'labels' of integers"),
    ("cifar10", "python", "data_batch_4", rewrite(data=ROWS[:, :-1]), r"shape \(n, 3072\), but has uint8 of shape"),
    ("cifar10", "python", "data_batch_4", rewrite(data=ROWS.astype("<i2")), "has int16 of shape"),
    ("cifar10", "python", "data_batch_4", rewrite(data=[1, 2]), "has none"),
    ("cifar10", "python", "data_batch_4", rewrite(data=ROWS[:0], labels=[]), "has 0 images and 0 labels"),
    ("cifar10", "python", "batches.meta", lambda path: path.write_bytes(python2({"x": 1})), "no list 'label_names'"),
    (
        *("cifar10", "python", "batches.meta"),
        *(lambda path: path.write_bytes(python2({"label_names": ["cat"]})), "names 1 classes instead of 10"),
    ),
    ("cifar100", "python", "train", rewrite(), "no list 'fine_labels'"),
    ("cifar100", "python", "meta", cut(3), "cut short"),
    ("cifar10", "binary", "data_batch_5.bin", lambda path: path.unlink(), "unpack cifar-10-binary.tar.gz again"),
    ("cifar10", "binary", "data_batch_5.bin", cut(1), "61459 bytes, which are not whole records of 3073"),
    ("cifar10", "binary", "test_batch.bin", lambda path: path.write_bytes(b""), "has 0 bytes"),
    ("cifar10", "binary", "data_batch_1.bin", put_byte(3073 * 4, 10), "has label 10 at image 4"),
    ("cifar10", "binary", "batches.meta.txt", lambda path: path.write_text("cat\n"), "names 1 classes"),
    ("cifar10", "binary", "batches.meta.txt", lambda path: path.write_bytes(b"\xff\n" * 10), "cannot be read"),
    ("cifar100", "binary", "train.bin", cut(3073), "not whole records of 3074"),
    ("cifar100", "binary", "train.bin", put_byte(1, 100), "has label 100 at image 0"),
    ("cifar100", "binary", "train.bin", put_byte(0, 20), "has the coarse label 20"),
    ("cifar100", "binary", "fine_label_names.txt", lambda path: path.unlink(), "is missing"),
]


@pytest.mark.parametrize(("name", "version", "file", "damage", "words"), FAULTS)
def test_damaged_cifar(tmp_path, name, version, file, damage, words):
    folder = write_cifar(tmp_path, name, version)
    damage(folder / file)
    with pytest.raises(DataError, match=words) as caught:
        load_images(name, tmp_path)
    assert str(folder / file) in str(caught.value)


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    folder = write_cifar(tmp_path, "cifar10", "python")
    (folder / "data_batch_1").write_bytes(b"\x80\x02cos\nsystem\nU\x09touch ran\x85R.")
    with pytest.raises(DataError, match=r"data_batch_1 .* asks for 'os.system'"):
        load_images("cifar10", tmp_path)


def test_tiny_imagenet(tmp_path):
    folder = write_tiny_imagenet(tmp_path)
    calls = []
    images = load_images("tinyimagenet", tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert images.train_images.shape == (12, 64, 64, 3)
    assert images.train_labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert images.test_images.shape == (8, 64, 64, 3)
    assert images.classes == tuple(f"word n1000000{place}" for place in range(4))
    # The brightness of an image tells its class: sorted ids are the classes, whatever the order in wnids.txt.
    for found, labels in (
        (images.train_images, images.train_labels),
        (images.test_images, images.test_labels),
    ):
        assert (abs(found.mean(axis=(1, 2, 3)) - 20 * (labels + 1) - 1) < 3).all()
    grey = images.train_images[0]
    assert (grey == grey[:, :, :1]).all()
    assert calls == [(20, 20)]
    assert (tmp_path / "tiny-imagenet-200").is_dir()
    assert np.array_equal(load_images("tinyimagenet", folder).train_images, images.train_images)


def test_images_are_decoded_in_order_by_many_threads(tmp_path, monkeypatch):
    from cflag_theory.bridge.data import tiny_imagenet

    write_tiny_imagenet(tmp_path, classes=5, train=7)
    whole = load_images("tinyimagenet", tmp_path)
    monkeypatch.setattr(tiny_imagenet, "BLOCK", 2)
    calls = []
    blocks = load_images("tinyimagenet", tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert np.array_equal(blocks.train_images, whole.train_images)
    assert np.array_equal(blocks.test_images, whole.test_images)
    assert [done for done, _ in calls] == [*range(2, 45, 2), 45]


def save_png(path):
    from PIL import Image

    Image.fromarray(np.zeros((64, 64, 3), dtype=np.uint8)).save(path, format="PNG")


def save_small(path):
    from PIL import Image

    Image.fromarray(np.zeros((63, 64, 3), dtype=np.uint8)).save(path, format="JPEG")


FIRST = "train/n10000001/images/n10000001_1.JPEG"
TINY_FAULTS = [
    (FIRST, lambda path: path.write_bytes(path.read_bytes()[:300]), "is damaged"),
    (FIRST, lambda path: path.write_bytes(b""), "is damaged"),
    (FIRST, save_png, "is damaged"),
    (FIRST, save_small, "is 64 x 63 pixels instead of 64 x 64"),
    ("val/images/val_3.JPEG", lambda path: path.unlink(), "is missing"),
    ("wnids.txt", lambda path: path.unlink(), "is missing"),
    ("wnids.txt", lambda path: path.write_text("\n"), "names no classes"),
    ("wnids.txt", lambda path: path.write_bytes(b"\xff\xfe"), "cannot be read"),
    ("wnids.txt", lambda path: path.write_text("../../n1\n"), "names the class '../../n1', and classes have letters"),
    ("words.txt", lambda path: path.unlink(), "is missing"),
    ("val/val_annotations.txt", lambda path: path.unlink(), "is missing"),
    ("val/val_annotations.txt", lambda path: path.write_text("val_0.JPEG\tn1\n"), "line 1 of"),
    ("val/val_annotations.txt", lambda path: path.write_text("../x\tn10000001\n"), "line 1 of"),
    ("val/val_annotations.txt", lambda path: path.write_text("val_0.JPEG\n"), "line 1 of"),
    ("val/val_annotations.txt", lambda path: path.write_text("val_0.JPEG\tn10000000\n"), "no line for 7 images of"),
    ("train/n10000002/images", lambda path: [each.unlink() for each in path.iterdir()], "has no images"),
]


@pytest.mark.parametrize(("file", "damage", "words"), TINY_FAULTS)
def test_damaged_tiny_imagenet(tmp_path, file, damage, words):
    folder = write_tiny_imagenet(tmp_path)
    damage(folder / file)
    with pytest.raises(DataError, match=words) as caught:
        load_images("tinyimagenet", tmp_path)
    assert str(folder / file) in str(caught.value)
    assert "unpack tiny-imagenet-200.zip again" in str(caught.value)


def test_a_huge_jpeg_is_refused_before_it_is_decoded(tmp_path):
    folder = write_tiny_imagenet(tmp_path)
    data = (folder / FIRST).read_bytes()
    place = data.index(b"\xff\xc0") + 5
    (folder / FIRST).write_bytes(data[:place] + b"\xff\xdc\xff\xdc" + data[place + 4 :])
    with pytest.raises(DataError, match=r"is damaged .*exceeds limit"):
        load_images("tinyimagenet", tmp_path)


@pytest.mark.parametrize(
    ("name", "archive", "words"),
    [
        ("cifar10", "cifar-10-python.tar.gz", "tar -xzf"),
        ("cifar10", "cifar-10-binary.tar.gz", "tar -xzf"),
        ("cifar100", "cifar-100-binary.tar.gz", "tar -xzf"),
        ("tinyimagenet", "tiny-imagenet-200.zip", "unzip"),
    ],
)
def test_an_archive_is_to_be_unpacked(tmp_path, name, archive, words):
    (tmp_path / archive).write_bytes(b"")
    with pytest.raises(DataError, match=f"{archive} is packed: unpack it .{words}"):
        load_images(name, tmp_path)


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "tinyimagenet"])
def test_nothing_is_there(tmp_path, name):
    with pytest.raises(DataError, match=f"{tmp_path} has no {name}: .* unpack"):
        load_images(name, tmp_path)
    with pytest.raises(DataError, match=r"nowhere is not a folder"):
        load_images(name, tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=f"{name} needs the folder"):
        load_images(name)


def test_one_file_named_test_is_not_cifar(tmp_path):
    (tmp_path / "test").write_text("mine")
    with pytest.raises(DataError, match="has no cifar100"):
        load_images("cifar100", tmp_path)


def test_unknown_names():
    with pytest.raises(UnknownName, match="'mnist' is unknown: use one of digits, fashion-mnist, cifar10, "):
        load_images("mnist")


def test_libraries_that_are_missing(tmp_path, monkeypatch):
    write_tiny_imagenet(tmp_path)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*pip install"):
        load_images("digits")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"Pillow.*pip install"):
        load_images("tinyimagenet", tmp_path)


def test_data_need_no_torch():
    """The modules load where torch does not."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('torch', 'torchvision'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from cflag_theory.bridge.data import datasets, findings, partition, streams\n"
        "s = streams.split_tasks(datasets.load_images('digits'), clients=2, zeta=1.0, seed=0)\n"
        "print(s.tasks)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"
