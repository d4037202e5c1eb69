"""What can be chosen about a method, without torch: so that settings are checked where torch is not installed.

C-FLAG comes in three named modes, and every difference between them is one switch of `FlagOptions`:

- "theory": what the analysis has. Plain gradient steps, the delayed gradient (5), round update (24), Table 1 on
  a_i = sum_k delayed_{i,k}.
- "paper": Sec. 7 and Table 5. The same with Adam, fresh in every round, in place of the plain step, and the a_i of
  Table 1 from the displacement that Adam made, as line 4 of Algorithm 3 has it.
- "released": what the published code is known to do instead. No table but the gradient of a fresh minibatch, inner
  products divided by each tensor's size, rates chosen at the server and applied in every step to the gradient that Adam
  is given, that gradient clamped to [-0.5, 0.5], and a client's own Adam step on its memory after its local steps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from cflag_theory import public
from cflag_theory.errors import InvalidInput
from cflag_theory.public import Count
from cflag_theory.reading import TRUTH

THEORY, PAPER, RELEASED = MODES = ("theory", "paper", "released")
PLAIN, ADAM = STEPS = ("plain", "adam")
TABLE, MINIBATCH = ESTIMATES = ("table", "minibatch")
MODEL, FLOAT32, BFLOAT16, RECOMPUTED = TABLES = ("model", "float32", "bfloat16", "recomputed")
DEVICE, CPU = PLACES = ("device", "cpu")
EPOCHS, RANDOM = ORDERS = ("epochs", "random")
# The names of `kernels.algorithms.ADAPTIONS` that choose a client's rates from its own a_i.
CONSTANT, AVERAGE, WORST, LITERAL = ADAPTIVE = ("none", "average", "worst", "printed")
DISPLACEMENT, GRADIENT = ADAPTS = ("displacement", "gradient")
GRADIENTS, FROM_DISPLACEMENT, CORRECTED = SOURCES = ("gradients", "displacement", "corrected")
AT_CLIENT, AT_SERVER = RATES_AT = ("client", "server")
MEAN, OWN = MEMORY_STEPS = ("mean", "own")
WHOLE, PER_TENSOR = PRODUCTS = ("plain", "per-tensor")
#: The kind of memory that is chosen with the model.
HERDING = "herding"
#: Whether clients of a small model are computed together.
AUTO, YES, NO = TOGETHER = ("auto", "yes", "no")

_THEORY: dict[str, Any] = {
    "step": PLAIN,
    "estimate": TABLE,
    "table": MODEL,
    "place": DEVICE,
    "order": EPOCHS,
    "shuffle": True,
    "clamp": 0.0,
    "adaptive": WORST,
    "adapt": DISPLACEMENT,
    "rates_from": GRADIENTS,
    "rates_at": AT_CLIENT,
    "product": WHOLE,
    "memory_step": MEAN,
}
_PAPER = _THEORY | {"step": ADAM, "rates_from": FROM_DISPLACEMENT}
#: What a switch is where it is left open.
MODE_DEFAULTS: dict[str, dict[str, Any]] = {
    THEORY: _THEORY,
    PAPER: _PAPER,
    RELEASED: _PAPER
    | {"estimate": MINIBATCH, "adapt": GRADIENT, "product": PER_TENSOR, "clamp": 0.5}
    | {"rates_from": CORRECTED, "rates_at": AT_SERVER, "memory_step": OWN},
}
_DATA = {"memory_kind": "ring", "partition": "class-over-clients", "weights": "samples", "old_logits": "kept"}
#: What a mode says about the run: the kind of memory, how a task's samples are dealt out, what a client weighs, and,
#: where heads grow, whether the loss on current data leaves out the classes of past tasks.
MODE_DATA: dict[str, dict[str, Any]] = {
    **dict.fromkeys((THEORY, PAPER), _DATA),
    RELEASED: {"memory_kind": "by-task", "partition": "balanced", "weights": "equal", "old_logits": "masked"}
    | {"rounds": 10},
}
_AUGMENTED = {"crop": True, "flip": True, "jitter": True}
#: What mode "released" says besides, by data set; digits and clothes are not augmented.
RELEASED_IMAGES: dict[str, dict[str, Any]] = {
    "cifar10": _AUGMENTED,
    "cifar100": _AUGMENTED,
    "tinyimagenet": _AUGMENTED | {"image_size": 224},
}


#: Numbers of options.
POSITIVE, NOT_NEGATIVE = public.Positive.__metadata__[0], public.NotNegative.__metadata__[0]
Positive = Annotated[float, POSITIVE]
NotNegative = Annotated[float, NOT_NEGATIVE]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Choices, which are checked by their annotations."""

    def __post_init__(self) -> None:
        public.require_fields(self)


