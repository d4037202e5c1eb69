"""What the settings of a bridge run may be, key by key."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Annotated, Any

from cflag_theory.bridge.settings.evolving import CFL_NAMES, ROUNDS
from cflag_theory.errors import InvalidInput
from cflag_theory.public import Rule
from cflag_theory.reading import TRUTH, integer, is_number

#: The task-incremental methods of Sec. 7, in the order of Table 3 with C-FLAG first.
METHOD_NAMES = ("c_flag", "finetune", "ewc", "nccl", "fedtrack", "er_ring")
#: Those for class-incremental learning beside them (Table 7).
CLASS_NAMES = ("lwf", "icarl", "target")
#: Those of the CFL paper with them.
ALL_NAMES = (*METHOD_NAMES, *CLASS_NAMES, *CFL_NAMES)
#: How many classes each data set has.
CLASSES = MappingProxyType({"digits": 10, "fashion-mnist": 10, "cifar10": 10, "cifar100": 100, "tinyimagenet": 200})
#: Settings that one protocol has and the other does not look at.
OWN = MappingProxyType(
    {
        "tasks": (
            *("crop", "flip", "jitter", "image_size", "partition", "weights", "class_order", "old_logits"),
            *("memory_kind", "memory_size", "memory_sample"),
        ),
        ROUNDS: ("subsets", "subset_size", "inner_zeta", "overlap", "visits", "split", "stateless"),
    }
)
#: Networks with kernels of convolutions, whose numbers `channels_last` puts in another order.
CONVOLUTIONS = ("cnn", "resnet18", "resnet50")


class WrongSetting(InvalidInput):
    """A setting is wrong: change the key that the message names. `place` is the key, or a method and the key of its
    options.
    """

    def __init__(self, place: tuple[str, ...], sentence: str) -> None:
        super().__init__(sentence)
        self.place = place


def _several(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        listed = isinstance(value, tuple | list) and len(value) > 0 and all(map(fits, value))
        return listed and len(set(value)) == len(value)

    return test


#: What settings are; `run_settings.RULES` has them by name.
Count = Annotated[int, integer(1, (1 << 31) - 1)]
# No useful rate is further from 1; in these bounds neither squares nor quotients of rates leave float32.
Rate = Annotated[float, Rule(lambda value: is_number(value) and 1e-15 <= value <= 1e15, "a number from 1e-15 to 1e15")]
Dirichlet = Annotated[
    float, Rule(lambda value: is_number(value) and 0 < value <= 1e12, "a number above 0 and at most 1e12")
]
Share = Annotated[float, Rule(lambda value: is_number(value) and 0 <= value < 1, "a number from 0 to below 1")]
Word = Annotated[str, Rule(lambda value: type(value) is str and value != "", "a word in quotes")]
Truth = Annotated[bool, TRUTH]
Methods = Annotated[
    tuple[str, ...],
    Rule(
        _several(lambda name: type(name) is str and name in ALL_NAMES),
        f"a list of different methods of {', '.join(ALL_NAMES)}",
    ),
]
Seeds = Annotated[
    tuple[int, ...],
    Rule(
        _several(lambda seed: type(seed) is int and 0 <= seed < 1 << 63),
        "a list of different integers from 0 to 2^63 - 1",
    ),
]
Device = Annotated[
    str,
    Rule(
        lambda value: type(value) is str and re.fullmatch("cpu|cuda(:[0-9]{1,3})?", value) is not None,
        "cpu, cuda, or one of several such as cuda:1",
    ),
]
