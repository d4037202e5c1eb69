"""Flat models: their gradients are autograd's, statistics move when they should, heads belong to their tasks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from cflag_theory.bridge.models.flat_model import full_gradient, make_model
from cflag_theory.bridge.models.networks import Batch
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import formulas

SHAPE, CLASSES = (2, 6, 5), (2, 3, 2)


def draw(n=7, *, shape=SHAPE, classes=CLASSES, task=None, dtype=torch.float64, seed=0) -> Batch:
    """Random images, of all tasks or of one, with weights."""
    random = np.random.default_rng(seed)
    tasks = random.integers(len(classes), size=n) if task is None else np.full(n, task)
    labels = torch.tensor([int(random.integers(classes[t])) for t in tasks])
    images = torch.from_numpy(random.standard_normal((n, *shape))).to(dtype)
    weights = torch.from_numpy(random.dirichlet(np.ones(n))).to(dtype)
    return Batch(images, labels, torch.from_numpy(tasks), weights)


class Rows:
    """A batch as data."""

    def __init__(self, batch: Batch) -> None:
        self.whole, self.n = batch, len(batch.labels)

    def batch(self, positions) -> Batch:
        return Batch(*(getattr(self.whole, name)[positions] for name in ("images", "labels", "tasks")))


def small(name="cnn", **more):
    return make_model(name, SHAPE, CLASSES, **({"dtype": torch.float64} | more))


def plain_cnn(model, state) -> tuple[nn.Module, nn.ModuleList]:
    """The same network, written with PyTorch alone, with the values of a state."""
    body = nn.Sequential(
        nn.Conv2d(2, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    ).double()
    heads = nn.ModuleList([nn.Linear(32, count) for count in CLASSES]).double()
    values = {name: value.clone() for name, value in model.split(state).items()}
    for part, module in (("body.", body), ("heads.", heads)):
        own = {name.removeprefix(part): value for name, value in values.items() if name.startswith(part)}
        missing = module.load_state_dict(own, strict=False)
        assert missing.unexpected_keys == []
        assert all(key.endswith("num_batches_tracked") for key in missing.missing_keys)
    return body, heads


def test_the_gradient_is_autograds_in_one_vector():
    model, batch = small(), draw()
    state = model.start(4)
    loss, gradient = model.gradient(state, batch)
    body, heads = plain_cnn(model, state)
    features = body(batch.images)
    each = [
        nn.functional.cross_entropy(heads[int(task)](feature)[None], label[None])
        for feature, task, label in zip(features, batch.tasks, batch.labels, strict=True)
    ]
    expected = (torch.stack(each) * batch.weights).sum()
    expected.backward()
    # The heads lie side by side: all weights, then all biases.
    layers = [*body.parameters(), *(head.weight for head in heads), *(head.bias for head in heads)]
    flat = torch.cat([parameter.grad.reshape(-1) for parameter in layers])
    assert gradient.shape == (model.d,)
    torch.testing.assert_close(loss, expected.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient, flat, rtol=0, atol=1e-13)
    # The same storage, without a copy on the way.
    for (name, where, shape), parameter in zip(model.tensors, model.network.parameters(), strict=True):
        assert parameter.grad.shape == shape, name
        assert parameter.grad.data_ptr() == model.network.body[0].weight.grad.data_ptr() + 8 * where.start


def test_a_gradient_is_new_every_time_and_the_state_stays():
    model, batch = small(), draw()
    state = model.start(0)
    before = state.clone()
    _, first = model.gradient(state, batch)
    kept = first.clone()
    _, second = model.gradient(model.start(1), draw(seed=1))
    assert torch.equal(first, kept)
    assert not torch.equal(first, second)
    assert torch.equal(state, before)


def test_running_statistics_move_in_local_steps_only():
    model, batch = small(), draw()
    state = model.start(4)
    body, _ = plain_cnn(model, state)
    body(batch.images)
    still, moved = state.clone(), state.clone()
    _, without = model.gradient(still, batch)
    _, within = model.gradient(moved, batch, statistics=True)
    assert torch.equal(still, state)
    assert torch.equal(without, within)
    assert torch.equal(moved[: model.d], state[: model.d])
    expected = torch.cat([buffer for buffer in body.buffers() if buffer.is_floating_point()])
    assert model.size - model.d == len(expected) == 2 * (16 + 32)
    torch.testing.assert_close(moved[model.d :], expected, rtol=0, atol=1e-14)
    # In evaluation mode they are used, and stay.
    assert not torch.equal(model.logits(state, batch.images, 0), model.logits(moved, batch.images, 0))
    after = moved.clone()
    _, evaluated = model.gradient(moved, batch, training=False)
    assert torch.equal(moved, after)
    assert not torch.equal(evaluated, within)


def test_a_batch_of_one_image_is_normalised_by_itself():
    """On a map of one pixel the normalised value is 0, and PyTorch refuses; twice the image gives the same."""
    model = small(hidden=(4, 4, 4, 4))
    one = draw(1)
    loss, gradient = model.gradient(model.start(0), one)
    twice = Batch(*(torch.cat([value, value]) for value in (one.images, one.labels, one.tasks)))
    expected, direction = model.gradient(model.start(0), twice)
    assert torch.equal(loss, expected)
    assert torch.equal(gradient, direction)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", ["linear", "mlp", "cnn"])
def test_a_full_gradient_does_not_depend_on_the_chunks(name):
    model, batch = small(name, hidden=None if name == "linear" else (5,)), draw(11)
    state, data = model.start(0), Rows(batch)
    whole_loss, whole = model.gradient(state, data.batch(slice(None)))
    for chunk in (1, 3, 4, 11, 50):
        loss, gradient = full_gradient(model, state, data, chunk)
        if name == "cnn" and chunk < 11:
            # BatchNorm makes it another function: each chunk is normalised by itself.
            assert not torch.allclose(gradient, whole)
        else:
            torch.testing.assert_close(loss, whole_loss, rtol=1e-14, atol=0)
            torch.testing.assert_close(gradient, whole, rtol=0, atol=1e-15)
    nothing = full_gradient(model, state, Rows(draw(0)), 4)
    assert float(nothing[0]) == 0
    assert not nothing[1].any()
    with pytest.raises(InvalidInput, match="a pass takes 0 samples at a time"):
        full_gradient(model, state, data, 0)


@pytest.mark.parametrize("heads", ["list", "masked"])
def test_heads_of_other_tasks_have_no_gradient(heads):
    model = small("mlp", heads=heads)
    state = model.start(0)
    _, gradient = model.gradient(state, draw(task=1))
    parts = model.split(gradient)
    weights = [parts[f"heads.{task}.weight"] for task in range(3)] if heads == "list" else []
    if heads == "masked":
        weights = list(parts["heads.weight"].split(CLASSES))
    assert [bool(weight.any()) for weight in weights] == [False, True, False]


def test_a_list_of_heads_and_masked_logits_are_one_function_of_the_same_weights():
    """Softmax over logits of which others are -inf is softmax over the task's own: only the start draws differ."""
    lists, masked = small("mlp", heads="list"), small("mlp", heads="masked")
    state, batch = lists.start(0), draw(9)
    parts = lists.split(state)
    heads = [torch.cat([parts[f"heads.{task}.{what}"].reshape(-1) for task in range(3)]) for what in ("weight", "bias")]
    first = next(where.start for name, where, _ in lists.tensors if name.startswith("heads"))
    body = state[:first]
    same = torch.cat([body, *heads])
    assert masked.d == lists.d == len(same)
    (loss, gradient), (masked_loss, masked_gradient) = lists.gradient(state, batch), masked.gradient(same, batch)
    torch.testing.assert_close(masked_loss, loss, rtol=1e-14, atol=0)
    torch.testing.assert_close(masked_gradient[: len(body)], gradient[: len(body)], rtol=0, atol=1e-15)
    for task, count in enumerate(CLASSES):
        found = masked.logits(same, batch.images, task)
        assert found.shape == (9, count)
        torch.testing.assert_close(found, lists.logits(state, batch.images, task), rtol=0, atol=1e-14)


