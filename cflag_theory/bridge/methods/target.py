"""TARGET (Zhang et al., 2023): the server makes images of past classes with a generator, and clients distil on them.

*When a task is over* the server has the global model x_old, which it teaches a student with. A generator G turns noise
u and labels y, uniform over the classes seen, into images v. It makes one batch after another: for each there are new
u and y, and some steps of Adam on G against the gradient of

    cross-entropy(z_old(v), y) + normalisation R(v) - disagreement w(v) KL(softmax z_old(v) || softmax z_student(v)),

R(v) = sum over the network's BatchNorm layers of ||mean - running mean|| + ||variance - running variance|| of what the
layer is given, and 0 without such layers; w(v) = 1 where the two models name different classes, otherwise 0, and this
term acts through the student alone. Then the images are kept, as bytes, and the student takes a step of Adam against
KL(softmax z_old || softmax z_student) on each batch kept so far. The student is a network of the same kind; it and G
are fresh when a task is over. These are (5) to (10) of the paper, with the teacher's statistics in (8).

*In the next tasks* a step of a client is given the gradient of

    cross-entropy over the task's own classes + weight T^2 KL(sigma_T(z_old) || sigma_T(z)),

which is (11) with T = 1; sigma_T = softmax(. / T) over the classes of past tasks: the first a mean over the minibatch,
the second over images that were made, as many as other methods draw from their memory. Only the server makes images,
and all clients have the same; no sample of a past task is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn

from cflag_theory.bridge.data.keyed import as_seed
from cflag_theory.bridge.methods.base import Round, Vectors
from cflag_theory.bridge.methods.baselines import Distilled, Union, among, distillation
from cflag_theory.bridge.methods.descent import Ints
from cflag_theory.bridge.methods.finetune import Job, by_memory
from cflag_theory.bridge.models.clients import Client, ClientData, Pixels
from cflag_theory.bridge.models.compiled import make_step
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.networks import Batch, Loss
from cflag_theory.bridge.settings.options import ADAM, TargetOptions, Work

MADE = "made"


class Target(Distilled):
    """Distils on images that the server has made."""

    name = "target"

    def __init__(self, work: Work, options: TargetOptions) -> None:
        super().__init__(work)
        self.options = options
        #: A row for each image: the place of its class among the outputs, and its bytes.
        self.made: Tensor | None = None

    def prepared(self, round: Round, client: Client) -> Client:
        model, like = round.model, client.current
        if self.made is None:
            return replace(client, memory=like.none)
        images = self.made[:, 1:].to(torch.uint8).view(-1, *like.pixels.images.shape[1:])
        stored = replace(like.pixels, images=images)
        found = (model.network.class_numbers == self.made[:, 0].long()[:, None, None]).nonzero()
        made = ClientData(stored, torch.arange(len(images), device=images.device), found[:, 2], found[:, 1])
        blank = images.new_zeros((like.n, model.network.heads.weight.shape[0]), dtype=model.dtype)
        return replace(client, current=replace(like, soft=blank), memory=self.softened(model, made))

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return by_memory(self, round, clients, cut, Union)

    def loss(self, round: Round) -> Loss | None:
        if self.made is None:
            return None
        own, options = round.model.columns(round.task), self.options

        def both(outputs: Tensor, batch: Batch) -> Tensor:
            assert batch.soft is not None
            new = batch.tasks == round.task
            held = divergence(outputs[:, : own.start], batch.soft[:, : own.start], options.temperature)
            real, made = among(own, outputs, batch) / new.sum(), held * options.weight / (~new).sum()
            # The pass takes the mean over all of them.
            return torch.where(new, real, made) * len(new)

        return both

    def serve(self, round: Round, clients: Sequence[Client], state: Tensor) -> dict[str, Tensor]:
        """The images, row by row as in `made`."""
        pixels = clients[0].current.pixels
        return {MADE: Server(round, state, pixels, self.options).images().flatten()}

    def gradients_at_end(self, clients: Sequence[Client]) -> int:
        return served(self.options)

    def close_task(self, round: Round, state: Tensor, means: Vectors) -> None:
        super().close_task(round, state, means)
        self.made = means[MADE].view(self.options.images, -1)

    def memory(self) -> dict[str, Tensor]:
        return super().memory() | ({} if self.made is None else {MADE: self.made})

    def restore(self, memory: Vectors) -> None:
        super().restore(memory)
        self.made = memory.get(MADE)


def served(options: TargetOptions) -> int:
    """Images whose gradient the server evaluates at the end of a task.

    A step of the generator takes gradients by its images: of the teacher, and of the student where disagreement counts.
    A step of the student takes gradients by its parameters. Soft targets are forward passes and no gradients, and the
    generator is another network.
    """
    made = options.images * options.steps * (2 if options.disagreement else 1)
    # After each batch but the last the student is taught with all batches so far, which are full.
    taught = options.batch * sum(range(-(-options.images // options.batch)))
    return made + taught


class Server:
    """Makes the images of one task, whose last round is `round` and whose last state, x_old, is the teacher."""

    def __init__(self, round: Round, state: Tensor, pixels: Pixels, options: TargetOptions) -> None:
        self.model, self.teacher, self.pixels, self.options = round.model, state, pixels, options
        self.seen = round.model.columns(round.task).stop
        # Beside those of the clients.
        self.random = round.random("images", round.clients)
        self.student = self.model.start(int(self.random.integers(1 << 62)))
        self._step = make_step(ADAM)
        shape = tuple(pixels.images.shape[1:])
        generator = Generator.fresh(shape, self.seen, int(self.random.integers(1 << 62)))
        self.generator = generator.to(self.model.device, self.model.dtype)
        self._adam = torch.optim.Adam(self.generator.parameters(), lr=options.rate)

    def images(self) -> Tensor:
        """All of them, (images, 1 + numbers of an image), in the model's dtype."""
        kept, rows, left = list[Tensor](), list[Tensor](), self.options.images
        while left:
            count = min(left, self.options.batch)
            labels = torch.from_numpy(self.random.integers(0, self.seen, count)).to(self.model.device)
            kept.append(self._batch(labels))
            rows.append(torch.cat([labels[:, None], kept[-1].flatten(1)], dim=1).to(self.model.dtype))
            left -= count
            # A student taught for the last time has nobody to disagree with.
            for stored in kept if left else ():
                self._teach(stored)
        return torch.cat(rows)

    def _batch(self, labels: Tensor) -> Tensor:
        """Images of these classes in bytes."""
        noise = torch.from_numpy(self.random.standard_normal((len(labels), Generator.NOISE))).to(labels.device)
        given = torch.cat([noise, nn.functional.one_hot(labels, self.seen)], dim=1).to(self.model.dtype)
        with torch.enable_grad():
            for _ in range(self.options.steps):
                self._adam.zero_grad()
                shown = self.pixels.shown(255 * self.generator(given))
                shown.backward(self.slope(shown.detach(), labels))
                self._adam.step()
        with torch.no_grad():
            return torch.round(255 * self.generator(given)).to(torch.uint8)

    def slope(self, images: Tensor, labels: Tensor) -> Tensor:
        """The gradient by the images of what the generator makes small, (B, C, H, W)."""
        model, seen, options = self.model, self.seen, self.options
        with normalisation(model) as distances:

            def right(outputs: Tensor) -> Tensor:
                loss = nn.functional.cross_entropy(outputs[:, :seen], labels)
                return loss + options.normalisation * sum(distances)

            found = model.image_gradient(self.teacher, images, right)
        if options.disagreement:
            soft = model.outputs(self.teacher, images)[:, :seen]

            def same(outputs: Tensor) -> Tensor:
                apart = outputs[:, :seen].argmax(dim=1) != soft.argmax(dim=1)
                return -options.disagreement * (apart * divergence(outputs[:, :seen], soft)).mean()

            found = found + model.image_gradient(self.student, images, same)
        return found

    def _teach(self, stored: Tensor) -> None:
        """One step of the student on images in bytes."""
        model, seen = self.model, self.seen
        images = self.pixels.shown(stored.to(model.dtype))
        none = torch.zeros(len(images), dtype=torch.int64, device=model.device)
        batch = Batch(images, none, none, soft=model.outputs(self.teacher, images))

        def taught(outputs: Tensor, batch: Batch) -> Tensor:
            assert batch.soft is not None
            return divergence(outputs[:, :seen], batch.soft[:, :seen])

        _, gradient = model.gradient(self.student, batch, statistics=True, loss=taught)
        self.student[: model.d] -= self.options.student_rate * self._step.direction(gradient[None])[0]


