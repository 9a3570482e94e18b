"""A metering process: this module run as a program here or, over ssh, `cuesta meters stream` on the host's own machine.

stdin   one row of JSON, a `MeterRequest`; then a row `mark` asks for a report since the mark before, `profile` for
        where CPU time went since the profile before; the end means stop
stdout  JSON lines: a report at each interval, {"mark": true, …report…} for each mark,
        {"profile": {listing, folded, flame}}; rows of `paths.jsonl`, which begin with {"host_at": …
"""

import io
import json
import os
import select
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TextIO

from cuesta import _native
from cuesta.engine.local.node_exporter import NodeExporter, is_url
from cuesta.errors import CuestaError, UsageError
from cuesta.records.rows import PathCounts
from cuesta.target import is_address
from cuesta.terminal import write

COVERED = 0.9
"""The part of the busy samples that a profile's locations cover, 0 to 1."""
EXAMPLE = """for example {"every": 1.0}; docs/meters.md has all names"""
PATHS_EVERY = 0.25
"""Seconds between two looks at what was followed: the kernel's buffer has room for more than that."""
SHORTEST = 0.05
"""Seconds of the shortest interval: the kernel counts CPU time in ticks of 10 ms."""
LONGEST = 65_536
"""Bytes of a request."""


@dataclass(frozen=True, slots=True)
class MeterRequest:
    """What to meter, and how."""

    subject: str = "machine"
    """`machine`, `pid:N`, `children:N,…`, `cgroup:PATH`, `cpus:0-3`; or the URL of a node_exporter."""
    cpus: Sequence[int] | None = None
    """CPUs whose time is 100 %; None for those that the subject may use."""
    every: float = 1.0
    """Seconds between reports."""
    sampled: bool = True
    """Whether CPU time is split by cause."""
    stacks: bool = False
    """Whether CPU time is kept by location too, for a profile."""
    traced: Literal["light", "full"] | None = None
    """How much of the kernel is traced."""
    follow: str | None = None
    """Whose keys are followed: `connections`: those of probe lines over TCP; `terminals`: also those of terminals here;
    an address: those that come from there, a bastion that probe lines pass."""

    def json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str | bytes) -> "MeterRequest":
        """Read a request. Raises UsageError if it is malformed."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"cuesta meters stream: not a request: not JSON: {error}", EXAMPLE) from None
        if wrong := _wrong(given):
            raise UsageError(f"cuesta meters stream: not a request: {wrong}", EXAMPLE)
        return cls(**given)


def _wrong(given: object) -> str:
    """What is wrong with a request; empty if nothing is."""
    if not isinstance(given, dict):
        return "expected an object"
    for name, value in given.items():
        if name not in EXPECTED:
            return f"no such name: {name!r}; the names are {', '.join(EXPECTED)} (another version may have others)"
        what, fits = EXPECTED[name]
        if not fits(value):
            return f"{name}: expected {what}, got {json.dumps(value)}"
    return ""


def _is_cpus(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(type(each) is int and each >= 0 for each in value))


EXPECTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "subject": ("text such as machine or pid:7", lambda value: isinstance(value, str)),
    "cpus": ("a list of CPUs' numbers, or null", _is_cpus),
    "every": (
        "seconds, at least 0.05 and at most a day",
        lambda value: type(value) in (int, float) and SHORTEST <= value <= 86400,
    ),
    "sampled": ("true or false", lambda value: isinstance(value, bool)),
    "stacks": ("true or false", lambda value: isinstance(value, bool)),
    "traced": ('"light", "full" or null', lambda value: value in ("light", "full", None)),
    "follow": (
        '"connections", "terminals", an address or null',
        lambda value: value in ("connections", "terminals", None) or is_address(value),
    ),
}
"""The names of a request: what their values are."""


def open_meters(request: MeterRequest) -> "Meters":
    """Start to meter. Raises UsageError if the subject is malformed, CuestaError if it does not exist."""
    if "://" in request.subject:
        if not is_url(request.subject):
            raise UsageError(f"cuesta meters: not a URL: {request.subject}", "for example http://host:9100/metrics")
        return NodeExporter(request.subject)
    spec = json.dumps({"subject": request.subject, "cpus": request.cpus})
    try:
        return _native.Meters.start(spec, causes=request.sampled, stacks=request.stacks, traced=request.traced)
    except ValueError as error:
        raise UsageError(str(error).partition(" at line")[0]) from None
    except _native.RunError as error:
        raise CuestaError(str(error), "see what runs with `ps`, `systemd-cgls`, `lscpu`") from None


def stream() -> None:
    """Serve a request that comes on stdin, until stdin ends. Raises UsageError and CuestaError."""
    text = b""
    while not text.endswith(b"\n") and len(text) < LONGEST and (piece := os.read(0, 1)):
        text += piece  # byte by byte: orders may follow the row
    request = MeterRequest.parse(text)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # in every locale, as its reader expects
    follower = start_follower(request, sys.stdout)  # first: what it costs is then part of the sampler's constants
    Stream(open_meters(request), 0, sys.stdout, follower).run(request.every)


def start_follower(request: MeterRequest, out: TextIO) -> _native.Follower | None:
    """Start to follow keys, if that is asked for; if it cannot be done, write a row that says why."""
    if request.follow is None:
        return None
    try:
        from_address = request.follow if is_address(request.follow) else None
        return _native.Follower.start(terminals=request.follow == "terminals", from_address=from_address)
    except _native.RunError as error:
        counts = PathCounts(keys=0, finished=0, lost=0, unknown=0, missing=[f"all hops: {error}"])
        write(json.dumps({"host_at": _native.now(), "counts": asdict(counts)}), out)
        return None


class Meters(Protocol):
    """A source of counters: this machine, or another by its node_exporter."""

    def snapshot(self) -> str:
        """The counters now, as JSON."""

    def report(self, since: str | None = None) -> str:
        """The report since a snapshot, or since the previous report without one, as JSON."""


class Stream:
    """Writes reports until its orders end."""

    def __init__(self, meters: Meters, orders: int, out: TextIO, follower: _native.Follower | None = None) -> None:
        self.meters = meters
        self.orders = orders
        self.out = out
        self.follower = follower
        self.marked = meters.snapshot()
        self.incomplete = b""
        """The beginning of an order whose end has not arrived."""

    def run(self, every: float) -> None:
        """Write a report every `every` seconds. A late report does not delay the next ones."""
        due = _native.now() / 1e9
        while True:
            due = max(due + every, _native.now() / 1e9 - every)
            while (left := due - _native.now() / 1e9) > 0:
                wait = min(left, PATHS_EVERY) if self.follower else left
                if select.select([self.orders], [], [], wait)[0] and not self.obey():
                    return self.write_paths()
                self.write_paths()
            write(self.meters.report(), self.out)

    def write_paths(self) -> None:
        """Write what was followed since the last call."""
        if self.follower:
            write(self.follower.read_rows(), self.out, end="")

    def obey(self) -> bool:
        """Read and obey orders. False at the end of input."""
        piece = os.read(self.orders, 4096)
        *orders, self.incomplete = (self.incomplete + piece).split(b"\n")
        for order in orders:
            if order == b"mark":
                report = self.meters.report(self.marked)
                write(f'{{"mark": true, {report.removeprefix("{")}', self.out)
                self.marked = self.meters.snapshot()
            elif order == b"profile":
                self.profile()
        return bool(piece)

    def profile(self) -> None:
        """Write the profile, if stacks were kept."""
        if isinstance(self.meters, _native.Meters):
            try:
                profile = self.meters.profile(COVERED, "CPU time of the host")
                write(f'{{"profile": {profile}}}', self.out)
            except _native.RunError:
                return  # not sampled: the reports say why


if __name__ == "__main__":
    try:
        stream()
    except CuestaError as error:
        sys.exit("\n".join(["cuesta: " + str(error), *filter(None, [error.remedy])]))
