"""The published tables and the sentences about them.

The numbers are data, as (mean, standard deviation) where the paper prints both; what the sentences make of them is
recomputed by the check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

METHOD = "C-FLAG"


@dataclass(frozen=True)
class Entry:
    """One method on one data set in one setting: accuracy and forgetting in percent, deviations where printed."""

    table: str
    setting: str
    data: str
    method: str
    accuracy: str
    forgetting: str
    accuracy_deviation: str = ""
    forgetting_deviation: str = ""


#: As printed: a mean, or mean+-deviation, of accuracy and forgetting for each data set.
_PRINTED = """
Table 2 | non-IID | CIFAR10 CIFAR100 TinyImageNet
    Fine-FL 54.10 6.08 38.66 20.87 23.72 23.85
    EWC-FL 53.55 5.22 38.83 19.20 26.94 20.29
    NCCL-FL 63.35 12.37 32.25 29.49 28.49 8.73
    Erg-FL 79.11 8.32 31.25 32.40 21.90 19.67
    C-FLAG 65.02 5.82 43.47 16.76 28.63 9.52
Table 3 | IID | CIFAR10 CIFAR100 TinyImageNet
    Fine-FL 72.64 26.51 49.82 30.00 30.17 31.91
    EWC-FL 75.98 22.34 50.48 30.16 33.18 28.38
    NCCL-FL 83.43 17.10 41.65 39.23 28.93 9.51
    FedTrk 79.86 17.62 29.85 18.11 33.32 28.57
    Erg-FL 84.01 16.50 38.70 43.66 31.25 32.40
    C-FLAG 89.28 7.23 66.85 7.30 44.30 7.65
Table 6 | non-IID | CIFAR10 CIFAR100 TinyImageNet
    Fine-FL 54.10+-5.78 6.08+-8.60 38.66+-1.60 20.87+-0.82 23.72+-1.82 23.85+-0.92
    EWC-FL 53.55+-4.56 5.22+-7.46 38.83+-1.33 19.20+-1.33 26.94+-1.91 20.29+-0.26
    NCCL-FL 63.35+-7.62 12.37+-0.83 32.25+-0.95 29.49+-1.46 28.49+-1.19 8.73+-0.28
    Erg-FL 79.11+-7.9 8.32+-7.42 31.25+-1.05 32.40+-1.69 21.90+-0.96 19.67+-0.98
    C-FLAG 65.02+-6.22 5.82+-0.9 43.47+-1.64 16.76+-1.85 28.63+-0.91 9.52+-0.89
Table 6 | IID | CIFAR10 CIFAR100 TinyImageNet
    Fine-FL 72.64+-0.98 26.51+-1.31 49.82+-0.51 30.00+-1.32 30.17+-0.69 31.91+-0.22
    EWC-FL 75.98+-5.10 22.34+-4.19 50.48+-1.10 30.16+-0.81 33.18+-0.99 28.38+-0.48
    NCCL-FL 83.43+-5.38 17.10+-4.64 41.65+-0.58 39.23+-0.62 28.93+-0.73 9.51+-0.98
    FedTrk 79.86+-7.16 17.62+-4.46 29.85+-3.32 18.11+-3.15 33.32+-1.43 28.57+-4.04
    Erg-FL 84.01+-9.96 16.50+-11.57 38.70+-1.35 43.66+-1.48 31.25+-1.05 32.40+-1.69
    C-FLAG 89.28+-4.98 7.23+-5.14 66.85+-0.77 7.30+-0.81 44.3+-0.71 7.65+-0.78
Table 7 | non-IID, class incremental | CIFAR10 CIFAR100
    Fine-FL 14.18+-3.22 2.31+-4.82 16.24+-1.03 45.50+-1.80
    EWC-FL 12.92+-2.53 6.12+-5.20 17.25+-1.29 40.26+-2.09
    LwF-FL 12.45+-3.54 5.62+-5.17 22.38+-3.66 31.07+-2.58
    iCARL-FL 15.84+-4.23 50.75+-12.95 21.40+-1.53 32.46+-2.23
    TARGET 13.68+-3.48 9.73+-7.04 23.22+-1.93 27.65+-5.01
    NCCL-FL 14.42+-1.22 76.93+-2.46 9.96+-0.40 47.76+-1.05
    FedTrk 12.21+-1.04 61.89+-5.16 3.53+-0.18 17.83+-0.29
    C-FLAG 17.06+-2.63 43.04+-13.27 13.94+-1.13 51.49+-0.72
Table 7 | IID, class incremental | CIFAR10 CIFAR100
    Fine-FL 24.25+-4.89 55.54+-13.09 20.04+-1.30 65.67+-1.61
    EWC-FL 25.28+-4.07 57.04+-5.44 22.20+-1.00 62.69+-1.35
    LwF-FL 43.01+-8.21 32.07+-16.54 35.86+-0.98 35.72+-0.81
    iCARL-FL 47.98+-2.43 49.92+-3.16 24.13+-1.72 48.89+-1.47
    TARGET 20.08+-3.12 21.56+-10.38 31.04+-2.94 26.75+-5.61
    NCCL-FL 16.91+-0.50 93.15+-2.10 12.40+-0.39 60.61+-0.83
    FedTrk 14.54+-1.33 81.48+-3.64 5.49+-0.26 22.02+-1.73
    C-FLAG 26.37+-3.80 7.66+-7.55 31.68+-1.54 47.97+-2.64
Table 8 | IID | CIFAR10
    C-FLAG 87.89 10.25
Table 8 | non-IID | CIFAR100
    C-FLAG 38.43 16.33
"""


def _entries(text: str) -> Iterator[Entry]:
    table = setting = data = ""
    for line in text.strip().splitlines():
        if line.startswith("Table "):
            table, setting, data = line.removeprefix("Table ").split(" | ")
            continue
        method, *numbers = line.split()
        for place, one in enumerate(data.split()):
            (accuracy, _, above), (forgetting, _, more) = (n.partition("+-") for n in numbers[2 * place :][:2])
            yield Entry(table, setting, one, method, accuracy, forgetting, above, more)


#: Table 8 varies the number of clients; its column of 5 clients is the run of Tables 2, 3 and 6.
TABLES = tuple(_entries(_PRINTED))
#: Numbers of clients in Table 8, besides the 5 of the other tables.
MORE = (50, 25, 15, 10)


def _table8(setting: str, data: str, row: str) -> dict[int, Entry]:
    """A row of Table 8, "accuracy,forgetting" for each number of clients."""
    (five,) = (entry for entry in TABLES if (entry.table, entry.setting, entry.data) == ("8", setting, data))
    entries = (Entry("8", setting, data, METHOD, *pair.split(",")) for pair in row.split())
    return {**dict(zip(MORE, entries, strict=True)), 5: five}


TABLE8: tuple[dict[int, Entry], ...] = (
    _table8("IID", "CIFAR10", "90.67,2.39 90.77,3.53 91.05,4.28 90.52,5.22"),
    _table8("non-IID", "CIFAR100", "35.20,2.28 32.60,4.27 35.48,6.38 35.95,8.58"),
)
