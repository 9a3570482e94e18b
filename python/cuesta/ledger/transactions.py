"""Reads the log of transactions, `agent-K/transactions.arrow`: every transaction with its four instants."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nanoarrow import ArrayStream  # type: ignore[import-untyped]
from nanoarrow.ipc import InputStream  # type: ignore[import-untyped]

from cuesta.ledger.run import Agent, Recorded


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


def transactions(recorded: Recorded) -> list[Transaction]:
    """The transactions of all agents in order of `done`; empty if the run kept no log."""
    begun = recorded.agents[0].origin.clock if recorded.agents else 0
    return sorted((row for agent in recorded.agents for row in logged(agent, begun)), key=lambda row: row.done)


def logged(agent: Agent, begun: int) -> Iterator[Transaction]:
    """Read an agent's log; `begun` is the start of the run on the machine's clock, in ns."""
    for row in whole_batches(agent.folder / "transactions.arrow"):
        group, name = map(unquote, row["class"].split("/"))
        due, sent, first, done = ((row[at] - begun) / 1e9 for at in ("due", "sent", "first", "done"))
        yield Transaction(group, name, row["user"], due, sent, first, done)


def whole_batches(path: Path) -> Iterator[dict[str, Any]]:
    """The batches of a log up to the point at which it is cut off."""
    if not path.exists():
        return
    try:
        for batch in ArrayStream(InputStream.from_path(str(path))):
            yield from batch.to_pylist()
    except (RuntimeError, OSError, ValueError):  # the library's own exception is a RuntimeError
        return
