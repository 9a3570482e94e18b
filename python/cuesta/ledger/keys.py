"""Reads the log of keys, `agent-K/keys.csv`: every key that was echoed, if the run kept it (`log_keys`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Agent, Recorded

FILE = "keys.csv"


@dataclass(frozen=True, slots=True)
class Key:
    """One key. Instants are seconds from the start of the run."""

    group: str
    user: int
    due: float
    sent: float
    shown: float


def read_keys_of(user: int, recorded: Recorded) -> list[Key]:
    """The keys of one user, in order of `due`; empty if the run kept no log."""
    return sorted((key for key in read_keys(recorded) if key.user == user), key=lambda key: key.due)


def read_keys(recorded: Recorded) -> Iterator[Key]:
    """The keys of all users, agent by agent in the order in which it was known that they were shown."""
    begun = recorded.agents[0].origin.clock if recorded.agents else 0
    for agent in recorded.agents:
        yield from _read_log(agent, begun, recorded.damage)


def has_key_log(recorded: Recorded) -> bool:
    return any((agent.folder / FILE).exists() for agent in recorded.agents)


def _read_log(agent: Agent, begun: int, damage: list[str]) -> Iterator[Key]:
    path, begun = agent.folder / FILE, begun + agent.notes.offset
    if path.exists():
        yield from RowReader().parsed_rows(path, lambda row: _parse(row, begun), damage, start='"')


def _parse(row: str, begun: int) -> Key:
    quoted, user, due, sent, shown, *_ = row.rsplit(",", 7)
    group = quoted[1:-1].replace('""', '"')
    return Key(group, int(user), (int(due) - begun) / 1e9, (int(sent) - begun) / 1e9, (int(shown) - begun) / 1e9)