def test_a_shared_head_does_not_look_at_the_task():
    """It has as many logits as one task has classes, and is a single task's head."""
    shared, alone = (
        make_model("mlp", SHAPE, classes, heads=heads, dtype=torch.float64)
        for classes, heads in (((2, 2, 2), "shared"), ((2,), "list"))
    )
    state, batch = shared.start(0), draw(9, classes=(2, 2, 2))
    assert torch.equal(state, alone.start(0))
    loss, gradient = shared.gradient(state, batch)
    expected = alone.gradient(state, replace(batch, tasks=torch.zeros_like(batch.tasks)))
    assert torch.equal(loss, expected[0])
    assert torch.equal(gradient, expected[1])
    for task in range(3):
        found = shared.logits(state, batch.images, task)
        assert found.shape == (9, 2)
        assert torch.equal(found, alone.logits(state, batch.images, 0))
    with pytest.raises(InvalidInput, match="one head that all share needs equally many"):
        small("mlp", heads="shared")


def test_the_squared_loss_is_the_kernels_quadratic_potential():
    model = make_model("linear", (1, 1, 4), (1,), loss="squared", dtype=torch.float64)
    random = np.random.default_rng(0)
    a, b, x = random.standard_normal((5, 4)), random.standard_normal(5), random.standard_normal(4)
    batch = Batch(torch.from_numpy(a).reshape(5, 1, 1, 4), torch.from_numpy(b), torch.zeros(5, dtype=torch.int64))
    assert model.d == model.size == 4
    loss, gradient = model.gradient(torch.from_numpy(x), batch)
    values = [formulas.potential(formulas.QUADRATIC, z) for z in a @ x - b]
    slopes = [formulas.slope(formulas.QUADRATIC, z) for z in a @ x - b]
    assert float(loss) == pytest.approx(np.mean(values), rel=1e-14)
    np.testing.assert_allclose(gradient.numpy(), np.mean(np.array(slopes)[:, None] * a, axis=0), rtol=0, atol=1e-14)


