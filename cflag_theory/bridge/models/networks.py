"""Networks: a body that turns images into features, and heads that turn features into logits of a task's classes.

The paper (Sec. 7) uses ResNet-18 on CIFAR and ResNet-50 on TinyImageNet and says nothing of their stems. Decided here:

- "resnet18" has the stem that is usual for 32 x 32 images: a 3 x 3 convolution with stride 1, no max pool. Its four
  stages see maps of 32, 16, 8 and 4 pixels; the stem of ImageNet would leave a single pixel to the last stage.
- "resnet50" is for 64 x 64 images: the same 3 x 3 convolution, and the max pool stays. Its stages then see the same
  32, 16, 8 and 4 pixels, at a quarter of the cost of a stem without the pool.
- Images of `LARGE` pixels and more have the stem of ImageNet in both: a 7 x 7 convolution with stride 2 and the pool.

ResNet-18 and ResNet-50: K. He, X. Zhang, S. Ren and J. Sun, Deep residual learning for image recognition, 2016.

Table 1 there, for images of 224 x 224: a 7 x 7 convolution and a max pool, four stages of residual blocks, the mean
over the map, and a linear layer. Every convolution is followed by BatchNorm (Sec. 3.4). A stage halves the map at its
first block, where the shortcut is a 1 x 1 convolution (option B). Two things are not in the paper and are what everyone
measures today: the bottleneck halves the map in its 3 x 3 convolution instead of the first 1 x 1, and weights of
convolutions are drawn from a normal distribution with variance 2 / (outputs x area), those of He et al. (2015).

Names of parameters are those of torchvision, and so is the order of draws: its files of weights can be loaded, and a
seed gives the weights that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from cflag_theory.errors import InvalidInput
from cflag_theory.public import quoted


@dataclass(frozen=True, eq=False)
class Batch:
    """Images (B, C, H, W), normalised, of the model's dtype, with their labels; the loss is sum_b weights_b l_b, where
    None stands for weights of 1 / B.

    A label is the number of the class within its task; numbers of the model's dtype for the squared loss. `soft` (B,
    outputs) is what another model gives for these images, for a `Loss` that asks for it.
    """

    images: Tensor
    labels: Tensor
    tasks: Tensor
    weights: Tensor | None = None
    soft: Tensor | None = None


#: l_b of every image, (B,), for all outputs (B, outputs) of the network, unmasked: in place of `FlatModel.losses`.
Loss = Callable[[Tensor, Batch], Tensor]


class Samples(Protocol):
    """Data that batches can be taken of."""

    @property
    def n(self) -> int:
        """How many samples there are."""

    def batch(self, positions: np.ndarray | Tensor | slice) -> Batch:
        """The samples at these positions."""


def as_device(device: torch.device | str) -> torch.device:
    """The device of this name."""
    try:
        return torch.device(device)
    except RuntimeError as error:
        raise InvalidInput(f"device {quoted(device)} is none of torch's: use cpu, or one that torch finds") from error


#: What becomes of the logits of past tasks' classes in the loss of current data, where heads grow.
KEPT, MASKED = OLD_LOGITS = ("kept", "masked")
#: Name, place in the flat vector, and shape of a tensor.
Place = tuple[str, slice, tuple[int, ...]]
#: Sides of images from which a ResNet has the stem of ImageNet.
LARGE = 128


class Network(nn.Module):  # type: ignore[misc]
    """A body and heads: ``network(images, tasks)`` are logits.

    `class_numbers` (tasks, most classes of a task) says where the logits of a task's classes are among all outputs,
    -1 where the task has fewer classes; `others` (tasks, all classes) marks the classes of other tasks. With a list
    of heads (one `Linear` a task, chosen by the task) the logits are (B, most classes of a task), in the order of
    the class numbers within the task. With one masked head they are (B, all classes), -inf outside of the task. With
    one shared head, which has no class numbers, they are those of the classes' places within a task, whatever the task.
    Every head is evaluated on every image, and then the task's one is picked: shapes stay fixed whatever tasks a
    batch mixes, no value has to be read back from a GPU, and heads that are not picked get exactly zero gradient.

    Growing heads are a masked one whose logits are -inf for the classes of tasks that are not `seen`, and not for those
    of other tasks: as if a head were appended with every task, but d stays. Where old logits are "masked" they are -inf
    on the images of the newest task. `others` has one row more, which masks what is not seen and is for evaluation.
    """

    def __init__(
        self,
        body: nn.Module,
        heads: nn.Module,
        class_numbers: Tensor | None,
        masked: bool,
        growing: str | None = None,
    ) -> None:
        super().__init__()
        self.growing = growing
        #: Where heads grow, the newest task of which classes are seen.
        self.seen = -1
        self.body, self.heads, self.masked = body, heads, masked
        self.padded = class_numbers is not None and bool((class_numbers < 0).any())
        self.register_buffer("class_numbers", class_numbers, persistent=False)
        others = None
        if class_numbers is not None:
            every = torch.arange(int(class_numbers.max()) + 1)
            others = (class_numbers[:, :, None] != every).all(dim=1)
        owners = None
        if others is not None and growing is not None:
            owners = (~others).int().argmax(dim=0)
            others = torch.cat([others, others[:1]])
        self.register_buffer("others", others, persistent=False)
        self.register_buffer("owners", owners, persistent=False)
        self.see(0)

    def see(self, task: int) -> None:
        """From now on the classes of this task and of those before it are seen, if heads grow."""
        if self.growing is None or task == self.seen:
            return
        self.seen = task
        self.others.copy_((self.owners > task).expand(len(self.others), -1))
        if self.growing == MASKED:
            self.others[task] |= self.owners < task

    def forward(self, images: Tensor, tasks: Tensor | None) -> Tensor:
        """Logits of a batch: images (B, C, H, W), tasks (B,) int64; without tasks all outputs, none of them masked."""
        outputs = self.heads(self.body(images))
        return outputs if tasks is None else self.of_tasks(outputs, tasks)

    def of_tasks(self, outputs: Tensor, tasks: Tensor) -> Tensor:
        """The logits among all outputs (B, ...)."""
        if self.class_numbers is None:
            return outputs
        if self.masked:
            return outputs.masked_fill(self.others[tasks], -torch.inf)
        mine = self.class_numbers[tasks]
        if not self.padded:
            return outputs.gather(1, mine)
        return outputs.gather(1, mine.clamp(min=0)).masked_fill(mine < 0, -torch.inf)

    def vectors(self) -> dict[str, Tensor]:
        """Parameters, then floating-point buffers, by name."""
        buffers = {name: buffer for name, buffer in self.named_buffers() if buffer.is_floating_point()}
        return {**dict(self.named_parameters()), **buffers}

    def pieces(self, name: str, where: slice, shape: tuple[int, ...]) -> list[Place]:
        """A parameter as one place in the flat vector, or those of the heads in a list, one by one."""
        if not isinstance(self.heads, Heads) or not name.startswith("heads."):
            return [(name, where, shape)]
        found, first = [], where.start
        for task, count in enumerate(self.heads.counts):
            stop = first + count * prod(shape[1:])
            found.append((name.replace("heads", f"heads.{task}"), slice(first, stop), (count, *shape[1:])))
            first = stop
        return found


class Heads(nn.Module):  # type: ignore[misc]
    """One `Linear` a task, stored side by side: as one layer they take one product, not one a task."""

    def __init__(self, features: int, counts: Sequence[int]) -> None:
        super().__init__()
        self.counts = tuple(counts)
        each = [nn.Linear(features, count) for count in counts]
        self.weight = nn.Parameter(torch.cat([head.weight.detach() for head in each]))
        self.bias = nn.Parameter(torch.cat([head.bias.detach() for head in each]))

    def forward(self, features: Tensor) -> Tensor:
        """The outputs of all heads, (B, all classes)."""
        return nn.functional.linear(features, self.weight, self.bias)


def class_numbers(classes_per_task: Sequence[int]) -> Tensor:
    """Positions of the tasks' classes among all outputs, (tasks, most classes), -1 for no class."""
    numbers = torch.full((len(classes_per_task), max(classes_per_task)), -1)
    first = 0
    for task, count in enumerate(classes_per_task):
        numbers[task, :count] = torch.arange(first, first + count)
        first += count
    return numbers


