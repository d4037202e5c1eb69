"""What the text says of Figures 2 and 6, of the class-incremental setup and of the number of clients."""

from __future__ import annotations

from cflag_theory.claims.c_flag.published import METHOD, TABLES, Entry
from cflag_theory.claims.pages.page import load

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

__getattr__, CLAIMS = load(__file__, globals())
