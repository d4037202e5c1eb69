"""CIFAR-10's binary files with images made up: classes that a network can learn, in the real format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")


def write_cifar(root: Path, per_file: int) -> Path:
    """Six files of so many images, each class a colour of its own under noise; returns `root`."""
    folder, random = root / "cifar-10-batches-bin", np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    means = random.integers(40, 216, (10, 3072))
    for name in FILES:
        labels = (np.arange(per_file) % 10).astype(np.uint8)
        noise = random.standard_normal((per_file, 3072), dtype=np.float32)
        pixels = np.clip(means[labels] + 60 * noise, 0, 255).astype(np.uint8)
        np.column_stack([labels, pixels]).tofile(folder / name)
    (folder / "batches.meta.txt").write_text("".join(f"class {label}\n" for label in range(10)), encoding="utf-8")
    return root