def with_heads(
    body: nn.Module, features: int, classes_per_task: Sequence[int], heads: str, old_logits: str = KEPT
) -> Network:
    """A classifier with "list", "masked", "shared" or "growing" heads."""
    if heads == "shared":
        return Network(body, nn.Linear(features, classes_per_task[0]), None, masked=False)
    numbers = class_numbers(classes_per_task)
    if heads == "list":
        return Network(body, Heads(features, classes_per_task), numbers, masked=False)
    growing = old_logits if heads == "growing" else None
    return Network(body, nn.Linear(features, sum(classes_per_task)), numbers, masked=True, growing=growing)


def with_output(body: nn.Module, features: int) -> Network:
    """One output a . features without a shift, whatever the task: on "linear" this is the kernels' a . x."""
    return Network(body, nn.Linear(features, 1, bias=False), None, masked=False)


def linear(shape: Sequence[int], hidden: Sequence[int]) -> tuple[nn.Module, int]:
    """No hidden layer: the features are the pixels."""
    return nn.Flatten(), prod(shape)


def mlp(shape: Sequence[int], hidden: Sequence[int]) -> tuple[nn.Module, int]:
    """Fully connected layers of the widths `hidden` with ReLU."""
    widths = [prod(shape), *hidden]
    layers = [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(nn.Flatten(), *layers), widths[-1]


def cnn(shape: Sequence[int], hidden: Sequence[int]) -> tuple[nn.Module, int]:
    """3 x 3 convolutions of the widths `hidden`, each with BatchNorm, ReLU and a pool by 2; then the map's mean."""
    layers: list[nn.Module] = []
    for a, b in pairwise([shape[0], *hidden]):
        convolution = nn.Conv2d(a, b, 3, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2, ceil_mode=True)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), hidden[-1] if hidden else shape[0]