@dataclass(frozen=True, kw_only=True)
class TrackOptions(Options):
    """Switches of local steps that track the global gradient: FedTrack's, and of C-FLAG all but memory.

    A switch that is left open (None) takes the default of the mode, so that an object describes itself completely.
    """

    #: {"theory", "paper", "released"}.
    mode: Annotated[str, public.one_of(*MODES)] = THEORY
    #: Plain gradient steps, or Adam with torch's defaults, fresh in every round.
    step: Annotated[str | None, public.one_of(*STEPS)] = None
    #: The delayed gradient (5), or the gradient of the step's minibatch alone.
    estimate: Annotated[str | None, public.one_of(*ESTIMATES)] = None
    #: How old gradients are kept: in the model's precision, in this one, or not at all, where the old gradient at x_t
    #: is computed again; that is exact only where no component is visited twice in a round.
    table: Annotated[str | None, public.one_of(*TABLES)] = None
    #: Where they are kept.
    place: Annotated[str | None, public.one_of(*PLACES)] = None
    #: In every pass each component once, in a new order; or drawn with replacement, as in `kernels.simulate`.
    order: Annotated[str | None, public.one_of(*ORDERS)] = None
    #: Whether the minibatches are cut again in every round; otherwise always in the order of the client's samples.
    shuffle: Annotated[bool | None, TRUTH] = None
    #: Entries of the gradient that the step is given are clamped to [-clamp, clamp]; 0 clamps nothing.
    clamp: Annotated[float | None, NOT_NEGATIVE._replace(wanted=f"{NOT_NEGATIVE.wanted}; 0 clamps nothing")] = None

    def __post_init__(self) -> None:
        public.require("mode", self.mode, Annotated[str, public.one_of(*MODES)])
        for field in fields(self):
            if getattr(self, field.name) is None:
                object.__setattr__(self, field.name, MODE_DEFAULTS[self.mode][field.name])
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class FlagOptions(TrackOptions):
    """Switches of C-FLAG: those of `TrackOptions`, and how its rates are chosen."""

    #: Constant rates; Table 1 in its two cases, on a_i = sum_k delayed_{i,k}, with beta_i = beta under interference;
    #: Algorithm 3 line by line, where line 4 gives beta a_i and line 14 adds E beta_i (grad g - grad g_i).
    adaptive: Annotated[str | None, public.one_of(*ADAPTIVE)] = None
    #: Rates are chosen once from a_i and scale the displacement; or in every step from the step's estimate, and scale
    #: the gradient that the step is given.
    adapt: Annotated[str | None, public.one_of(*ADAPTS)] = None
    #: What a_i is for rates that are chosen once: the sum of the steps' estimates, as in Sec. 5; what line 4 of
    #: Algorithm 3 makes of the displacement, divided by beta, which is what the rates then scale (for plain steps these
    #: are the same); or the sum of the estimates with their correction grad g - grad g_i. Rates of every step come from
    #: its estimate, or with "corrected" from the estimate with its correction.
    rates_from: Annotated[str | None, public.one_of(*SOURCES)] = None
    #: Every client's own rates; or one pair for all, which the server has from the first exchange before the local
    #: steps: Table 1 for a single client whose a_i is grad g(x_t), the mean of all corrected gradients there. It is for
    #: one step, and so for adapt = "gradient".
    rates_at: Annotated[str | None, public.one_of(*RATES_AT)] = None
    #: Inner products of vectors; or the sum over the model's tensors of each one's product divided by its size.
    product: Annotated[str | None, public.one_of(*PRODUCTS)] = None
    #: The step on memory: alpha_i grad_f_memory at x_t, which is common to all; or after the local steps one step with
    #: rate alpha_i along the client's own gradient on memory at its local model, fresh and of the kind `step`. A client
    #: that remembers nothing takes none.
    memory_step: Annotated[str | None, public.one_of(*MEMORY_STEPS)] = None