def test_a_start_depends_on_the_seed_alone():
    model, same, finer = small(dtype=torch.float32), small(dtype=torch.float32), small()
    torch.manual_seed(5)
    state = model.start(7)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(torch.rand(1), after)
    assert torch.equal(state, same.start(7))
    assert torch.equal(state.double(), finer.start(7))
    assert not torch.equal(state, model.start(8))
    with pytest.raises(InvalidInput, match="seed is -1"):
        model.start(-1)


def test_resnet18_has_the_stem_for_small_images():
    """11,173,962 parameters with one head of 10 classes, the number known for this stem."""
    model = make_model("resnet18", (3, 32, 32), (10,))
    assert model.d == 11_173_962
    assert sum(parameter.numel() for parameter in model.network.parameters()) == model.d
    assert model.network.body.conv1.stride == (1, 1)
    maps = []
    model.network.body.layer4.register_forward_hook(lambda layer, given, found: maps.append(found.shape))
    batch = draw(2, shape=(3, 32, 32), classes=(10,), dtype=torch.float32)
    loss, gradient = model.gradient(model.start(0), batch)
    assert maps == [(2, 512, 4, 4)]
    assert float(loss) > 0
    assert torch.isfinite(gradient).all()
    assert all(bool(part.any()) for part in model.split(gradient).values())


def test_resnet50_sees_the_same_maps_of_larger_images():
    model = make_model("resnet50", (3, 64, 64), (20,) * 10)
    # The usual body, with a stem of 64 x 3 x 3 x 3 for one of 64 x 3 x 7 x 7, and 10 heads of 20 classes.
    assert model.d == 23_508_032 - 9_408 + 1_728 + 10 * 20 * 2049
    maps = []
    for stage in (model.network.body.layer1, model.network.body.layer4):
        stage.register_forward_hook(lambda layer, given, found: maps.append(found.shape))
    assert model.logits(model.start(0), torch.zeros(1, 3, 64, 64), 3).shape == (1, 20)
    assert maps == [(1, 256, 32, 32), (1, 2048, 4, 4)]


@pytest.mark.parametrize(("name", "error"), [("mlp", 0.02), ("cnn", 0.06)])
def test_bfloat16_passes_leave_float32_gradients_that_are_near(name, error):
    exact, fast = (small(name, dtype=torch.float32, autocast=on) for on in (False, True))
    batch = draw(32, dtype=torch.float32)
    state = exact.start(0)
    (loss, gradient), (fast_loss, fast_gradient) = exact.gradient(state, batch), fast.gradient(state, batch)
    assert fast_loss.dtype == fast_gradient.dtype == torch.float32
    assert not torch.equal(fast_gradient, gradient)
    # bfloat16 keeps 8 bits, 0.4 % a number; BatchNorm takes differences of such numbers.
    assert float((fast_gradient - gradient).norm() / gradient.norm()) < error
    assert float(fast_loss) == pytest.approx(float(loss), rel=0.01)


