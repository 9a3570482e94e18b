"""The rounds of a login: the client's segment, the host's answer, the client's next segment, up to the prompt.

The chain is followed backward from the path that carries the prompt. Before each path comes the one with the newest
answer that had departed when its segment arrived, by the host's clock: the client cannot have seen more. What is
between is network and client. The tracer makes a path of the connection's establishment too, so the chain begins there.
Where the tracer leaves a segment out, to tell the price of following, or knows no path of it, there is a gap between
the segments of two rounds: what is between these is then not attributed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cuesta.analysis.path.followed_key import Hop, list_hops
from cuesta.analysis.path.join import JoinedLogin
from cuesta.analysis.path.ranges import Range
from cuesta.records.rows import PathRow


@dataclass(frozen=True)
class LoginRounds:
    """A login from its connection to its prompt."""

    took: int
    """ns, by the driver."""
    rounds: Sequence[PathRow]
    """In order."""
    segments: Mapping[int, int]
    """Of each segment that has a path: its last byte, by the one before its first."""

    @property
    def host(self) -> int:
        return sum(path.ns for path in self.rounds)

    @property
    def left_out(self) -> int:
        """Between two rounds, where a segment has no path: network, client, and the host's part for that segment."""
        pairs = pairwise(self.rounds)
        return sum(
            after.begun - before.begun - before.ns
            for before, after in pairs
            if has_gap(self.segments, before.key_to, after.key_from)
        )

    @property
    def outside(self) -> int:
        """Network and client."""
        return self.took - self.host - self.left_out

    @property
    def hops(self) -> list[Hop]:
        return [hop for path in self.rounds for hop in list_hops(path.hops)]

    @property
    def unclosed(self) -> int:
        """What of the host's part no hop accounts for, and what was left out."""
        return self.host - sum(hop.ns for hop in self.hops) + self.left_out


def follow_login(login: JoinedLogin) -> LoginRounds | None:
    """None if no path carries the prompt, or the chain does not reach back to the connection."""
    row = login.followed.row
    paths = [path for path in login.paths if path.whole]
    last = max(
        (path for path in paths if Range(path.echo_from, path.echo_to).holds(row.echo_to)),
        key=lambda path: path.begun,
        default=None,
    )
    if last is None:
        return None
    rounds = chain_back(paths, last)
    is_from_connection = rounds[0].key_from == 0
    segments = {path.key_from: path.key_to for path in paths if path.key_to > path.key_from}
    return LoginRounds(login.followed.took, rounds, segments) if is_from_connection else None


def has_gap(segments: Mapping[int, int], start: int, end: int) -> bool:
    """Whether some of the bytes behind `start`, up to `end`, came in a segment without a path."""
    while start < end:
        if start not in segments:
            return True
        start = segments[start]
    return False


def chain_back(paths: Iterable[PathRow], last: PathRow) -> list[PathRow]:
    """The path of each round, the first one first."""
    by_departure = sorted(paths, key=lambda path: (path.begun + path.ns, path.begun))
    rounds = [last]
    for path in reversed(by_departure):
        if path.begun + path.ns < rounds[-1].begun:
            rounds.append(path)
    return rounds[::-1]
