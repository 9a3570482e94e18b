"""Reads the log of transactions, `agent-K/transactions.arrow`: every transaction with its four instants."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from cuesta import _native
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
    """Read an agent's log up to where it is cut off; `begun` is the start of the run on the machine's clock, in ns."""
    path = agent.folder / "transactions.arrow"
    if not path.exists():
        return
    for series, user, *stamps in _native.read_transaction_log(str(path)):
        group, name = map(unquote, series.split("/"))
        yield Transaction(group, name, user, *((stamp - begun) / 1e9 for stamp in stamps))
