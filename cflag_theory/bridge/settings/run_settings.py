"""What describes a bridge run completely: one frozen record, checked where it is made, and nothing of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType, NoneType
from typing import Annotated, Any, get_args

from cflag_theory.bridge.settings import evolving
from cflag_theory.bridge.settings.options import (
    HERDING,
    MODE_DATA,
    MODE_DEFAULTS,
    MODES,
    OPTIONS,
    RELEASED,
    RELEASED_IMAGES,
    STEPS,
    TOGETHER,
)
from cflag_theory.bridge.settings.rules import (
    CLASS_NAMES,
    CLASSES,
    CONVOLUTIONS,
    METHOD_NAMES,
    OWN,
    Count,
    Device,
    Dirichlet,
    Methods,
    Rate,
    Seeds,
    Share,
    Truth,
    Word,
    WrongSetting,
)
from cflag_theory.errors import InvalidInput
from cflag_theory.public import Rule, hints_of, one_of, quoted
from cflag_theory.reading import integer

_PAPER = {
    "mode": "paper",
    "zeta": 1e5,
    "model": "resnet18",
    "heads": "list",
    "rounds": 20,
    "batch": 128,
    "lr": {"adam": 1e-4, "plain": 0.01},
    "memory_size": 400,
    "memory_sample": 200,
    "seeds": (1234, 1235, 1236),
    # So many images are enough in its Figure 7.
    "target": {"images": 8000, "batch": 128, "steps": 100},
    "past_every": 0,
    "threads": None,
    "checkpoint_every": 1,
    "export_models": True,
}
#: The protocol of the C-FLAG paper.
TASKS = "tasks"
#: The heads of class-incremental learning.
GROWING = "growing"
#: What a data set's runs have by default. Those of CIFAR and TinyImageNet are the paper's (Sec. 7,
#: supplement Sec. 4, Table 5), which gives no rate for plain steps. Nobody has published numbers for digits. They have
#: some 290 images a task to train on instead of 10000, so that batches and memories are smaller there and steps longer;
#: the mode is the one that the theory is about, and zeta the paper's medium one, since clients that are all alike have
#: no drift. One head for all tasks makes methods forget: with a head a task none does. Rates and rounds are such that
#: averaging plain local steps learns every task; all methods have the same, and none is tuned.
BY_DATA: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "digits": {"lr": {"adam": 1e-3, "plain": 0.05}},
        "fashion-mnist": _PAPER | {"model": "mlp"},
        "cifar10": _PAPER,
        "cifar100": _PAPER,
        "tinyimagenet": _PAPER | {"tasks": 10, "model": "resnet50", "batch": 32},
    }
)
#: Settings that say how results are computed: they change last bits, or for bfloat16 more.
HOW = ("device", "threads", "autocast", "channels_last", "compile", "graphs", "tf32", "exchange", "together")
#: Settings that say where data lie or what is run, and change no result of a method and seed.
WHERE = ("root", "download", "methods", "seeds", "checkpoint_every", "export_models", "tensorboard")


@dataclass(frozen=True)
class RunSettings:
    """A bridge run: every method in `methods` with every seed in `seeds` on one stream of tasks.

    The defaults are those of Split-Digits; `run_settings` starts from those of the data set.

    Raises
    ------
    WrongSetting
        A value is of another type or out of range, or two do not go together.
    """

    data: Annotated[str, one_of(*CLASSES)] = "digits"
    #: Folder of the data; digits need none.
    root: Word | None = None
    #: Whether data that are not in `root` are downloaded.
    download: Truth = False
    #: tasks: the C-FLAG paper's task-incremental learning. rounds: the CFL paper's data that change from round to
    #: round, with one task of all classes; its own settings are described in `data.evolving`, its defaults stand in
    #: `settings.evolving`.
    protocol: Annotated[str, one_of("tasks", "rounds")] = "tasks"
    #: The classes are split evenly over the tasks.
    tasks: Count = 5
    clients: Count = 5
    #: Dirichlet parameter: 0.1 is the paper's non-IID setting, 1e5 its IID one. The CFL paper's alpha.
    zeta: Dirichlet = 1.0
    #: balanced: class over clients with equal sizes.
    partition: Annotated[str, one_of("class-over-clients", "client-over-classes", "balanced")] = "class-over-clients"
    #: p_i of a client in a task: its share of the samples, or the same for all that have some.
    weights: Annotated[str, one_of("samples", "equal")] = "samples"
    #: Whether train images and what is remembered are shifted and cropped, mirrored, and changed in brightness,
    #: contrast and saturation, anew in every round; see `models.clients.augmented`.
    crop: Truth = False
    flip: Truth = False
    jitter: Truth = False
    #: Height and width that images are scaled to; None leaves them as they are.
    image_size: Annotated[int, integer(8, 1024)] | None = None
    #: Data sets of a client, and their size: by default all samples, evenly.
    subsets: Count = 30
    subset_size: Count | None = None
    #: Dirichlet parameter of the split of a client's samples into subsets, zeta where it is None.
    inner_zeta: Dirichlet | None = None
    #: The next four as `data.evolving.evolving` has them.
    overlap: Share = 0.0
    visits: Annotated[str, one_of("random", "pointer")] = "random"
    split: Annotated[str, one_of("repaired", "printed")] = "repaired"
    stateless: Truth = False
    #: Which classes make a task: as given, or shuffled by the seed.
    class_order: Annotated[str, one_of("given", "shuffled")] = "given"
    model: Annotated[str, one_of("linear", "mlp", *CONVOLUTIONS)] = "mlp"
    #: A list of heads of which the task chooses one (task-incremental, the paper's); one masked head, whose logits of
    #: other tasks' classes are left out; one shared head for the place of a class within its task
    #: (domain-incremental: with the digits' tasks 01, 23, ... it answers whether a digit is odd); or growing ones, of
    #: all classes seen so far, among which test images are classified too (class-incremental, the paper's Table 7).
    heads: Annotated[str, one_of("list", "masked", "shared", "growing")] = "shared"
    #: Where heads grow, whether in the loss on current data the logits of past tasks' classes are kept or masked.
    old_logits: Annotated[str, one_of("kept", "masked")] = "kept"
    #: What options, the optimizer, the kind of memory and the partition are unless they are given, see `options`.
    mode: Annotated[str, one_of(*MODES)] = "theory"
    methods: Methods = METHOD_NAMES
    #: Of every method that has some, see `options.OPTIONS`.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Communication rounds a task.
    rounds: Count = 10
    #: Passes of a client over its data in a round, in minibatches of the size `batch`.
    epochs: Count = 2
    batch: Count = 16
    #: The local steps of the methods that have no mode.
    optimizer: Annotated[str, one_of(*STEPS)] = "plain"
    #: Step size of the local steps: beta, and alpha without one of its own.
    lr: Rate = 0.05
    #: Step size on memory.
    alpha: Rate | None = None
    #: The smoothness constant that adaptive rates and Gamma(t) are computed with.
    L: Rate = 5.0
    #: ring (the last ones of each class), reservoir, by-task, or herding (by the model's features).
    memory_kind: Annotated[str, one_of("ring", "reservoir", "by-task", "herding")] = "ring"
    #: Samples that a client keeps of a task, and how many of each past task it takes a step.
    memory_size: Count = 20
    memory_sample: Count = 10
    #: Each draws its own split, start and minibatches, which all methods share.
    seeds: Seeds = (1234, 1235, 1236, 1237, 1238)
    dtype: Annotated[str, one_of("float32", "float64")] = "float32"
    device: Device = "cpu"
    # OpenMP ends the process when it cannot have as many as it is told to.
    #: Of torch; its own choice where this is None. Small networks gain nothing by more than one, and lose much where
    #: the machine has other work.
    threads: Annotated[int, integer(1, 1024)] | None = 1
    #: In every so many rounds f(x_t), its gradient and what follows from it are measured, by a pass over all past
    #: data; 0 for never.
    past_every: Annotated[int, integer(0, (1 << 31) - 1)] = 1
    #: bfloat16 in forward passes, memory format, compiled passes and steps, CUDA graphs of passes, TF32 for float32:
    #: speed for last bits. The last two have no effect on a CPU.
    autocast: Truth = False
    channels_last: Truth = False
    compile: Truth = False
    graphs: Truth = False
    tf32: Truth = False
    #: How processes add up what clients send: one all-reduce (reduce), or gathered and added in the order of the
    #: clients (ordered).
    exchange: Annotated[str, one_of("reduce", "ordered")] = "ordered"
    #: Whether the clients of an mlp are computed at once: yes, no, or auto, where it pays.
    together: Annotated[str, one_of(*TOGETHER)] = "auto"
    #: A checkpoint is written after so many rounds, and at the end of every task: what a run that is stopped repeats.
    #: A round of digits takes less time than a checkpoint, so that they have one a task.
    checkpoint_every: Count = 10
    #: Whether the best and the last model of a part are kept as files for PyTorch, see `training.exports`.
    export_models: Truth = False
    #: Whether the numbers of every round are written for TensorBoard, a package of its own.
    tensorboard: Truth = False

    def __post_init__(self) -> None:
        for name in RULES:
            check_setting(name, getattr(self, name))
        for name in ("methods", "seeds"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("zeta", "lr", "alpha", "L"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        kinds = options_of(self.protocol)
        for name, options in self.options.items():
            if name not in kinds or not isinstance(options, kinds[name]):
                wanted = " or ".join(f"{kind.__name__} for {name}" for name, kind in kinds.items())
                raise WrongSetting((name,), f"options of {name!r} are {quoted(options)}: use {wanted}")
        whole = {
            name: self.options.get(name) or kind(**_usual_options(kind, self.mode)) for name, kind in kinds.items()
        }
        object.__setattr__(self, "options", MappingProxyType(whole))
        self._check_protocol()
        if CLASSES[self.data] % self.tasks:
            raise WrongSetting(
                ("tasks",),
                f"tasks is {self.tasks}, and the {CLASSES[self.data]} classes of {self.data} cannot be shared out "
                "evenly: use a divisor",
            )
        herds = self.memory_kind == HERDING or "icarl" in self.methods
        if self.protocol == TASKS and herds and self.memory_size < self.classes:
            raise WrongSetting(
                ("memory_size",),
                f"memory_size is {self.memory_size}, and herding keeps equally many samples of each of a task's "
                f"{self.classes} classes, so none: use at least {self.classes}",
            )

    def _check_protocol(self) -> None:
        own = (*METHOD_NAMES, *CLASS_NAMES) if self.protocol == TASKS else evolving.CFL_NAMES
        for name in self.methods:
            if name not in own:
                raise WrongSetting(
                    ("methods",),
                    f"the method {name!r} is none of protocol = {self.protocol!r}: use {', '.join(own)}",
                )
            if name in CLASS_NAMES and self.heads != GROWING:
                raise WrongSetting(
                    ("methods",),
                    f"the method {name!r} is for class-incremental learning, and heads is {self.heads!r}: use heads = "
                    f"{GROWING!r}, or leave the method out",
                )
            if self.stateless and name in evolving.STATEFUL:
                raise WrongSetting(
                    ("stateless",),
                    f"stateless clients come once only, and the method {name!r} has each client keep "
                    f"{evolving.STATEFUL[name]} for its next rounds (Table 8): leave the method out, or use stateless "
                    "= false",
                )
        (other,) = OWN.keys() - {self.protocol}
        for name in OWN[other]:
            if getattr(self, name) != getattr(RunSettings, name):
                raise WrongSetting((name,), f"{name} is for protocol = {other!r}: leave it out with {self.protocol!r}")
        if self.protocol != TASKS and self.tasks != 1:
            raise WrongSetting(("tasks",), f"tasks is {self.tasks} with protocol 'rounds', which has one: use 1")

    @property
    def classes(self) -> int:
        """Of a task."""
        return CLASSES[self.data] // self.tasks

    @property
    def total_rounds(self) -> int:
        """Rounds of all tasks."""
        return self.rounds * self.tasks

    def to_json(self) -> dict[str, Any]:
        """Plain values only, from which `run_settings` makes the same record."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "options"}
        plain |= {name: list(plain[name]) for name in ("methods", "seeds")}
        return plain | {name: asdict(options) for name, options in self.options.items()}


