"""Reads the echoes of probe lines, `agent-K/followed.csv`, for what the driver alone can tell of them (`path`)."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, fields

from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Recorded
from cuesta.records.rows import FollowedRow

FILE = "followed.csv"
COLUMNS = [field.name for field in fields(FollowedRow)]


@dataclass(frozen=True, slots=True)
class ProbeEcho:
    """The echo of a key on a line over TCP, and how what came with it was acknowledged."""

    group: str
    at_once: bool
    """Whether the kernel acknowledged at once, or as late as it may: decided at random for each key."""
    seconds: float
    """From the key's sending to its echo."""
    first: float
    """From the key's sending to the first bytes behind it, in seconds."""
    segments: int
    """With data, up to the echo."""
    acknowledgements: int
    """Sent without data, up to the echo."""


def read_probe_echoes(recorded: Recorded) -> Iterator[ProbeEcho]:
    """The echoes of which it is known how they were acknowledged, agent by agent, in order of time."""
    for agent in recorded.agents:
        path = agent.folder / FILE
        if path.exists():
            rows = RowReader().parsed_rows(path, _parse, recorded.damage, start='"')
            yield from (echo for echo in rows if echo)


def _parse(text: str) -> ProbeEcho | None:
    row = dict(zip(COLUMNS, next(csv.reader([text], strict=True)), strict=False))
    if row["what"] != "echo" or not row.get("quickack"):
        return None
    sent = int(row["sent"])
    return ProbeEcho(
        group=row["user_group"],
        at_once=row["quickack"] == "true",
        seconds=(int(row["shown"]) - sent) / 1e9,
        first=(int(row["first"]) - sent) / 1e9,
        segments=int(row["segments"]),
        acknowledgements=int(row["acknowledgements"]),
    )
