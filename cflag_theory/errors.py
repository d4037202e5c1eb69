"""The one exception tree; every message names the offending value and the remedy."""

from __future__ import annotations


class CflagError(Exception):
    """Base of all errors that a user can cause and correct; the command line exits with code 2 on it."""


class InvalidInput(CflagError, ValueError):
    """A value is outside its range: change the value that the message names."""


class UnknownName(InvalidInput):
    """No claim, problem, algorithm or column has this name: pick one of those that the message lists."""


class DataError(InvalidInput):
    """A data file or a split of it cannot be used: correct the file or change the split."""


class MissingExtra(CflagError, ImportError):
    """An optional library is not installed: install the extra that the message names."""


class OutputError(CflagError, OSError):
    """A result cannot be written where asked: choose another folder, correct its permissions, or make room."""


class Diverged(CflagError, ArithmeticError):
    """A run left the range of finite numbers: use smaller step sizes, or ask for the trace with ``throw=False``."""


class InconsistentEvidence(CflagError):
    """A claim was both proved and refuted: one of the two witnesses is wrong, and no verdict is given."""
