"""Reads the log of transactions, `agent-K/transactions.csv`: every transaction with its four instants."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from cuesta.errors import InputError
from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Agent, Recorded

FILE = "transactions.csv"
EARLIER_FILE = "transactions.arrow"
"""The log of versions that wrote Arrow's format, which cannot be read any more."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction. Instants are seconds from the start of the run."""

    group: str
    name: str
    user: int
    due: float
    sent: float
    first: float
    done: float

    @classmethod
    def parse(cls, row: str, begun: int) -> Self:
        """Convert a row's instants to those of the run, which began at `begun` on the agent's clock, in ns."""
        group, name, user, *stamps = next(csv.reader([row], strict=True))
        due, sent, first, done = ((int(stamp) - begun) / 1e9 for stamp in stamps)
        return cls(group, name, int(user), due, sent, first, done)


def read_transactions(recorded: Recorded) -> list[Transaction]:
    """The transactions of all agents in order of `done`; empty if the run kept no log.

    What cannot be read is left out, with a sentence in `recorded.damage`. Raises InputError for an Arrow log.
    """
    begun = recorded.agents[0].origin.clock if recorded.agents else 0
    rows = (row for agent in recorded.agents for row in read_log(agent, begun, recorded.damage))
    return sorted(rows, key=lambda row: row.done)


def read_log(agent: Agent, begun: int, damage: list[str]) -> Iterator[Transaction]:
    """Read an agent's log up to where it is cut off. The run began at `begun` on the engine's clock, in ns."""
    earlier, path = agent.folder / EARLIER_FILE, agent.folder / FILE
    if earlier.exists():
        raise InputError(
            f"{earlier}: an earlier cuesta wrote this log of transactions, and this one reads {FILE}",
            "use the cuesta that wrote it, or make the run again; all other files of the folder can be read",
        )
    if path.exists():
        begun += agent.notes.offset
        yield from RowReader().parsed_rows(path, lambda row: Transaction.parse(row, begun), damage, start='"')
