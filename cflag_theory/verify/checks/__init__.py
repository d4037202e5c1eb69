"""One check a claim, mirroring `claims`."""

from __future__ import annotations

from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag import descent, drift, forgetting, update

CHECKS: dict[str, Check] = {
    "cflag.eq7": update.EQ7,
    "cflag.eq22": update.EQ22,
    "cflag.eq25": update.EQ25,
    "cflag.lemma1": descent.LEMMA1,
    "cflag.eq65": descent.EQ65,
    "cflag.lemma13": drift.LEMMA13,
    "cflag.cor14": drift.COR14,
    "cflag.eq177": forgetting.EQ177,
}
