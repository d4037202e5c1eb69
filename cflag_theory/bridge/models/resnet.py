"""ResNet-18 and ResNet-50: K. He, X. Zhang, S. Ren and J. Sun, Deep residual learning for image recognition, 2016.

Table 1 there, for images of 224 x 224: a 7 x 7 convolution and a max pool, four stages of residual blocks, the mean
over the map, and a linear layer. Every convolution is followed by BatchNorm (Sec. 3.4). A stage halves the map at its
first block, where the shortcut is a 1 x 1 convolution (option B). Two things are not in the paper and are what everyone
measures today: the bottleneck halves the map in its 3 x 3 convolution instead of the first 1 x 1, and weights of
convolutions are drawn from a normal distribution with variance 2 / (outputs x area), those of He et al. (2015).

Names of parameters are those of torchvision, and so is the order of draws: its files of weights can be loaded, and a
seed gives the weights that it gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

#: Blocks of the four stages, and whether blocks are bottlenecks.
LAYOUTS = {"resnet18": ((2, 2, 2, 2), False), "resnet50": ((3, 4, 6, 3), True)}
#: Channels of a bottleneck's output for one of its inner channels.
EXPANSION = 4


class Block(nn.Module):  # type: ignore[misc]
    """Convolutions with BatchNorm, to whose output the input is added before the last ReLU.

    Parameters
    ----------
    channels : int
        Of the input.
    convolutions : sequence of (channels, side, stride)
        Of their outputs.
    """

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
