"""Tiny data sets in the exact formats of CIFAR-10, CIFAR-100 and TinyImageNet-200, written byte by byte."""

from __future__ import annotations

import gzip
import struct

import numpy as np

FOLDERS = {
    ("cifar10", "python"): "cifar-10-batches-py",
    ("cifar10", "binary"): "cifar-10-batches-bin",
    ("cifar100", "python"): "cifar-100-python",
    ("cifar100", "binary"): "cifar-100-binary",
}


class Python2:
    """A pickle as Python 2's cPickle wrote CIFAR's: protocol 2, text as bytes, every object numbered."""

    def __init__(self):
        self.numbered = 0

    def put(self):
        self.numbered += 1
        return b"q" + bytes([self.numbered]) if self.numbered < 256 else b"r" + struct.pack("<I", self.numbered)

    def dump(self, value):
        return b"\x80\x02" + self.body(value) + b"."

    def body(self, value):
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            if 0 <= value < 2**8:
                return b"K" + bytes([value])
            return b"M" + struct.pack("<H", value) if 0 <= value < 2**16 else b"J" + struct.pack("<i", value)
        if isinstance(value, str | bytes):
            raw = value.encode("latin-1") if isinstance(value, str) else value
            head = b"U" + bytes([len(raw)]) if len(raw) < 256 else b"T" + struct.pack("<i", len(raw))
            return head + raw + self.put()
        if isinstance(value, list):
            return b"]" + self.put() + b"(" + b"".join(map(self.body, value)) + b"e"
        if isinstance(value, tuple):
            return b"(" + b"".join(map(self.body, value)) + b"t" + self.put()
        if isinstance(value, dict):
            pairs = [self.body(part) for item in value.items() for part in item]
            return b"}" + self.put() + b"(" + b"".join(pairs) + b"u"
        return self.array(value)

    def array(self, values):
        code = values.dtype.str[1:]
        kind = b"cnumpy\ndtype\n" + self.put() + self.body((code, 0, 1)) + b"R" + self.put()
        kind += self.body((3, values.dtype.str[0], None, None, None, -1, -1, 0)) + b"b"
        empty = b"cnumpy.core.multiarray\n_reconstruct\n" + self.put() + b"cnumpy\nndarray\n" + self.put()
        # The three arguments and the call: ndarray, (0,), 'b'.
        empty = empty + self.body((0,)) + self.body("b") + b"\x87" + self.put() + b"R" + self.put()
        state = b"(K\x01" + self.body(tuple(values.shape)) + kind + b"\x89" + self.body(values.tobytes()) + b"t"
        return empty + state + self.put() + b"b"


def python2(value):
    """The bytes of a Python 2 pickle."""
    return Python2().dump(value)


def cifar_rows(count, classes, seed=0):
    """(count, 3072) pixels and labels 0, 1, ..., in turn."""
    random = np.random.default_rng(seed)
    return random.integers(0, 256, size=(count, 3072), dtype=np.uint8), [place % classes for place in range(count)]


def write_cifar(root, name, version, *, per_file=20):
    """A whole small data set under `root`: `per_file` images in each of its files. Returns the folder of the files."""
    folder = root / FOLDERS[name, version]
    folder.mkdir(parents=True)
    classes = 10 if name == "cifar10" else 100
    batches = [f"data_batch_{number}" for number in range(1, 6)] if name == "cifar10" else ["train"]
    last = "test_batch" if name == "cifar10" else "test"
    for seed, file in enumerate([*batches, last]):
        rows, labels = cifar_rows(per_file, classes, seed)
        if version == "binary":
            heads = [labels] if name == "cifar10" else [[label // 5 for label in labels], labels]
            (folder / f"{file}.bin").write_bytes(np.column_stack([*heads, rows]).astype(np.uint8).tobytes())
        else:
            names = [f"image_s_{place:06d}.png" for place in range(per_file)]
            record = {"batch_label": f"{file} of some", "data": rows, "filenames": names}
            if name == "cifar10":
                record["labels"] = labels
            else:
                record |= {"fine_labels": labels, "coarse_labels": [label // 5 for label in labels]}
            (folder / file).write_bytes(python2(record))
    words = [f"class {label}" for label in range(classes)]
    if version == "binary":
        meta = "batches.meta.txt" if name == "cifar10" else "fine_label_names.txt"
        (folder / meta).write_text("\n".join(words) + "\n\n")
    elif name == "cifar10":
        meta = {"num_cases_per_batch": per_file, "label_names": words, "num_vis": 3072}
        (folder / "batches.meta").write_bytes(python2(meta))
    else:
        coarse = [f"group {label}" for label in range(20)]
        (folder / "meta").write_bytes(python2({"fine_label_names": words, "coarse_label_names": coarse}))
    return folder


def write_tiny_imagenet(root, *, classes=4, train=3, test=2, grey=True):
    """A small TinyImageNet under `root`; the first train image of each class is grey. Returns the folder."""
    from PIL import Image

    folder = root / "tiny-imagenet-200"
    random = np.random.default_rng(0)
    # Not in order, as in the original: sorted ids are the order of the classes.
    ids = [f"n{10_000_000 + (7 * place) % classes}" for place in range(classes)]

    def save(path, level, mode):
        pixels = np.full((64, 64, 3), level, dtype=np.uint8) + random.integers(0, 3, (64, 64, 3), dtype=np.uint8)
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).convert(mode).save(path, format="JPEG", quality=95)

    for name in ids:
        level = 20 * (1 + sorted(ids).index(name)) % 250
        for place in range(train):
            mode = "L" if grey and place == 0 else "RGB"
            save(folder / "train" / name / "images" / f"{name}_{place}.JPEG", level, mode)
        (folder / "train" / name / f"{name}_boxes.txt").write_text(f"{name}_0.JPEG\t0\t0\t62\t62\n")
    lines = []
    for place in range(test * classes):
        name = ids[place % classes]
        save(folder / "val" / "images" / f"val_{place}.JPEG", 20 * (1 + sorted(ids).index(name)) % 250, "RGB")
        lines.append(f"val_{place}.JPEG\t{name}\t0\t0\t62\t62")
    (folder / "val" / "val_annotations.txt").write_text("\n".join(lines) + "\n")
    (folder / "wnids.txt").write_text("\n".join(ids) + "\n")
    (folder / "words.txt").write_text("\n".join(f"{name}\tword {name}, other word" for name in ids) + "\n")
    (folder / "test" / "images").mkdir(parents=True)
    return folder


FASHION_IMAGES = np.random.default_rng(0).integers(0, 256, (30, 28, 28), dtype=np.uint8)
FASHION_LABELS = (np.arange(30) % 10).astype(np.uint8)


def idx(array):
    """An array as an idx file of bytes."""
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


def write_fashion(folder, *, packed=False, **files):
    """The four files of a small Fashion-MNIST; `files` replace some, by name with _ for -, or leave them out."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "train-images-idx3-ubyte": idx(FASHION_IMAGES[:20]),
        "train-labels-idx1-ubyte": idx(FASHION_LABELS[:20]),
        "t10k-images-idx3-ubyte": idx(FASHION_IMAGES[20:]),
        "t10k-labels-idx1-ubyte": idx(FASHION_LABELS[20:]),
    }
    for name, data in (content | {name.replace("_", "-"): data for name, data in files.items()}).items():
        if data is not None:
            (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)
