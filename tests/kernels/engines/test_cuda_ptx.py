"""The CUDA kernels compile to PTX for data-centre GPUs, on machines without one."""

import re
import subprocess
import typing
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("numba_cuda")

from numba import cuda, types

from cflag_theory.kernels.engines.codes import Numbers
from cflag_theory.kernels.engines.components import Sum
from cflag_theory.kernels.engines.cuda import host as cuda_host
from cflag_theory.kernels.engines.cuda import large_problems as cuda_large
from cflag_theory.kernels.engines.cuda import run as engine
from cflag_theory.kernels.engines.cuda import small_problems as cuda_small
from cflag_theory.kernels.engines.cuda import team as cuda_team

pytestmark = pytest.mark.full

KERNELS = ("small", "gradients", "steps")
ARCHITECTURES = ((8, 0), (9, 0))
VARIANTS = ((types.float64, (8, 0)), (types.float64, (9, 0)), (types.float32, (9, 0)))
#: Bytes of local memory that libdevice's reduction of large arguments of a sine takes.
SINE = 96
#: Bytes of registers that may be spilled: a few numbers of 8 bytes, and no array.
SPILLED = 64


def toolkit():
    """The folder of the compiler's wheel, or None."""
    nvidia = pytest.importorskip("nvidia.cuda_nvcc", reason="NVVM comes with the extra cuda")
    return Path(next(iter(nvidia.__path__)))


def array(dtype, dimensions):
    return types.Array(dtype, dimensions, "C")


def signature(kernel, real):
    """The types of a kernel's arguments, for numbers of the type `real`."""
    ints = array(types.int64, 1)
    rows = types.NamedTuple(
        [array(real, 2), array(real, 1), array(real, 1), array(real, 2), array(real, 2), ints, ints], Sum
    )
    data = types.NamedTuple([array(real, 1), array(real, 1), rows, rows, ints], cuda_host.Data)
    parts = [array(real, 2)] * 5 + [array(types.int64, 2), ints, types.int64, types.int64]
    store = types.NamedTuple(parts, cuda_host.Store)
    out = types.NamedTuple([array(types.float64, 3)] * 4 + [ints, ints], cuda_host.Results)
    kinds = {int: types.int64, bool: types.boolean, float: real}
    numbers = {name: kinds[kind] for name, kind in typing.get_type_hints(Numbers).items()}
    n = types.NamedTuple(list((numbers | {"angle": types.float64}).values()), Numbers)
    counts = {"small": 1, "gradients": 2, "steps": 1}[kernel]
    return n, *[types.int64] * counts, data, store, out


@pytest.fixture(scope="module")
def ptx():
    """PTX by kernel, number type and architecture."""
    toolkit()
    makers = (cuda_small.small_kernel, cuda_large.gradients_kernel, cuda_large.steps_kernel)
    texts = {}
    with pytest.MonkeyPatch.context() as patch:
        # Numba asks another library, of 90 MB, which architectures there are, and for a device though it is told one.
        patch.setattr("numba.cuda.cudadrv.nvrtc.get_supported_ccs", lambda: list(ARCHITECTURES))
        for real, architecture in VARIANTS:
            device = SimpleNamespace(compute_capability=architecture)
            patch.setattr("numba.cuda.dispatcher.get_current_device", lambda device=device: device)
            for name, maker in zip(KERNELS, makers, strict=True):
                text, _ = cuda.compile_ptx(maker(real).py_func, signature(name, real), cc=architecture)
                texts[name, real, architecture] = text
    return texts


def test_it_is_made_for_the_architecture_it_says(ptx):
    assert len(ptx) == len(KERNELS) * len(VARIANTS)
    for (_, _, (major, minor)), text in ptx.items():
        assert f".target sm_{major}{minor}" in text


def test_no_sum_goes_by_atomics_on_floats(ptx):
    """The only atomic counts finished blocks; a run would otherwise depend on who comes first."""
    for (name, _, _), text in ptx.items():
        found = set(re.findall(r"\b(?:atom|red)\.[\w.]+", text))
        assert found == (set() if name == "small" else {"atom.global.add.u64"})


def test_the_last_block_sees_what_the_others_wrote(ptx):
    """The count of finished blocks stands between two fences of its thread, and those between two barriers."""
    order = re.compile(r"\bbar\.sync|\bmembar\.gl|\bfence\.\w+\.gpu|\batom\.global\.add\.u64")
    for (name, _, _), text in ptx.items():
        if name != "small":
            found = order.findall(text)
            (count,) = (place for place, what in enumerate(found) if what.startswith("atom"))
            before, after = found[count - 2 : count], found[count + 1 : count + 3]
            assert before[0] == after[1] == "bar.sync"
            assert all(what.startswith(("membar", "fence")) for what in (before[1], after[0]))


def test_more_clients_than_a_second_dimension_has_blocks(ptx):
    """A grid has at most 65535 blocks in its second dimension."""
    for text in ptx.values():
        assert "%ctaid.x" in text
        assert not re.search(r"%n?ctaid\.[yz]", text)


def test_launches_of_few_blocks_do_not_warn():
    """Numba does when it launches, in colours; warnings are errors here."""
    with engine.few_blocks():
        warnings.warn("\x1b[1mGrid size 1 will likely result in GPU under-utilization", stacklevel=1)
        with pytest.raises(UserWarning, match="another"):
            warnings.warn("another", stacklevel=1)


def test_float32_kernels_shuffle_and_multiply_single_numbers(ptx):
    """Literals of the formulas make doubles of single numbers; sums over coordinates must not."""
    for (name, real, _), text in ptx.items():
        if real is types.float32:
            assert len(re.findall(r"\bfma\.rn\.f32\b", text)) > 10, name
            products = re.findall(r"\bld\.(?:global|shared)\.f64\b", text)
            assert len(products) < 0.05 * len(re.findall(r"\bld\.(?:global|shared)\.f32\b", text)), name


def test_sines_are_not_approximated(ptx):
    for text in ptx.values():
        assert not re.findall(r"\b(?:sin|cos)\.approx", text)


def test_nothing_but_the_sine_uses_local_memory(ptx):
    for text in ptx.values():
        assert sum(int(size) for size in re.findall(r"\.local .*?\[(\d+)\];", text)) <= SINE


@pytest.mark.parametrize("name", KERNELS)
def test_registers_suffice_for_the_largest_block(ptx, name, tmp_path):
    """What the assembler says of registers and spills, where its wheel is installed."""
    assembler = toolkit() / "bin" / "ptxas"
    if not assembler.exists():
        pytest.skip("this wheel of the compiler has no assembler")
    (tmp_path / "kernel.ptx").write_text(ptx[name, types.float64, (9, 0)])
    command = [str(assembler), "-v", "-arch=sm_90", "kernel.ptx", "-o", "kernel.cubin"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    (registers,) = re.findall(r"Used (\d+) registers", said)
    # An SM has 65536 registers for its blocks.
    largest = cuda_small.TEAMS * cuda_team.LANES if name == "small" else cuda_large.THREADS
    assert int(registers) * largest <= 65536, said
    spilled = [int(size) for size in re.findall(r"(\d+) bytes spill", said)]
    assert len(spilled) >= 2
    assert max(spilled) <= SPILLED, said
