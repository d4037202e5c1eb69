"""The numbers that the C-FLAG paper prints of its runs, by key, and whether they fit together.

Tables 2, 3, 6 and 7 and the column of 5 clients of Table 8 are data of the claims about them; the rest of Table 8 is
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from cflag_theory.claims.c_flag.published import TABLES

#: (table, data set, setting, method, metric), such as ("table2", "cifar10", "non-iid", "c_flag", "accuracy"); settings
#: of Table 8 name the clients: "iid clients=50"; those of Table 7 are "iid class-incremental".
Key = tuple[str, str, str, str, str]
#: The paper's names of methods, and those of the runs.
METHODS = {
    "Fine-FL": "finetune",
    "EWC-FL": "ewc",
    "NCCL-FL": "nccl",
    "FedTrk": "fedtrack",
    "Erg-FL": "er_ring",
    "C-FLAG": "c_flag",
    "LwF-FL": "lwf",
    "iCARL-FL": "icarl",
    "TARGET": "target",
}
DATA = {"CIFAR10": "cifar10", "CIFAR100": "cifar100", "TinyImageNet": "tinyimagenet"}
#: The heads of the runs of Table 7; the others have a list.
GROWING = "growing"
#: Tasks of each data set and classes of each task (Sec. 7).
TASKS = {"cifar10": (5, 2), "cifar100": (5, 20), "tinyimagenet": (10, 20)}
#: The Dirichlet parameter of each setting (Sec. 7).
ZETA = {"iid": 1e5, "non-iid": 0.1}
CLIENTS = 5
METRICS = ("accuracy", "forgetting")
# Table 8 beyond 5 clients: (clients, accuracy, forgetting).
_MORE_CLIENTS = {
    ("cifar10", "iid"): ((50, "90.67", "2.39"), (25, "90.77", "3.53"), (15, "91.05", "4.28"), (10, "90.52", "5.22")),
    ("cifar100", "non-iid"): (
        (50, "35.20", "2.28"),
        (25, "32.60", "4.27"),
        (15, "35.48", "6.38"),
        (10, "35.95", "8.58"),
    ),
}


@dataclass(frozen=True)
class Number:
    """One printed number."""

    key: Key
    #: As printed, in percent; the deviation is empty where this table prints none.
    printed: str
    deviation: str
    clients: int

    @property
    def table(self) -> str:
        """Such as table2."""
        return self.key[0]

    @property
    def data(self) -> str:
        """Such as cifar10."""
        return self.key[1]

    @property
    def setting(self) -> str:
        """iid or non-iid, without the clients of Table 8."""
        return self.key[2].partition(" ")[0]

    @property
    def method(self) -> str:
        """Such as c_flag."""
        return self.key[3]

    @property
    def metric(self) -> str:
        """accuracy or forgetting."""
        return self.key[4]

    @property
    def value(self) -> Fraction:
        """The printed number, exactly."""
        return Fraction(self.printed)

    @property
    def heads(self) -> str:
        """Of the model: growing where classes are learned incrementally."""
        return GROWING if self.table == "table7" else "list"

    @property
    def run(self) -> tuple[str, str, str, int, str]:
        """Data set, setting, method, clients and heads: what two tables must share to speak of the same run."""
        return self.data, self.setting, self.method, self.clients, self.heads


def _numbers() -> Iterator[Number]:
    for entry in TABLES:
        setting = entry.setting.lower().replace(", class incremental", " class-incremental")
        words = f"{setting} clients={CLIENTS}" if entry.table == "8" else setting
        key = (f"table{entry.table}", DATA[entry.data], words, METHODS[entry.method])
        yield Number((*key, "accuracy"), entry.accuracy, entry.accuracy_deviation, CLIENTS)
        yield Number((*key, "forgetting"), entry.forgetting, entry.forgetting_deviation, CLIENTS)
    for (data, setting), columns in _MORE_CLIENTS.items():
        for clients, *printed in columns:
            for metric, number in zip(METRICS, printed, strict=True):
                yield Number(("table8", data, f"{setting} clients={clients}", "c_flag", metric), number, "", clients)


PUBLISHED: dict[Key, Number] = {number.key: number for number in _numbers()}
#: Seeds that Tables 2, 3 and 6 are averaged over (Sec. 7). Table 8 says nothing.
SEEDS = 3


def deviation(number: Number) -> Fraction | None:
    """Its printed standard deviation over seeds; for Tables 2 and 3 that of the same number in Table 6."""
    twin = PUBLISHED.get(("table6", *number.key[1:]))
    words = number.deviation or (twin.deviation if twin is not None and twin.value == number.value else "")
    return Fraction(words) if words else None


def learning_accuracy(accuracy: Number) -> Fraction:
    """What accuracy and forgetting of one row imply: mean of a_{i,i} = Acc + (S - 1) / S Fgt, exactly."""
    tasks, _ = TASKS[accuracy.data]
    lost = PUBLISHED[(*accuracy.key[:-1], "forgetting")]
    return accuracy.value + Fraction(tasks - 1, tasks) * lost.value


@dataclass(frozen=True)
class Finding:
    """What the printed numbers say about each other: `fits` is whether they can all be true of what they are said to
    be; None for an oddity that decides nothing.
    """

    kind: str
    sentence: str
    fits: bool | None


def findings() -> tuple[Finding, ...]:
    """Everything that can be decided from the printed numbers alone."""
    return (*_agreement(), *_implied(), *_repeated(), *_missing())


def accuracies(*tables: str) -> list[Number]:
    """The accuracies of these tables, in the paper's order."""
    return [number for number in PUBLISHED.values() if number.metric == "accuracy" and number.table in tables]


