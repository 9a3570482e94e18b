"""The exceptions, and the exit codes.

    CuestaError            1    something failed; one message with its place, one remedy
    ├── UsageError         2    the command line is wrong
    ├── RefusedError      92    the data do not allow the comparison or prediction
    └── InputError       104    a plan, a tape or a file of users that cannot be used

A message tells where, what was expected and what it has; `remedy` tells what to do. Failures of the host raise no
exception: they are counted and reported.
"""

from collections.abc import Mapping
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of `cuesta`."""

    GOOD = 0
    FAILED = 1
    USAGE = 2
    CHANGED = 90
    INCONCLUSIVE = 91
    REFUSED = 92
    INVALID = 97
    LIMIT = 99
    BAD_INPUT = 104
    INTERRUPTED = 105


class CuestaError(Exception):
    """Something failed. `remedy` says what to do about it, when that is known."""

    exit = Exit.FAILED

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class UsageError(CuestaError):
    """The command line is wrong."""

    exit = Exit.USAGE


class InputError(CuestaError):
    """A plan, a tape or a file of users that cannot be used."""

    exit = Exit.BAD_INPUT


class RefusedError(CuestaError):
    """The data do not allow the comparison or prediction."""

    exit = Exit.REFUSED


def find_remedy(why: str, remedies: Mapping[str, str]) -> str | None:
    """The remedy for an error, by words in it; None if none is known."""
    return next((remedy for words, remedy in remedies.items() if words in why.lower()), None)
