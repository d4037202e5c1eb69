"""A model whose parameters are views into one flat vector, and its gradients.

What the paper leaves open about the passes is decided here, once:

- *State.* A state vector holds the d parameters and after them the floating-point buffers, which are the running
  means and variances of BatchNorm. Clients send states, so statistics are averaged like parameters, and evaluation
  uses the average. BatchNorm's counters of batches are not part of it: they are integers, whose averages would be
  cut off, and with the usual momentum nothing reads them.
- *Gradients* are those of the network in training mode: BatchNorm normalises by the batch at hand. The passes of
  the first exchange, on memory and for meters do not move the running statistics: x_t would change under the eyes
  of the server, and statistics of old data would leak into a client's state. Local steps move them
  (``statistics=True``).
- *A batch of one image* is passed twice with half the weight. Its own statistics are defined, but PyTorch refuses
  them where the map is a single pixel.
- *Heads* that no image of a batch uses have zero gradient, so plain steps leave them where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from cflag_theory.bridge.data.keyed import as_seed
from cflag_theory.bridge.models.compiled import Compiled, Graphs
from cflag_theory.bridge.models.networks import (
    BODIES,
    HIDDEN,
    KEPT,
    OLD_LOGITS,
    Batch,
    Loss,
    Network,
    Samples,
    as_device,
    with_heads,
    with_output,
)
from cflag_theory.bridge.models.stacked import stack_of
from cflag_theory.errors import InvalidInput, UnknownName

HEADS = ("list", "masked", "shared", "growing")
LOSSES = ("cross-entropy", "squared")


class FlatModel:
    """A network with its parameters, and their gradient, in one vector each; see the head of this module.

    Attributes
    ----------
    network : Network
        Its parameters are views into a vector of this object, and so are their ``grad``.
    d, size : int
        Number of parameters, and of all numbers of a state: the parameters first, then BatchNorm's running statistics.
    tensors, statistics : tuple of (name, slice, shape)
        Where each parameter lies in a vector of length d or `size`, and each running statistic in one of length `size`;
        `split` knows in which order.
    pieces : tuple of (name, slice, shape)
        The same as `tensors`, but with every head of a list by itself, as the paper's models have them.
    loss : str
    dtype : torch.dtype
    device : torch.device
    """

    def __init__(
        self,
        build: Callable[[], Network],
        *,
        loss: str,
        dtype: torch.dtype,
        device: torch.device,
        channels_last: bool,
        autocast: bool,
        compiled: bool,
        graphs: bool,
    ) -> None:
        self._build = build
        self.loss, self.dtype, self.device = loss, dtype, device
        self._format = torch.channels_last if channels_last else torch.contiguous_format
        self._autocast = autocast
        #: Whether passes are those of the network as it stands.
        self.plain = not (autocast or compiled)
        self.network = build().to(device=device, dtype=dtype)
        named = self.network.vectors()
        self.d = sum(tensor.numel() for tensor in named.values() if tensor.requires_grad)
        self.size = sum(tensor.numel() for tensor in named.values())
        self._state = torch.zeros(self.size, dtype=dtype, device=device)
        self._gradient = torch.zeros(self.d, dtype=dtype, device=device)
        places, first = [], 0
        for name, tensor in named.items():
            where = slice(first, first + tensor.numel())
            places.append((name, where, tuple(tensor.shape)))
            first = where.stop
            view = self.shaped(self._state[where], tuple(tensor.shape))
            owner, _, leaf = name.rpartition(".")
            if tensor.requires_grad:
                tensor.data, tensor.grad = view, self.shaped(self._gradient[where], tuple(tensor.shape))
            else:
                setattr(self.network.get_submodule(owner), leaf, view)
        self.tensors = tuple(place for place in places if place[1].stop <= self.d)
        self.pieces = tuple(piece for place in self.tensors for piece in self.network.pieces(*place))
        self.statistics = tuple(place for place in places if place[1].stop > self.d)
        #: For passes of several clients at once, where the network has them.
        self.stack = stack_of(self.network, self.tensors, loss) if self.plain else None
        self._normalised = any(isinstance(layer, nn.modules.batchnorm._BatchNorm) for layer in self.network.modules())
        #: Whether passes, and arithmetic on vectors, are compiled.
        self.compiled = compiled
        self._forward = Compiled(self.network) if compiled else self.network
        self._graphs = Graphs(self._backward) if graphs and device.type == "cuda" else None

    def start(self, seed: int) -> Tensor:
        """A freshly initialised state, (size,): the same for a seed on every machine with the same versions.

        Numbers are drawn in float32 on the CPU, so that neither the device nor the dtype changes them.
        """
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(as_seed(seed))
            fresh = self._build().vectors()
        return torch.cat([self._line(tensor.detach()) for tensor in fresh.values()]).to(self.device, self.dtype)

    def split(self, vector: Tensor) -> dict[str, Tensor]:
        """Views by name into a gradient (d,) or a state (size,)."""
        places = self.pieces if len(vector) == self.d else self.pieces + self.statistics
        return {name: self.shaped(vector[where], shape) for name, where, shape in places}

    def shaped(self, line: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The view of a tensor's part of a vector; with channels last the numbers of a kernel lie in that order too."""
        if len(shape) == 4 and self._format is torch.channels_last:
            out, into, height, width = shape
            return line.view(out, height, width, into).permute(0, 3, 1, 2)
        return line.view(shape)

    def _line(self, tensor: Tensor) -> Tensor:
        """A tensor's numbers in the order in which they lie in a vector: `shaped` backwards."""
        if tensor.dim() == 4 and self._format is torch.channels_last:
            tensor = tensor.permute(0, 2, 3, 1)
        return tensor.reshape(-1)

    def gradient(
        self,
        state: Tensor,
        batch: Batch,
        *,
        statistics: bool = False,
        training: bool = True,
        loss: Loss | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Loss (0-dim) and its gradient (d,), both new tensors.

        Parameters
        ----------
        state : (size,) Tensor
        batch : Batch
        statistics : bool
            Whether BatchNorm's running statistics move: then ``state[d:]`` is written in place.
        training : bool
            With False BatchNorm normalises by the running statistics, which stay: for gradients sample by sample.
        loss : callable, optional
            Another loss than the model's.
        """
        batch = self._doubled(batch)
        own = (batch.images, batch.labels, batch.tasks)
        graphs = self._graphs if training and loss is None and batch.weights is None else None
        if graphs is not None:
            self.network.train()
            graphs = graphs if graphs.ready(*own) else None
        self._load(state, training=training)
        mean = self._backward(*own, batch.weights, batch.soft, loss=loss) if graphs is None else graphs.replay(*own)
        if statistics:
            state[self.d :].copy_(self._state[self.d :])
        return mean, self._gradient.clone()

    def _backward(self, *given: Tensor | None, loss: Loss | None = None) -> Tensor:
        """The loss of a `Batch` of these; its gradient is left in this object's vector."""
        self._gradient.zero_()
        with torch.enable_grad():
            mean = self._loss_of(Batch(*given), loss)
            mean.backward()
        return mean.detach()

    def products(self, state: Tensor, batch: Batch, directions: Tensor) -> Tensor:
        """The Hessian of the loss times directions (m, d), in evaluation mode: (m, d)."""
        self._load(state, training=False)
        parameters = [tensor for tensor in self.network.parameters() if tensor.requires_grad]
        with torch.enable_grad():
            loss = self.losses(self.network(batch.images, batch.tasks), batch).mean()
            first = torch.cat([self._line(part) for part in torch.autograd.grad(loss, parameters, create_graph=True)])
            rows = []
            for direction in directions:
                # A loss may be linear in some parameters, or in all.
                parts = torch.autograd.grad(first, parameters, direction, retain_graph=True, materialize_grads=True)
                rows.append(torch.cat([self._line(part) for part in parts]))
        return torch.stack(rows).detach()

    def features(self, state: Tensor, images: Tensor) -> Tensor:
        """What the heads are given, (B, features), in evaluation mode."""
        self._load(state, training=False)
        with torch.no_grad():
            found: Tensor = self.network.body(images)
        return found.to(self.dtype)

    def outputs(self, state: Tensor, images: Tensor) -> Tensor:
        """All outputs of the heads, (B, outputs), none of them masked, in evaluation mode."""
        self._load(state, training=False)
        with torch.no_grad():
            return self._outputs(images, None)

    def image_gradient(self, state: Tensor, images: Tensor, value: Callable[[Tensor], Tensor]) -> Tensor:
        """Gradient by the images, of their shape, of a number that is made of all outputs; in evaluation mode."""
        self._load(state, training=False)
        with torch.enable_grad():
            leaf = images.detach().requires_grad_()
            (found,) = torch.autograd.grad(value(self._outputs(leaf, None)), leaf)
        return found

    def see(self, task: int) -> None:
        """The classes of the tasks up to this one are seen; it matters where heads grow."""
        self.network.see(task)

    def columns(self, task: int) -> slice:
        """Where the outputs of a task's classes are."""
        numbers = self.network.class_numbers[task]
        return slice(int(numbers[0]), int(numbers.max()) + 1)

    def logits(self, state: Tensor, images: Tensor, task: int) -> Tensor:
        """Logits that images of this task are classified by, in evaluation mode: with running statistics.

        (B, classes of the task); where heads grow (B, outputs), -inf for classes that are not seen.
        """
        self._load(state, training=False)
        row = task if self.network.growing is None else -1
        tasks = torch.full((len(images),), row, dtype=torch.int64, device=self.device)
        with torch.inference_mode():
            found = self._outputs(images, tasks)
        numbers = self.network.class_numbers
        if numbers is None or self.network.growing is not None:
            return found
        mine = numbers[task][numbers[task] >= 0]
        return found[:, mine] if self.network.masked else found[:, : len(mine)]

    def places(self, batch: Batch) -> Tensor:
        """Where the right classes are among the `logits`, (B,)."""
        if self.network.growing is None:
            return batch.labels
        found: Tensor = self.network.class_numbers[batch.tasks, batch.labels]
        return found

    def _load(self, state: Tensor, *, training: bool) -> None:
        if state.shape != (self.size,) or state.dtype != self.dtype:
            raise InvalidInput(
                f"a state of this model has shape ({self.size},) and {self.dtype}, not {tuple(state.shape)} and "
                f"{state.dtype}: take it from start() or from a run with the same settings"
            )
        self._state.copy_(state)
        if self.network.training is not training:
            self.network.train(training)

    def _doubled(self, batch: Batch) -> Batch:
        if len(batch.labels) != 1 or not self._normalised:
            return batch
        weights = None if batch.weights is None else batch.weights.repeat(2) / 2
        soft = None if batch.soft is None else batch.soft.repeat(2, 1)
        return Batch(batch.images.repeat(2, 1, 1, 1), batch.labels.repeat(2), batch.tasks.repeat(2), weights, soft)

    def _outputs(self, images: Tensor, tasks: Tensor | None) -> Tensor:
        """Outputs in the model's dtype: the loss and all that follows is never in bfloat16."""
        images = images.contiguous(memory_format=self._format)
        forward = self.network if tasks is None else self._forward
        if not self._autocast:
            return forward(images, tasks)
        with torch.autocast(self.device.type, torch.bfloat16):
            outputs = forward(images, tasks)
        return outputs.to(self.dtype)

    def losses(self, outputs: Tensor, batch: Batch) -> Tensor:
        """l_b of every image, (B,), for the network's outputs (B, ...); `batch.weights` does not matter."""
        if self.loss == "squared":
            return (outputs[:, 0] - batch.labels) ** 2 / 2
        labels = batch.labels
        if self.network.masked:
            labels = self.network.class_numbers[batch.tasks, labels]
        return nn.functional.cross_entropy(outputs, labels, reduction="none")

    def _loss_of(self, batch: Batch, loss: Loss | None) -> Tensor:
        if loss is None:
            each = self.losses(self._outputs(batch.images, batch.tasks), batch)
        else:
            each = loss(self._outputs(batch.images, None), batch)
        return each.mean() if batch.weights is None else (batch.weights * each).sum()


def full_gradient(model: FlatModel, state: Tensor, data: Samples, batch: int) -> tuple[Tensor, Tensor]:
    """Mean loss (0-dim, float64) over all samples and its gradient (d,), `batch` samples at a time.

    The last, shorter chunk weighs as many samples as it has. Sums are in float64, so that without BatchNorm the result
    depends on `batch` only in last bits; with BatchNorm each chunk is normalised by itself. Without data both are
    zero: a client that remembers nothing has f_i = 0.
    """
    if batch < 1:
        raise InvalidInput(f"a pass takes {batch} samples at a time: use 1 or more")
    loss = torch.zeros((), dtype=torch.float64, device=model.device)
    gradient = torch.zeros(model.d, dtype=torch.float64, device=model.device)
    for first in range(0, data.n, batch):
        count = min(batch, data.n - first)
        part, direction = model.gradient(state, data.batch(slice(first, first + count)))
        loss += part * (count / data.n)
        gradient.add_(direction, alpha=count / data.n)
    return loss, gradient.to(model.dtype)


def make_model(
    name: str,
    images_shape: Sequence[int],
    classes_per_task: Sequence[int],
    *,
    heads: str = "list",
    old_logits: str = KEPT,
    loss: str = "cross-entropy",
    hidden: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    channels_last: bool = False,
    autocast: bool = False,
    compiled: bool = False,
    graphs: bool = False,
) -> FlatModel:
    """A network by name as a `FlatModel`.

    Parameters
    ----------
    name : str
        "linear" (no hidden layer), "mlp", "cnn" (small, with BatchNorm), "resnet18" or "resnet50" (their stems in
        `networks`).
    images_shape : (C, H, W)
    classes_per_task : sequence of int
        How many classes each task has.
    heads : {"list", "masked", "shared", "growing"}
        One head a task, chosen by the task as in the paper; one head over all classes whose logits of other tasks'
        classes are -inf, in training and in evaluation; one head for the places of classes within their tasks, which
        all tasks share; or one over all classes, of which those of tasks that are not seen are -inf, see
        `FlatModel.see`: class-incremental learning.
    old_logits : {"kept", "masked"}
        Where heads grow, whether the loss on images of the newest task is over all classes seen, or over its own.
    loss : {"cross-entropy", "squared"}
        "squared" is (a . features - b)^2 / 2 with one output for all tasks and no heads: on "linear" the component
        phi(a . x - b) of the kernels with their potential "quadratic", phi(z) = z^2 / 2.
    hidden : sequence of int, optional
        Widths of the hidden layers of "mlp" (default 64) and of the convolutions of "cnn" (default 16 and 32).
    dtype : torch.float32 or torch.float64
    channels_last, autocast, compiled, graphs : bool
        For speed: images and the kernels of convolutions in the order NHWC, the latter also in vectors; forward and
        backward passes in bfloat16 with parameters, gradients and loss in `dtype`; `torch.compile`, see `compiled`;
        CUDA graphs, see `graphs`, which have no effect on a CPU.

    Raises
    ------
    UnknownName, InvalidInput
        No such network, heads or loss, or values out of range.
    """
    kinds = ((name, tuple(BODIES), "network"), (heads, HEADS, "heads"), (loss, LOSSES, "loss"))
    for value, known, what in (*kinds, (old_logits, OLD_LOGITS, "old_logits")):
        if value not in known:
            raise UnknownName(f"{what} {value!r} is unknown: use one of {', '.join(known)}")
    if len(images_shape) != 3 or min(images_shape) < 1:
        raise InvalidInput(
            f"images have the shape {tuple(images_shape)}: give (channels, height, width), each 1 or more"
        )
    if len(classes_per_task) < 1 or min(classes_per_task) < 1:
        raise InvalidInput(f"classes per task are {tuple(classes_per_task)}: give at least one task, each with a class")
    if heads == "shared" and len(set(classes_per_task)) > 1:
        raise InvalidInput(
            f"tasks have {tuple(classes_per_task)} classes, and one head that all share needs equally many: use "
            "another kind of heads, or equal tasks"
        )
    if hidden is not None and (name not in HIDDEN or min(hidden, default=0) < 1):
        raise InvalidInput(
            f"hidden widths {tuple(hidden)} of {name!r}: give positive widths, for {' or '.join(HIDDEN)} only"
        )
    if dtype not in (torch.float32, torch.float64):
        raise InvalidInput(f"the parameters' dtype is {dtype}: use torch.float32 or torch.float64")
    widths = HIDDEN.get(name, ()) if hidden is None else tuple(hidden)

    def build() -> Network:
        body, features = BODIES[name](images_shape, widths)
        if loss == "squared":
            return with_output(body, features)
        return with_heads(body, features, classes_per_task, heads, old_logits)

    return FlatModel(
        build,
        loss=loss,
        dtype=dtype,
        device=as_device(device),
        channels_last=channels_last,
        autocast=autocast,
        compiled=compiled,
        graphs=graphs,
    )