def _agreement() -> Iterator[Finding]:
    """Where two tables print the same run."""
    main = [number for number in PUBLISHED.values() if number.table in ("table2", "table3")]
    for table in ("table6", "table8"):
        others = {(number.run, number.metric): number for number in PUBLISHED.values() if number.table == table}
        pairs = [(a, others[a.run, a.metric]) for a in main if (a.run, a.metric) in others]
        apart = [(a, b) for a, b in pairs if a.value != b.value]
        words = f"{len(pairs) - len(apart)} of {len(pairs)} numbers of Tables 2 and 3 are the same in {_title(table)}"
        yield Finding("agreement", words, not apart)
        for a, b in apart:
            yield Finding(
                "agreement",
                f"{_words(a)}: {a.metric} {a.printed} in {_title(a.table)}, {b.printed} in {_title(b.table)}",
                False,
            )


def _implied() -> Iterator[Finding]:
    """Accuracy and forgetting imply how well tasks were learned, which lies between guessing and 100."""
    chosen = accuracies("table2", "table3", "table7", "table8")
    impossible = [a for a in chosen if not 0 <= learning_accuracy(a) <= 100]
    words = f"{len(chosen) - len(impossible)} of {len(chosen)} rows imply a learning accuracy between 0 and 100"
    yield Finding("learning accuracy", words, not impossible)
    for a in impossible:
        yield Finding("learning accuracy", f"{_words(a)}: {float(learning_accuracy(a)):.2f} is impossible", False)
    main = [a for a in chosen if a.table in ("table2", "table3")]
    for data, setting in dict.fromkeys((a.data, a.setting) for a in main):
        row = [a for a in main if (a.data, a.setting) == (data, setting)]
        listed = ", ".join(f"{a.method} {float(learning_accuracy(a)):.2f}" for a in row)
        guess = Fraction(100, TASKS[data][1])
        words = f"{data} {setting}, guessing gives {float(guess):g}: {listed}"
        # A run may learn less than guessing, so that this is odd and not impossible.
        yield Finding("learning accuracy", words, None if any(learning_accuracy(a) < guess for a in row) else True)


def _repeated() -> Iterator[Finding]:
    """Different runs with the same numbers in both metrics."""
    for a, b in combinations(accuracies("table6"), 2):
        if all(_printed(a, metric) == _printed(b, metric) for metric in METRICS):
            words = " and ".join("{} +- {}".format(*_printed(a, metric)) for metric in METRICS)
            yield Finding("repeated", f"{_words(a)} and {_words(b)} share all four numbers, {words}", None)


def _printed(accuracy: Number, metric: str) -> tuple[str, str]:
    number = PUBLISHED[(*accuracy.key[:-1], metric)]
    return number.printed, number.deviation


def _missing() -> Iterator[Finding]:
    """Methods that one of the two settings has no row for."""
    have = dict.fromkeys((a.setting, a.method) for a in accuracies("table6"))
    for setting in ZETA:
        for method in dict.fromkeys(method for _, method in have):
            if (setting, method) not in have:
                yield Finding("missing", f"Tables 2, 3 and 6 have no {setting} row for {method}", None)


def _words(number: Number) -> str:
    return f"{number.method} on {number.setting} {number.data}"


def _title(table: str) -> str:
    return table.replace("table", "Table ")
