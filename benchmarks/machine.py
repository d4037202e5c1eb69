"""The machine in words, its measured ceilings, and how a process is held to one core."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
LIBRARIES = ("numpy", "scipy", "numba", "jax", "torch")
#: Sizes in bytes at which reading is timed: in the second cache of most cores, in the third, out of all.
READ_SIZES = (1 << 18, 1 << 23, 1 << 27)
_ALLOWED = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def one_thread() -> None:
    """Hold this process and all its pools to one thread; to be called before numpy, jax or torch are imported.

    JAX sizes its pool by the cores that it may use when it starts, so that the affinity is what limits it.
    """
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["OMP_WAIT_POLICY"] = "passive"
    if hasattr(os, "sched_setaffinity"):
        # Interrupts are mostly served by the first core.
        os.sched_setaffinity(0, {max(_ALLOWED)})


@contextmanager
def all_cores() -> Iterator[int]:
    """Within it, threads that start may run on every core that this process was given; yields how many there are."""
    if not hasattr(os, "sched_setaffinity"):
        yield len(_ALLOWED)
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _ALLOWED)
    try:
        yield len(_ALLOWED)
    finally:
        os.sched_setaffinity(0, before)


def describe() -> dict[str, Any]:
    """Processor, cores, system and versions; no name of a host and no path."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "caches": _caches(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {library: _version(library) for library in LIBRARIES},
    }


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def _processor() -> str:
    try:
        found: dict[str, str] = {}
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
        family = f"family {found['cpu family']} model {found['model']}" if "cpu family" in found else ""
        widest = next((word for word in ("avx512f", "avx2", "asimd") if word in found.get("flags", "").split()), "")
        words = [found.get("model name", platform.processor()), family, widest]
        return ", ".join(word for word in words if word)
    except OSError:
        return platform.processor() or "unknown"


def _caches() -> str:
    """Data and unified caches of the first core, as the kernel lists them."""
    sizes = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            sizes.append(f"L{level} {size}")
    return ", ".join(sizes)


def _best(action: Any, repeats: int) -> float:
    """Least processor seconds of several calls, the first one left out; a busy machine does not lower a ceiling."""
    action()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def ceilings(*, size: int = 2048, repeats: int = 5) -> dict[str, float]:
    """Measured rates of one thread: fma, dgemm and sgemm in flop/s, reading and triad in byte/s.

    "fma" is of fused products in registers; dgemm and sgemm are of NumPy's BLAS on square matrices.
    Reading is BLAS's ddot over two arrays that fill one of `READ_SIZES` together; the triad is daxpy, a = a + s b,
    which reads two arrays and writes one, out of every cache.
    """
    import numpy as np
    from scipy.linalg.blas import daxpy, ddot

    from benchmarks.kernels.arithmetic import fused_products

    random = np.random.default_rng(0)
    rates = {"fma": fused_products() / _best(fused_products, 4 * repeats)}
    for name, dtype in (("dgemm", np.float64), ("sgemm", np.float32)):
        a, b = (random.standard_normal((size, size)).astype(dtype) for _ in range(2))
        out = np.empty_like(a)
        rates[name] = 2 * size**3 / _best(lambda a=a, b=b, out=out: np.matmul(a, b, out=out), repeats)
    for total in READ_SIZES:
        x, y = np.ones(total // 16), np.ones(total // 16)
        passes = max(1, (1 << 24) // total)

        def read(x: Any = x, y: Any = y, passes: int = passes) -> None:
            for _ in range(passes):
                ddot(x, y)

        rates[f"read {total}"] = passes * total / _best(read, repeats)
    rates["triad"] = 3 * x.nbytes / _best(lambda: daxpy(x, y, a=0.5), repeats)
    return rates
