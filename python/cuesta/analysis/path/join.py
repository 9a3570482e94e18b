"""Joins followed keys with their paths by port and TCP stream offsets, never by clocks.

A path belongs to a key if the key is among its segment's bytes, and its answer carries the end of the key's echo: the
driver's instant is when that end arrived, and a path that ends earlier or later would be another's time. If several
do, the one that is known whole, then the one that departed first: what came later was sent again.

Several connections may use one port one after another, each with offsets from 0. They are told apart by their order.
At a terminal of this machine, which has no offsets, a path belongs to the key in whose time it is, by the one clock.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuesta.analysis.path.ranges import MODULUS, Range, is_control, measure
from cuesta.ledger.paths import Followed
from cuesta.records.rows import PathCounts, PathRecord, PathRow

CONTROL_KEY = "control"
NO_PATH, NOT_WHOLE, ANOTHER_ANSWER, PORT_REUSED = "no_path", "not_whole", "another_answer", "port_reused"
LOGIN = "login"
AT_TERMINAL = 1_000_000
"""ns by which a path at a terminal may begin before its key was seen to be sent, or end after its echo was shown."""
TYPED_AHEAD = 64
"""Keys of a terminal that may be under way at once."""

Place = tuple[Path, int | None, int | None]
"""A segment's folder, a port, and a terminal."""


@dataclass(slots=True)
class Candidate:
    """A followed key, and what was found of it so far."""

    followed: Followed
    paths: dict[int, PathRow] = field(default_factory=dict)
    """The best path, by the number of its connection at the host."""
    answers: int = 0
    """Paths whose answers have a part of the echo."""
    is_refused: bool = False
    """Whether a path has the key, and the answer of another."""

    @property
    def echo(self) -> Range:
        return Range(self.followed.row.echo_from, self.followed.row.echo_to)

    def take(self, connection: int, path: PathRow) -> None:
        """Keep a path of the key if it is the key's, and better than what was known."""
        answer = Range(path.echo_from, path.echo_to)
        if not answer.overlaps(self.echo):
            self.is_refused = True
            return
        self.answers += 1
        if not answer.holds(self.followed.row.echo_to):
            self.is_refused = True
            return
        known = self.paths.get(connection)
        if known is None or rank(path) < rank(known):
            self.paths[connection] = path


def rank(path: PathRow) -> tuple[bool, int, int]:
    """The best path has the lowest. Of those that departed together it is the one that was written first."""
    return not path.whole, path.ns, -sum(hop.ns for hop in path.hops if hop.kind in ("held", "sent"))


@dataclass(slots=True)
class Connection:
    """What the driver followed on one connection, in order of the keys."""

    logins: list[Candidate] = field(default_factory=list)
    keys: list[Candidate] = field(default_factory=list)
    unwrapped: list[int] = field(default_factory=list)
    """Offsets of the keys, which go on rising beyond 2^32."""

    def add(self, candidate: Candidate) -> None:
        row = candidate.followed.row
        if row.what == LOGIN:
            self.logins.append(candidate)
            return
        before = self.unwrapped[-1] if self.unwrapped else 0
        self.unwrapped.append(before + measure(before % MODULUS, row.key))
        self.keys.append(candidate)

    def begins_anew(self, followed: Followed) -> bool:
        """Whether a row is of the next connection: its stream is behind what this one had reached."""
        row = followed.row
        if row.what == LOGIN:
            return bool(self.keys or self.logins)
        return bool(self.keys) and is_backward(self.unwrapped[-1] % MODULUS, row.key)

    def within(self, segment: Range) -> Iterator[Candidate]:
        """The keys among a segment's bytes."""
        most = self.unwrapped[-1] if self.unwrapped else -1
        start = segment.start - MODULUS  # it may pass the end of the offsets, and hold the very first key behind it
        while start <= most:
            low = bisect_right(self.unwrapped, start)
            yield from self.keys[low : bisect_right(self.unwrapped, start + segment.length)]
            start += MODULUS


@dataclass(slots=True)
class HostConnections:
    """The connections of one port as the host saw them: when each began, and the newest segment of the last."""

    begun: list[int] = field(default_factory=list)
    newest: int = 0
    key: int = 0

    def place(self, path: PathRow) -> int:
        """The number of a path's connection. Paths come in the order in which they ended."""
        if self.begun and path.begun <= self.newest:
            return max(bisect_right(self.begun, path.begun) - 1, 0)
        if not self.begun or is_backward(self.key, path.key_to):
            self.begun.append(path.begun)
        self.newest, self.key = path.begun, path.key_to
        return len(self.begun) - 1


def is_backward(before: int, after: int) -> bool:
    return measure(before, after) > MODULUS // 2


@dataclass(frozen=True, slots=True)
class JoinedKey:
    """A followed key with its path, or the reason why it has none."""

    followed: Followed
    path: PathRow | None = None
    missing: str = ""
    answers: int = 0
    """Paths whose answers have a part of the echo."""
    is_coalesced: bool = False
    """Whether its segment has further keys."""


@dataclass(frozen=True, slots=True)
class JoinedLogin:
    """A followed login with all paths of its connection up to the prompt, in the order in which they ended."""

    followed: Followed
    paths: Sequence[PathRow]


@dataclass(slots=True)
class JoinedHost:
    """What is known of all followed keys at one host."""

    name: str
    keys: list[JoinedKey]
    logins: list[JoinedLogin]
    paths: int
    """Paths that the host's tracer wrote."""
    counts: list[PathCounts]
    """What it has counted in each segment."""
    others: list[tuple[Path, PathRow]] = field(default_factory=list)
    """Paths that came from no port of the driver, each with its segment's folder."""
    is_behind: bool = False
    """Whether its keys came by another host that is traced."""


