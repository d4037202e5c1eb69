"""Our ResNets beside those of torchvision, and by their known numbers of parameters where it is not installed."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import nn

from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.models.networks import ResNet, resnet18, resnet50

#: With 1000 classes, as published with torchvision's weights.
PARAMETERS = {"resnet18": 11_689_512, "resnet50": 25_557_032}
_KEPT = []


@pytest.fixture(scope="module")
def models():
    """torchvision's, also beside a torch that it was not built for: models need none of its own operators."""
    pytest.importorskip("torch")
    try:
        from torchvision import models
    except ImportError:
        pytest.skip("torchvision is not installed")
    except RuntimeError:
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        # As long as the library lives the operators do.
        _KEPT.append(torch.library.Library("torchvision", "DEF"))
        for operator in ("nms", "qnms"):
            _KEPT[-1].define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import models
    return models


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_have_their_known_number(name):
    network = ResNet(name)
    assert sum(parameter.numel() for parameter in network.parameters()) == PARAMETERS[name]
    assert network.fc.in_features == network.features
    assert sum(isinstance(layer, nn.Conv2d) for layer in network.modules()) == {"resnet18": 20, "resnet50": 53}[name]


@pytest.mark.parametrize("name", PARAMETERS)
def test_they_are_torchvisions(models, name):
    torch.manual_seed(3)
    theirs = getattr(models, name)(weights=None)
    torch.manual_seed(3)
    ours = ResNet(name)
    expected = theirs.state_dict()
    assert list(ours.state_dict()) == list(expected)
    assert all(torch.equal(value, expected[name]) for name, value in ours.state_dict().items())
    for way in (nn.Module.train, nn.Module.eval):
        found = [
            way(network)(torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1)))
            for network in (ours, theirs)
        ]
        assert torch.equal(*found)
    found[0].sum().backward()
    found[1].sum().backward()
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    assert all(torch.equal(mine.grad, yours.grad) for mine, yours in pairs)
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())


@pytest.mark.parametrize("make", [resnet18, resnet50])
def test_large_images_have_the_stem_of_imagenet(make):
    small, large = (make((3, side, side), ())[0] for side in (64, 128))
    assert [body.conv1.kernel_size for body in (small, large)] == [(3, 3), (7, 7)]
    assert isinstance(large.maxpool, nn.MaxPool2d)
    maps = []
    large.layer4.register_forward_hook(lambda layer, given, found: maps.append(found.shape[2:]))
    large(torch.zeros(2, 3, 128, 128))
    assert maps == [(4, 4)]


def test_a_seed_gives_the_weights_that_it_gave_with_torchvision(models):
    torch.manual_seed(0)
    body = models.resnet18(weights=None)
    body.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(body.conv1.weight, mode="fan_out", nonlinearity="relu")
    head = nn.Linear(512, 10)
    del body.fc
    model = make_model("resnet18", (3, 32, 32), (10,))
    expected = [*body.parameters(), head.weight, head.bias]
    assert torch.equal(model.start(0)[: model.d], torch.cat([tensor.detach().reshape(-1) for tensor in expected]))


def test_grey_images_have_one_channel_at_any_size():
    for side in (28, 128):
        body, features = resnet18((1, side, side), ())
        assert body(torch.zeros(2, 1, side, side)).shape == (2, features)
