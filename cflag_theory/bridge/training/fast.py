"""What `--fast` switches on: what is faster on a device, and changes results by rounding only."""

from __future__ import annotations

from dataclasses import replace

import torch

from cflag_theory.bridge.settings.run_settings import RunSettings
from cflag_theory.bridge.training.environment import find_device

#: Networks without convolutions: their clients are computed together, which passes in bfloat16 would prevent.
SMALL = ("linear", "mlp")


def fast(settings: RunSettings) -> RunSettings:
    """The same run with the switches that pay on its device; the settings record them.

    TF32 on a GPU. For networks with convolutions channels_last, autocast where the device has bfloat16, and on a GPU
    CUDA graphs, with which an H200 passed 3.3 times as many images of a ResNet-18. Not `compile`: it gained nothing
    there, and 10 % on a CPU after 260 s.
    """
    device = find_device(settings.device)
    convolutions = settings.model not in SMALL
    return replace(
        settings,
        tf32=settings.tf32 or device.type == "cuda",
        graphs=settings.graphs or (convolutions and device.type == "cuda"),
        channels_last=settings.channels_last or convolutions,
        autocast=settings.autocast or (convolutions and settings.dtype == "float32" and has_bfloat16(device)),
    )


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for bfloat16; elsewhere passes in it are slower than in float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    tests = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(test() for test in tests if test is not None)
