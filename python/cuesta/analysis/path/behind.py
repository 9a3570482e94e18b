"""Joins the keys that one traced host passed on with their paths at the next one, such as a farm's behind a bastion.

By the port of the connection between them, and by the offsets of its streams as either end counts them.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from cuesta.analysis.path.join import NO_PATH, JoinedHost, JoinedKey
from cuesta.records.rows import PathHop, PathRow

Connection = tuple[Path, int | None]
"""A segment's folder, and the port of the client's end."""


@dataclass(frozen=True, slots=True)
class PathsBehind:
    """A host's paths of one connection, in the order of their segments."""

    paths: Sequence[PathRow]
    starts: Sequence[int]
    """Of each path the offset before its first byte."""

    @classmethod
    def from_rows(cls, rows: Iterable[PathRow]) -> "PathsBehind":
        paths = sorted(rows, key=attrgetter("key_from", "echo_to"))
        return cls(paths, [path.key_from for path in paths])

    def find(self, beyond: PathHop) -> PathRow | None:
        """The path of what was sent, up to the last answer that had arrived; None if it is not known whole."""
        sent, answered = beyond.sent or 0, beyond.answered or 0
        last = bisect_right(self.starts, sent)
        start = self.starts[last - 1] if last else None
        own = (path for path in reversed(self.paths[:last]) if path.key_from == start)
        path = next((path for path in own if path.echo_to <= answered), None)
        return path if path and path.key_to > sent and path.whole and path.ns <= beyond.ns else None


def join_behind(hosts: Sequence[JoinedHost]) -> list[JoinedHost]:
    """Give each host that saw none of the driver's lines its part of the keys that another one passed on to it."""
    joined = list(hosts)
    for _ in hosts:  # each may be behind the one before
        for number, host in enumerate(joined):
            if host.others and not find_paths(host):
                joined[number] = pass_on(joined, host)
    return joined


def pass_on(hosts: Sequence[JoinedHost], behind: JoinedHost) -> JoinedHost:
    """A host with the keys of the first other one that passed some on to it."""
    rows = defaultdict[Connection, list[PathRow]](list)
    for segment, path in behind.others:
        rows[segment, path.port].append(path)
    known = {connection: PathsBehind.from_rows(own) for connection, own in rows.items()}
    for host in hosts:
        keys = [find_behind(key, known) for key in host.keys]
        if any(key.path for key in keys):
            return replace(behind, keys=keys, logins=[], is_behind=True)
    return behind


def find_behind(key: JoinedKey, known: dict[Connection, PathsBehind]) -> JoinedKey:
    for hop in key.path.hops if key.path else ():
        if hop.kind == "beyond" and (paths := known.get((key.followed.segment, hop.port))):
            path = paths.find(hop)
            return replace(key, path=path, missing="" if path else NO_PATH)
    return replace(key, path=None, missing=key.missing or NO_PATH)


def find_paths(host: JoinedHost) -> list[JoinedKey]:
    return [key for key in host.keys if key.path]
