"""Reads the log of keys, `agent-K/keys.csv`: every key that was echoed, if the run kept it (`log_keys`)."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Agent, Recorded

FILE = "keys.csv"


@dataclass(frozen=True, slots=True)
class Key:
    """One key. Instants are seconds from the start of the run."""

    user: int
    due: float
    shown: float


def read_keys_of(user: int, recorded: Recorded) -> list[Key]:
    """The keys of one user, in order of `due`; empty if the run kept no log."""
    begun = recorded.agents[0].origin.clock if recorded.agents else 0
    rows = (key for agent in recorded.agents for key in _read_log(agent, begun, recorded.damage) if key.user == user)
    return sorted(rows, key=lambda key: key.due)


def _read_log(agent: Agent, begun: int, damage: list[str]) -> Iterator[Key]:
    path, begun = agent.folder / FILE, begun + agent.notes.offset
    if path.exists():
        yield from RowReader().parsed_rows(path, lambda row: _parse(row, begun), damage, start='"')


def _parse(row: str, begun: int) -> Key:
    _, user, due, _, shown, *_ = next(csv.reader([row], strict=True))
    return Key(int(user), (int(due) - begun) / 1e9, (int(shown) - begun) / 1e9)
