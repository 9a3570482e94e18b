"""What a tool is asked to do, what it tells, and what a tool is to this program."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from peers.hosts import Host, Work

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Job:
    """A load that a tool makes. Durations are in seconds."""

    work: Work
    host: Host
    users: int
    pause: float
    """Between two keys or transactions of a user."""
    ramp: float
    """Users start during this time."""
    seconds: float
    """From the end of the ramp to the end of the load."""
    percentiles: bool
    """Whether the tool is to tell percentiles, if that costs it something."""
    folder: Path
    """For what the tool writes."""


@dataclass(frozen=True)
class Told:
    """What a tool says at its end, in seconds. None: it does not say."""

    p99: float | None = None
    longest: float | None = None
    lateness_p50: float | None = None
    lateness_p99: float | None = None


class Tool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def purpose(self) -> str:
        """What it is made for."""

    def version(self) -> str:
        """Raises `OSError` if the tool is not installed."""

    def command(self, job: Job) -> list[str]:
        """The command that makes the load."""

    def read_figures(self, job: Job) -> Told:
        """Read what the tool has written."""


def output_of(*command: str) -> str:
    """What a command prints, errors included."""
    done = subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, stdout=-1, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout.strip()