def _rule_of(hint: Any) -> tuple[Rule, bool]:
    """The rule of an annotated setting, and whether it may be None."""
    inner = get_args(hint)
    return (inner[0].__metadata__[0], True) if inner[-1] is NoneType else (hint.__metadata__[0], False)


_SETTINGS = {name: _rule_of(hint) for name, hint in hints_of(RunSettings).items() if name != "options"}
#: For every setting.
RULES: Mapping[str, Rule] = MappingProxyType({name: rule for name, (rule, _) in _SETTINGS.items()})


def check_setting(name: str, value: Any) -> None:
    """Raise `WrongSetting` unless the setting `name` may have this value."""
    rule, may_lack = _SETTINGS[name]
    if not (rule.fits(value) or (value is None and may_lack)):
        raise WrongSetting((name,), f"{name} is {quoted(value)}: use {rule.wanted}")


def _usual_options(kind: type, mode: str) -> dict[str, str]:
    return {"mode": mode} if hasattr(kind, "mode") else {}


def options_of(protocol: str) -> Mapping[str, type]:
    """The classes of the options that the methods of a protocol have, by method."""
    return OPTIONS if protocol == TASKS else evolving.OPTIONS


def run_settings(changes: Mapping[str, Any] | None = None, /, **more: Any) -> RunSettings:
    """The settings of a data set's run with changes.

    Parameters
    ----------
    changes, more : mapping
        Settings by name, and under the name of a method a mapping of its options, such as c_flag = {"mode": "paper"}.
        `more` goes before `changes`.

    Returns
    -------
    RunSettings

    Raises
    ------
    WrongSetting
        A name is unknown, or as `RunSettings` says.
    """
    given = merged(changes or {}, more)
    protocol = given.get("protocol", TASKS)
    kinds = options_of(protocol)
    for name, value in given.items():
        if name not in RULES and name not in kinds:
            known = f"{', '.join(RULES)}, or a table {', '.join(f'[{method}]' for method in kinds)}"
            raise WrongSetting((name,), f"the key {name!r} is unknown: use {known}")
        if name in kinds:
            _check_options(name, kinds[name], value)
        else:
            check_setting(name, value)
    plain = {name: value for name, value in given.items() if name in RULES}
    by_data = BY_DATA if protocol == TASKS else evolving.BY_DATA
    usual = dict(by_data[plain.get("data", RunSettings.data)])
    mode = plain.get("mode", usual.get("mode", RunSettings.mode))
    if protocol == TASKS:
        usual |= MODE_DATA[mode]
        usual |= RELEASED_IMAGES.get(plain.get("data", RunSettings.data), {}) if mode == RELEASED else {}
        if plain.get("heads") == GROWING:
            usual["methods"] = (*METHOD_NAMES, *CLASS_NAMES)
    usual = {"optimizer": MODE_DEFAULTS[mode]["step"]} | usual
    usual["lr"] = usual["lr"][plain.get("optimizer", usual["optimizer"])]
    options = {
        name: kind(**_usual_options(kind, mode) | usual.pop(name, {}) | dict(given.get(name, {})))
        for name, kind in kinds.items()
    }
    return RunSettings(**{**usual, **plain}, options=options)