def resnet18(shape: Sequence[int], hidden: Sequence[int]) -> tuple[nn.Module, int]:
    """ResNet-18, without the max pool where images are small."""
    body, small = _resnet("resnet18", shape)
    if small:
        body.maxpool = nn.Identity()
    return body, body.features


def resnet50(shape: Sequence[int], hidden: Sequence[int]) -> tuple[nn.Module, int]:
    """ResNet-50 with the max pool."""
    body, _ = _resnet("resnet50", shape)
    return body, body.features


def _resnet(name: str, shape: Sequence[int]) -> tuple[ResNet, bool]:
    """A ResNet without its last layer, and whether images are small, so that its stem is 3 x 3."""
    body, small = ResNet(name), min(shape[1:]) < LARGE
    if small or shape[0] != 3:
        how = {"padding": 1} if small else {"stride": 2, "padding": 3}
        body.conv1 = nn.Conv2d(shape[0], 64, 3 if small else 7, bias=False, **how)
        draw(body.conv1)
    body.fc = nn.Identity()
    return body, small


#: Bodies by name; (shape of an image, widths of hidden layers) to (body, number of features).
BODIES: dict[str, Callable[[Sequence[int], Sequence[int]], tuple[nn.Module, int]]] = {
    "linear": linear,
    "mlp": mlp,
    "cnn": cnn,
    "resnet18": resnet18,
    "resnet50": resnet50,
}
#: Widths of hidden layers where nothing else is asked for; the other bodies have none to choose.
HIDDEN = {"mlp": (64,), "cnn": (16, 32)}


#: Blocks of the four stages, and whether blocks are bottlenecks.
LAYOUTS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}
#: Channels of a bottleneck's output for one of its inner channels.
EXPANSION = 4


class Block(nn.Module):  # type: ignore[misc]
    """Convolutions (channels, side, stride) with BatchNorm, to whose output the input is added before the last ReLU."""

    def __init__(self, channels: int, convolutions: Sequence[tuple[int, int, int]]) -> None:
        super().__init__()
        out, stride = convolutions[-1][0], max(stride for _, _, stride in convolutions)
        shortcut = None
        if stride > 1 or out != channels:
            shortcut = nn.Sequential(_convolution(channels, out, 1, stride), nn.BatchNorm2d(out))
        self.depth = len(convolutions)
        for number, (width, side, own_stride) in enumerate(convolutions, 1):
            self.add_module(f"conv{number}", _convolution(channels, width, side, own_stride))
            self.add_module(f"bn{number}", nn.BatchNorm2d(width))
            channels = width
        # Drawn first, named last.
        self.downsample = shortcut

    def forward(self, images: Tensor) -> Tensor:
        found = images
        for number in range(1, self.depth + 1):
            found = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(found))
            if number < self.depth:
                found = nn.functional.relu(found, inplace=True)
        found += images if self.downsample is None else self.downsample(images)
        return nn.functional.relu(found, inplace=True)


class ResNet(nn.Module):  # type: ignore[misc]
    """A network of `LAYOUTS` for images (B, 3, H, W): logits (B, classes)."""

    def __init__(self, name: str, classes: int = 1000) -> None:
        super().__init__()
        counts, bottleneck = LAYOUTS[name]
        self.conv1 = _convolution(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool: nn.Module = nn.MaxPool2d(3, stride=2, padding=1)
        channels = 64
        for stage, count in enumerate(counts):
            width, blocks = 64 << stage, []
            for place in range(count):
                stride = 2 if stage and not place else 1
                out = width * EXPANSION if bottleneck else width
                basic = ((width, 3, stride), (width, 3, 1))
                blocks.append(
                    Block(channels, ((width, 1, 1), (width, 3, stride), (out, 1, 1)) if bottleneck else basic)
                )
                channels = out
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc: nn.Module = nn.Linear(channels, classes)
        self.features = channels
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                draw(layer)

    def forward(self, images: Tensor) -> Tensor:
        found = self.maxpool(nn.functional.relu(self.bn1(self.conv1(images)), inplace=True))
        found = self.layer4(self.layer3(self.layer2(self.layer1(found))))
        return self.fc(nn.functional.adaptive_avg_pool2d(found, 1).flatten(1))


def draw(layer: nn.Conv2d) -> None:
    """New weights of a convolution before ReLU, so that the backward pass keeps its scale."""
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")


def _convolution(channels: int, out: int, side: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(channels, out, side, stride=stride, padding=side // 2, bias=False)