class HostJoin:
    """Joins the paths of one host, one after another, with the keys that were followed."""

    def __init__(self, name: str, followed: Iterable[Followed]) -> None:
        self.name = name
        self.connections = divide_connections(followed)
        self.at_host = defaultdict[Place, HostConnections](HostConnections)
        self.early = defaultdict[tuple[Place, int], list[PathRow]](list)
        """Paths that may belong to a login, by connection at the host."""
        self.terminals = list_terminals(self.connections)
        self.counts = dict[Path, PathCounts]()
        self.paths = 0
        self.others = list[tuple[Path, PathRow]]()

    def take(self, segment: Path, record: PathRecord) -> None:
        if record.counts:
            self.counts[segment] = record.counts
        if record.path:
            self.paths += 1
            self._take_path((segment, record.path.port, record.path.terminal), record.path)

    def _take_path(self, place: Place, path: PathRow) -> None:
        if path.port is None:
            if keys := self.terminals.get(place):
                keys.take(path)
            return
        if not (connections := self.connections.get(place)):
            self.others.append((place[0], path))
            return
        number = self.at_host[place].place(path)
        for connection in connections:
            for candidate in connection.within(Range(path.key_from, path.key_to)):
                candidate.take(number, path)
        if any(path.echo_to <= login.followed.row.echo_to for each in connections for login in each.logins):
            self.early[place, number].append(path)

    def finish(self) -> JoinedHost:
        keys, logins = list[JoinedKey](), list[JoinedLogin]()
        for place, connections in self.connections.items():
            at_host = len(self.at_host[place].begun) if place in self.at_host else 0
            for number, connection in enumerate(connections):
                matched = number if at_host in (0, len(connections)) else None
                keys += settle_keys(connection.keys, matched)
                paths = self.early[place, matched] if matched is not None else []
                logins += (JoinedLogin(each.followed, paths) for each in connection.logins)
        return JoinedHost(self.name, mark_coalesced(keys), logins, self.paths, list(self.counts.values()), self.others)


def divide_connections(followed: Iterable[Followed]) -> dict[Place, list[Connection]]:
    """The followed keys by port or terminal, divided into connections."""
    by_place = defaultdict[Place, list[Followed]](list)
    for each in followed:
        by_place[each.segment, each.row.port, each.row.terminal].append(each)
    divided = dict[Place, list[Connection]]()
    for place, rows in by_place.items():
        connections = [Connection()]
        for each in sorted(rows, key=lambda each: each.row.sent):
            if place[1] is not None and connections[-1].begins_anew(each):
                connections.append(Connection())
            connections[-1].add(Candidate(each))
        divided[place] = connections
    return divided


class TerminalKeys:
    """The keys that were typed at a terminal of this machine, in order of time."""

    def __init__(self, keys: Iterable[Candidate]) -> None:
        self.keys = sorted(keys, key=lambda each: each.followed.row.sent)
        self.sent = [each.followed.row.sent for each in self.keys]

    def take(self, path: PathRow) -> None:
        """Give a path to the keys in whose time it is; a key keeps the one that fills it best."""
        end = path.begun + path.ns
        sent = bisect_left(self.sent, path.begun + AT_TERMINAL)
        for candidate in self.keys[max(sent - TYPED_AHEAD, 0) : sent]:
            if end <= candidate.followed.row.shown + AT_TERMINAL:
                candidate.answers += 1
                known = candidate.paths.get(0)
                if known is None or measure_gap(candidate, path) < measure_gap(candidate, known):
                    candidate.paths[0] = path


def measure_gap(candidate: Candidate, path: PathRow) -> tuple[bool, bool, int]:
    """How badly a path fills a key's time: what ended after the echo was shown brought something else, mostly."""
    row, end = candidate.followed.row, path.begun + path.ns
    return not path.whole, end > row.shown, abs(path.begun - row.sent) + abs(row.shown - end)


def list_terminals(connections: Mapping[Place, list[Connection]]) -> dict[Place, TerminalKeys]:
    return {
        place: TerminalKeys(key for connection in own for key in connection.keys)
        for place, own in connections.items()
        if place[1] is None
    }


def settle_keys(keys: Iterable[Candidate], connection: int | None) -> Iterator[JoinedKey]:
    """Say which path each key has, if it is known which connection at the host is theirs; else why it has none."""
    for each in keys:
        path = None if connection is None else each.paths.get(connection)
        if path and path.whole:
            yield JoinedKey(each.followed, path, answers=each.answers)
        else:
            yield JoinedKey(each.followed, missing=why_missing(each, connection, path), answers=each.answers)


def why_missing(key: Candidate, connection: int | None, path: PathRow | None) -> str:
    if path:
        return NOT_WHOLE
    if is_control(key.followed.row.port, key.followed.row.key) and not (key.paths or key.is_refused):
        return CONTROL_KEY
    if connection is None:
        return PORT_REUSED
    return ANOTHER_ANSWER if key.is_refused else NO_PATH


def mark_coalesced(keys: list[JoinedKey]) -> list[JoinedKey]:
    """Mark the keys that share their path's segment with others. An answer is of a key that may have an echo too."""
    sharing = defaultdict[tuple[Place, str, int, int], list[int]](list)
    for number, each in enumerate(keys):
        if (path := each.path) and each.followed.row.port is not None:
            place = (each.followed.segment, path.port, path.terminal)
            sharing[place, each.followed.row.what, path.begun, path.key_to].append(number)
    for numbers in sharing.values():
        for number in numbers if len(numbers) > 1 else ():
            keys[number] = replace(keys[number], is_coalesced=True)
    return keys