def test_channels_last_is_the_same_function():
    """The numbers of a kernel lie in another order in vectors, and are the same by name."""
    plain, last = small(), small(channels_last=True)
    state, batch = plain.start(0), draw(6)
    named, again = plain.split(state), last.split(last.start(0))
    assert named.keys() == again.keys()
    assert all(torch.equal(again[name], tensor) for name, tensor in named.items())
    assert not torch.equal(last.start(0), state)
    loss, gradient = last.gradient(last.start(0), batch)
    expected_loss, expected = plain.gradient(state, batch)
    torch.testing.assert_close(loss, expected_loss, rtol=0, atol=1e-13)
    for name, tensor in last.split(gradient).items():
        torch.testing.assert_close(tensor, plain.split(expected)[name], rtol=0, atol=1e-13)
    kernel = dict(last.network.named_parameters())["body.4.weight"]
    assert kernel.is_contiguous(memory_format=torch.channels_last)
    assert kernel.grad.stride() == kernel.stride()
    assert not kernel.is_contiguous()


def test_products_with_the_hessian_with_channels_last():
    plain, last = small(), small(channels_last=True)
    batch, generator = draw(6), torch.Generator().manual_seed(2)
    direction = torch.randn(1, plain.d, generator=generator, dtype=torch.float64)
    moved = torch.cat([last._line(tensor) for tensor in plain.split(direction[0]).values()])[None]
    expected = plain.split(plain.products(plain.start(0), batch, direction)[0])
    for name, tensor in last.split(last.products(last.start(0), batch, moved)[0]).items():
        torch.testing.assert_close(tensor, expected[name], rtol=0, atol=1e-12)


@pytest.mark.full
def test_a_compiled_model_is_the_same_function(monkeypatch):
    """What torch.compile captures of the model; generating code for it takes a minute and is left out."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    plain, compiled = small(), small(compiled=True)
    batch = draw(6)
    # Twice: what was captured must not have captured the values.
    for seed in (0, 1):
        state = plain.start(seed)
        again = state.clone()
        expected, found = (
            model.gradient(x, batch, statistics=True) for model, x in ((plain, state), (compiled, again))
        )
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-13)
        torch.testing.assert_close(again, state, rtol=0, atol=1e-13)


@pytest.mark.full
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_a_compiled_model_stays_compiled_for_every_size(monkeypatch, name):
    """More sizes than torch.compile makes graphs for, after which it would compile nothing and say so in a log."""
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    plain, compiled = small(name), small(name, compiled=True)
    state = plain.start(0)
    for count in (12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
        batch = draw(count)
        torch.testing.assert_close(
            compiled.gradient(state, batch)[1], plain.gradient(state, batch)[1], rtol=0, atol=1e-13
        )
        expected = plain.logits(state, batch.images, 0)
        torch.testing.assert_close(compiled.logits(state, batch.images, 0), expected, rtol=0, atol=1e-13)
    assert len(compiled._forward.sizes) == 3
    frames = counters["frames"]
    assert 3 < frames["ok"] == frames["total"] <= 8
    assert not counters["recompile_limit"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"name": "vgg"}, UnknownName, "network 'vgg' is unknown: use one of linear, mlp, cnn, resnet18, resnet50"),
        ({"heads": "one"}, UnknownName, "heads 'one' is unknown: use one of list, masked"),
        ({"loss": "hinge"}, UnknownName, "loss 'hinge' is unknown"),
        ({"images_shape": (8, 8)}, InvalidInput, "give \\(channels, height, width\\)"),
        ({"classes_per_task": (2, 0)}, InvalidInput, "give at least one task, each with a class"),
        ({"hidden": (0,)}, InvalidInput, "give positive widths"),
        ({"name": "linear", "hidden": (4,)}, InvalidInput, "for mlp or cnn only"),
        ({"dtype": torch.float16}, InvalidInput, "use torch.float32 or torch.float64"),
    ],
)
def test_what_makes_no_model_is_said(change, error, words):
    given = {"name": "mlp", "images_shape": SHAPE, "classes_per_task": CLASSES} | change
    with pytest.raises(error, match=words):
        make_model(given.pop("name"), given.pop("images_shape"), given.pop("classes_per_task"), **given)


def test_a_state_of_another_model_is_refused():
    model = small("mlp")
    with pytest.raises(InvalidInput, match="a state of this model has shape"):
        model.gradient(torch.zeros(3, dtype=torch.float64), draw())
