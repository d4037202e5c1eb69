"""What a folder is said to hold, whole, in part, damaged or packed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from image_files import cifar_rows, python2, write_cifar, write_tiny_imagenet

from cflag_theory.bridge.data import cifar, tiny_imagenet
from cflag_theory.bridge.data.findings import check_data
from cflag_theory.errors import DataError


def test_everything_in_one_folder(tmp_path):
    for name in ("cifar10", "cifar100"):
        for version in ("python", "binary"):
            write_cifar(tmp_path, name, version)
    write_tiny_imagenet(tmp_path)
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"")
    calls = []
    findings = check_data(tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert [(found.name, found.version, found.train, found.test, found.classes) for found in findings.found] == [
        ("cifar10", "python", 100, 20, 10),
        ("cifar10", "binary", 100, 20, 10),
        ("cifar100", "python", 20, 20, 20),
        ("cifar100", "binary", 20, 20, 20),
        ("tinyimagenet", "folders", 12, 8, 4),
    ]
    assert {found.status for found in findings.found} == {"part"}
    assert findings.usable
    assert findings.packed == (
        f"{tmp_path / 'cifar-10-python.tar.gz'} is packed: unpack it "
        f"(tar -xzf {tmp_path / 'cifar-10-python.tar.gz'} -C {tmp_path})",
    )
    assert calls == [(20, 20)]
    told = json.loads(json.dumps(findings.to_json()))
    assert told["found"][0] == {
        "name": "cifar10",
        "version": "python",
        "folder": str(tmp_path / "cifar-10-batches-py"),
        "train": 100,
        "test": 20,
        "classes": 10,
        "differences": [
            "100 train images, where the published data set has 50000",
            "20 test images, where the published data set has 10000",
        ],
        "faults": [],
        "status": "part",
    }
    assert told["packed"] == list(findings.packed)


def test_whole_is_what_was_published(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "PUBLISHED", (100, 20))
    monkeypatch.setattr(tiny_imagenet, "PUBLISHED", (12, 8))
    write_cifar(tmp_path, "cifar10", "binary")
    write_tiny_imagenet(tmp_path)
    assert [(found.status, found.differences) for found in check_data(tmp_path).found] == [("whole", ())] * 2


def test_classes_are_those_of_the_train_images(tmp_path):
    folder = write_cifar(tmp_path, "cifar10", "python", per_file=4)
    rows, _ = cifar_rows(4, 10)
    (folder / "test_batch").write_bytes(python2({"data": rows, "labels": [9, 9, 9, 9]}))
    (found,) = check_data(tmp_path).found
    assert found.classes == 4


def test_every_fault_of_cifar_is_told(tmp_path):
    folder = write_cifar(tmp_path, "cifar10", "python")
    (folder / "data_batch_2").unlink()
    (folder / "data_batch_4").write_bytes(b"\x80\x02cos\nsystem\n.")
    (folder / "batches.meta").write_bytes(b"")
    findings = check_data(folder)
    (found,) = findings.found
    assert (found.status, found.train, found.test) == ("damaged", 60, 20)
    assert not findings.usable
    assert [
        str(folder / file) in fault
        for file, fault in zip(("data_batch_2", "data_batch_4", "batches.meta"), found.faults, strict=True)
    ] == [True] * 3
    assert "os.system" in found.faults[1]


def test_every_fault_of_tiny_imagenet_is_told(tmp_path):
    folder = write_tiny_imagenet(tmp_path)
    (folder / "train/n10000001/images/n10000001_1.JPEG").write_bytes(b"no image")
    (folder / "val/images/val_3.JPEG").unlink()
    for image in (folder / "train/n10000002/images").iterdir():
        image.unlink()
    (found,) = check_data(tmp_path).found
    assert (found.status, found.train, found.test, found.classes) == ("damaged", 8, 7, 3)
    words = ("n10000002/images has no images", "n10000001_1.JPEG is damaged", "val_3.JPEG is missing")
    assert [word in fault for word, fault in zip(words, found.faults, strict=True)] == [True] * 3


def test_many_faults_are_counted(tmp_path):
    folder = write_tiny_imagenet(tmp_path, classes=5, train=6)
    for image in folder.glob("train/*/images/*.JPEG"):
        image.write_bytes(b"no image")
    (found,) = check_data(folder).found
    assert len(found.faults) == 21
    assert found.faults[-1] == "and 10 more"
    assert (found.train, found.test, found.classes) == (0, 10, 0)


def test_a_tiny_imagenet_without_its_classes(tmp_path):
    folder = write_tiny_imagenet(tmp_path)
    (folder / "wnids.txt").unlink()
    (found,) = check_data(folder).found
    assert found.status == "damaged"
    assert found.faults == (f"{folder / 'wnids.txt'} is missing: unpack tiny-imagenet-200.zip again",)


def test_nothing_and_nowhere(tmp_path):
    findings = check_data(tmp_path)
    assert (findings.found, findings.packed, findings.usable) == ((), (), False)
    with pytest.raises(DataError, match="nowhere is not a folder"):
        check_data(tmp_path / "nowhere")


def test_a_whole_binary_batch_that_is_lost_at_a_record_is_seen_by_its_number(tmp_path, monkeypatch):
    """A file cut between two records cannot be told from a shorter one, but the data set is then no longer whole."""
    monkeypatch.setattr(cifar, "PUBLISHED", (100, 20))
    folder = write_cifar(tmp_path, "cifar10", "binary")
    data = np.fromfile(folder / "data_batch_5.bin", dtype=np.uint8)
    data[:-3073].tofile(folder / "data_batch_5.bin")
    (found,) = check_data(tmp_path).found
    assert (found.status, found.differences) == ("part", ("99 train images, where the published data set has 100",))