def _check_options(method: str, kind: type, given: Any) -> None:
    if not isinstance(given, Mapping):
        raise WrongSetting((method,), f"{method} is {quoted(given)}: write a table [{method}] of its options")
    known = [one.name for one in fields(kind)]
    for name, value in given.items():
        if name not in known:
            raise WrongSetting(
                (method, name), f"the key {name!r} is unknown in [{method}]: use {', '.join(known) or 'no key'}"
            )
        try:
            kind(**{name: value})
        except InvalidInput as error:
            raise WrongSetting((method, name), f"{method}.{name}: {error}") from None


def merged(changes: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, and where they differ `more`; options of one method are merged one by one."""
    out = dict(changes)
    for name, value in more.items():
        both = isinstance(value, Mapping) and isinstance(out.get(name), Mapping)
        out[name] = {**out[name], **value} if both else value
    return out


def differing_key(plain: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The first key by which two runs (`RunSettings.to_json`) differ in what they compute, dotted for an option; None
    where they are the same. Keys of `WHERE` are not compared.
    """
    for name in dict.fromkeys((*plain, *other)):
        one, two = plain.get(name), other.get(name)
        if name in WHERE or one == two:
            continue
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            return f"{name}.{next(key for key in (*one, *two) if one.get(key) != two.get(key))}"
        return name
    return None