@dataclass(frozen=True, kw_only=True)
class EwcOptions(Options):
    """Choices of EWC-FL."""

    #: lambda: the loss gets (lambda / 2) sum_tasks sum_k F_k (x_k - x*_k)^2.
    penalty: NotNegative = 100.0
    #: Samples of a client, drawn without replacement at the end of a task, whose squared gradients make its F.
    fisher_samples: Count = 200


@dataclass(frozen=True, kw_only=True)
class LwfOptions(Options):
    """Choices of LwF-FL."""

    #: T, which both models' outputs are divided by in the distillation.
    temperature: Positive = 2.0
    #: Of the distillation in the loss.
    weight: NotNegative = 1.0


@dataclass(frozen=True, kw_only=True)
class TargetOptions(LwfOptions):
    """Choices of TARGET: those of the distillation, and how images are made at the end of a task."""

    #: The paper's (11) has no temperature; its Table 3 finds weights from 10 to 15 best.
    temperature: Positive = 1.0
    weight: NotNegative = 10.0
    #: How many images are made at the end of a task. These defaults are for digits, see `run_settings.BY_DATA`.
    images: Count = 256
    #: Images that the generator makes at a time, and its steps for them.
    batch: Count = 64
    steps: Count = 20
    #: Of Adam, for the generator and for the student.
    rate: Positive = 2e-3
    student_rate: Positive = 1e-3
    #: Weights of the terms beside the cross-entropy.
    normalisation: NotNegative = 1.0
    disagreement: NotNegative = 0.5


#: The methods that have options, by their key in `methods.table.METHODS`.
OPTIONS: dict[str, type] = {
    "c_flag": FlagOptions,
    "fedtrack": TrackOptions,
    "ewc": EwcOptions,
    "lwf": LwfOptions,
    "target": TargetOptions,
}


@dataclass(frozen=True, kw_only=True)
class Work(Options):
    """What all methods of a run have in common."""

    #: beta, the rate of the local steps.
    lr: Positive
    #: Rate of the step on memory.
    alpha: Positive
    #: Smoothness constant in the adaptive rates; 5 in the paper.
    L: Positive
    #: Passes over a client's minibatches in a round, and their size.
    epochs: Count
    batch: Count
    #: The step of the methods that have no mode.
    optimizer: Annotated[str, public.one_of(*STEPS)]
    #: Samples of each past task that are drawn from a client's memory where its gradient is taken (Sec. 7: "50, 150,
    #: 200 and 300 per task"); where it has no more of a task, it takes them all.
    sample: Count

    def check_adaptive(self) -> None:
        """Refuse an alpha with which Table 1's rate under transference, (1 - L alpha) times something, is not positive.

        Below zero clients would climb g, at zero they would not learn. Sec. 5 assumes (1 - L alpha) > 0.
        """
        if self.L * self.alpha >= 1:
            raise InvalidInput(
                f"alpha is {self.alpha!r} with L = {self.L!r}: adaptive rates need 1 - L alpha > 0, so use an alpha "
                "below 1 / L (it is lr where none is given), or for c_flag adaptive = 'none'"
            )