def divergence(outputs: Tensor, soft: Tensor, temperature: float = 1.0) -> Tensor:
    """T^2 KL(softmax(soft / T) || softmax(outputs / T)), (B,)."""
    found = distillation(outputs, soft, temperature) - distillation(soft, soft, temperature)
    return temperature**2 * found


@contextmanager
def normalisation(model: FlatModel) -> Iterator[list[Tensor]]:
    """A list to which every BatchNorm layer adds how far a pass is from its running statistics."""
    distances: list[Tensor] = []

    def note(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        (x,) = inputs
        axes = [0, *range(2, x.dim())]
        mean, variance = x.mean(axes), x.var(axes, unbiased=False)
        distances.append((mean - layer.running_mean).norm() + (variance - layer.running_var).norm())

    layers = [each for each in model.network.modules() if isinstance(each, nn.modules.batchnorm._BatchNorm)]
    hooks = [layer.register_forward_pre_hook(note) for layer in layers]
    try:
        yield distances
    finally:
        for hook in hooks:
            hook.remove()


class Generator(nn.Module):  # type: ignore[misc]
    """Maps of a quarter of the sides, made twice as large twice, each time with a 3 x 3 convolution and BatchNorm.
    Labels are given one-hot behind the noise.
    """

    #: Numbers of noise, and channels of the maps.
    NOISE, CHANNELS = 64, 32

    def __init__(self, shape: Sequence[int], classes: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.small = tuple(-(-side // 4) for side in shape[1:])
        self.first = nn.Linear(self.NOISE + classes, self.CHANNELS * self.small[0] * self.small[1])
        width = self.CHANNELS
        self.convolutions = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(2)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(3)])
        self.last = nn.Conv2d(width, shape[0], 3, padding=1)

    def forward(self, given: Tensor) -> Tensor:
        """Images with entries from 0 to 1, (B, C, H, W), for noise with labels behind, (B, NOISE + classes)."""
        x = self.norms[0](self.first(given).view(-1, self.CHANNELS, *self.small))
        half = tuple(min(2 * side, whole) for side, whole in zip(self.small, self.shape[1:], strict=True))
        for convolution, norm, size in zip(self.convolutions, self.norms[1:], (half, self.shape[1:]), strict=True):
            larger = nn.functional.interpolate(x, size=size, mode="nearest")
            x = nn.functional.leaky_relu(norm(convolution(larger)), 0.2)
        return torch.sigmoid(self.last(x))

    @classmethod
    def fresh(cls, shape: Sequence[int], classes: int, seed: int) -> Generator:
        """One whose numbers are drawn on the CPU, the same for a seed everywhere."""
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(as_seed(seed))
            return cls(shape, classes)
