"""Reads `keys.csv` of a run: the keys of each user in the order in which they were sent."""

import csv
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True)
class LoggedKey:
    """A key and the frame that Cuesta says shows it; instants are in ns."""

    user: int
    due: int
    sent: int
    shown: int
    whole: int
    """0 if the frame has no end that is known."""
    frame_bytes: int
    frame_keys: int


def read_keys(out: Path) -> list[list[LoggedKey]]:
    """The keys of each user of a run's folder."""
    logs = [file.read_text().splitlines() for file in sorted(out.glob("agent-*/keys.csv"))]
    rows = [row for log in logs for row in csv.DictReader(log)]
    names = LoggedKey.__annotations__
    keys = [LoggedKey(**{name: int(row[name] or 0) for name in names}) for row in rows]
    keys.sort(key=lambda key: (key.user, key.sent))
    return [list(of_user) for _, of_user in groupby(keys, lambda key: key.user)]
