"""What a host is to this program."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from peers.control_group import ControlGroup

INPUT = "abcdefghijkl"
"""A transaction's input, without the key that ends it: 13 characters with it."""
ANSWER = 150
"""Characters of its answer."""


class Work(Enum):
    """What users do."""

    KEYS = "key"
    """Each types one key after another, and the host echoes it."""
    TRANSACTIONS = "transaction"
    """Each sends 13 characters on a line that stays, and the host answers 150."""
    LOGINS = "login"
    """The same, with a login for each transaction."""


@dataclass(frozen=True)
class Mark:
    """What a host has counted since it started."""

    at: float
    """When, in seconds of the monotonic clock."""
    operations: float


class Host(Protocol):
    group: ControlGroup
    target: str
    """Its URL for Cuesta."""
    way: tuple[str, str]
    """`tcp` and the port, or `ssh` and a file of settings in which the host is called `peer`."""

    def users(self) -> int:
        """Users who have a line; for logins: sessions that were started so far."""

    def mark(self) -> Mark:
        """Count now, or when the host next writes its count."""


Start = Callable[[Work, Path], AbstractContextManager[Host]]
"""Starts a host for some work. It keeps its files in the folder, and ends with the block."""
