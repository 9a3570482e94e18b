"""Reads the log of a host of this folder."""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Log:
    """The rows of a host's log."""

    rows: list[dict[str, Any]]

    @classmethod
    def read(cls, file: Path) -> "Log":
        """Read the whole rows of the file that all connections of a host write to; none if there is no file yet."""
        text = file.read_text() if file.exists() else ""
        return cls([json.loads(row) for row in text[: text.rfind("\n") + 1].splitlines()])

    def by_connection(self, *did: str) -> list[list[dict[str, Any]]]:
        """The rows with one of these words, connection by connection."""
        pids = {row["pid"] for row in self.rows}
        return [[row for row in self.rows if row["pid"] == pid and row["did"] in did] for pid in pids]

    def cpu(self, begin: int, end: int) -> float:
        """Seconds of CPU that its processes used between two instants, if each used CPU at a constant rate."""
        burned = [row for row in self.rows if row["did"] == "burned"]
        parts = [max(min(row["at"], end) - max(row["since"], begin), 0) / (row["at"] - row["since"]) for row in burned]
        return float(sum(row["cpu"] * part for row, part in zip(burned, parts, strict=True)))

    @property
    def response(self) -> float:
        """The median from a Return to the answer, in seconds."""
        return statistics.median(self.responses)

    @property
    def responses(self) -> list[float]:
        """The time of each answer since the Return before it, in seconds."""
        took: list[int] = []
        for rows in self.by_connection("read", "answer"):
            returned = None
            for row in rows:
                if row["did"] == "answer" and returned:
                    took.append(row["since"] - returned)
                elif "\r" in row["bytes"]:
                    returned = row["at"]
        return [nanoseconds / 1e9 for nanoseconds in took]

    @property
    def echo(self) -> float:
        """The median from a key to its echo, in seconds: the nth echo is that of the nth key."""
        took: list[int] = []
        for rows in self.by_connection("read", "echo"):
            keys = [row["at"] for row in rows if row["did"] == "read" for _ in row["bytes"]]
            echoes = [row["since"] for row in rows if row["did"] == "echo"]
            took += [echoed - typed for typed, echoed in zip(keys, echoes, strict=False)]
        return statistics.median(took) / 1e9
