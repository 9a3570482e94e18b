"""The join of followed keys with their paths."""

from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuesta.analysis.path.join import HostJoin, JoinedKey
from cuesta.analysis.path.ranges import MODULUS, is_control
from cuesta.ledger.paths import Followed
from cuesta.records.reading import from_json
from cuesta.records.rows import FollowedRow, PathRecord
from tests.followed import HOST_CLOCK, OUTSIDE, Line, at_shell, find_end, hop
from tests.run_folder import CLOCK, NANO, Row

SEGMENT = Path("run")
ECHO = [hop("on_cpu", "sshd", 100.0)]


def join(lines: Iterable[Line], paths: Sequence[Row] | None = None) -> list[JoinedKey]:
    """Join what was followed on lines with their paths, or with other `paths`; the keys in the order of typing."""
    own = [row for line in lines for row in line.paths]
    rows = [row for line in lines for row in line.rows]
    followed = [
        Followed(from_json(FollowedRow, row), SEGMENT, row["sent"] - CLOCK / 1e9, row["shown"] - CLOCK / 1e9)
        for row in rows
    ]
    joined = HostJoin("", followed)
    for path in sorted(own if paths is None else paths, key=find_end):
        joined.take(SEGMENT, from_json(PathRecord, {"host_at": 0, "path": path}))
    return sorted(joined.finish().keys, key=lambda key: key.followed.row.sent)


def type_keys(line: Line, keys: int, begin: float = 3.0) -> Line:
    for number in range(keys):
        line.type(begin + number / 10, [hop("on_cpu", "sshd", 100.0 + number)])
    return line


def times(keys: Iterable[JoinedKey]) -> list[int | None]:
    return [key.path.ns if key.path else None for key in keys]


@given(st.integers(0, 2 * MODULUS), st.integers(0, 2 * MODULUS), st.integers(1, 30))
@example(MODULUS - 1, 0, 1)
def test_each_key_gets_its_own_path_wherever_the_streams_are(sent: int, received: int, keys: int) -> None:
    found = join([type_keys(Line(sent=sent, received=received), keys)])
    for number, key in enumerate(found):
        is_left_out = is_control(20_000, (sent + number + 1) % MODULUS)
        assert key.path is None if is_left_out else key.path and key.path.ns == 100_000 + 1000 * number
        assert key.missing == ("control" if is_left_out else "")


@pytest.mark.parametrize("start", [0, MODULUS - 5])
def test_keys_pass_the_end_of_the_offsets(start: int) -> None:
    found = join([type_keys(Line(sent=start, received=start), 10)])
    assert all(key.path or key.missing == "control" for key in found)
    assert sum(key.path is not None for key in found) >= 7


def test_clocks_do_not_matter() -> None:
    line = type_keys(Line(), 10)
    before = times(join([line]))
    for path in line.paths:
        path["begun"] += 10**18
    assert times(join([line])) == before


def test_lines_are_told_apart_by_their_ports() -> None:
    one, other = type_keys(Line(20_000), 8), Line(20_001, user=1)
    for number in range(8):
        other.type(3.01 + number / 10, [hop("on_cpu", "sshd", 500.0)])
    by_port = {
        port: [key.path.ns for key in join([one, other]) if key.path and key.path.port == port]
        for port in (20_000, 20_001)
    }
    assert set(by_port[20_001]) == {500_000}
    assert max(by_port[20_000]) < 108_000


def uncontrolled() -> int:
    """An offset behind which no key is left out for a while."""
    return next(start for start in count() if not any(is_control(20_000, start + key) for key in range(1, 6)))


def test_of_several_paths_of_a_key_the_one_with_the_end_of_its_echo_counts() -> None:
    """A program that writes its echo in two pieces, and whose key still counts when the next echo is written."""
    line = Line(sent=uncontrolled())
    line.type(3.0, ECHO)
    (own,) = line.paths
    row = line.rows[0]
    row["echo_to"] = 3  # the driver's echo has three bytes
    first = own | {"echo_from": 0, "echo_to": 2, "ns": 50_000}
    second = own | {"echo_from": 2, "echo_to": 3, "ns": 40_000_000}
    later = own | {"echo_from": 3, "echo_to": 4, "ns": 90_000_000}
    (key,) = join([line], [first, second, later])
    assert (key.path and key.path.ns, key.answers) == (40_000_000, 2)


def test_a_path_that_ended_at_another_answer_is_refused() -> None:
    line = Line(sent=uncontrolled())
    line.type(3.0, ECHO)
    (own,) = line.paths
    (key,) = join([line], [own | {"echo_from": 5, "echo_to": 9}])
    assert (key.path, key.missing) == (None, "another_answer")
    (key,) = join([line], [own | {"whole": False}])
    assert (key.path, key.missing) == (None, "not_whole")
    (key,) = join([line], [])
    assert (key.path, key.missing) == (None, "no_path")  # a key that died
    (key,) = join([line], [own, own | {"whole": False, "ns": 1}])
    assert key.path
    assert key.path.whole


@pytest.mark.parametrize("order", [1, -1])
def test_of_paths_that_depart_together_the_one_that_was_written_first_counts(order: int) -> None:
    line = Line()
    line.type(3.0, [hop("on_cpu", "sshd", 20.0), hop("held", "", 180.0, why="cork")])
    (first,) = line.paths
    again = first | {"hops": [hop("sleeping", "sshd", 150.0, ended=150_000), hop("held", "", 50.0, ended=200_000)]}
    (key,) = join([line], [first, again][::order])
    assert key.path
    assert [each.kind for each in key.path.hops] == ["on_cpu", "held"]


def test_keys_that_came_in_one_segment_share_its_path() -> None:
    line = Line(sent=uncontrolled())
    line.answer(3.0, ECHO, size=3)
    for key in (1, 2, 3):
        line.note("echo", 3.0 + key / 1000, line.sent - 3 + key, 0, 130_000)
    found = join([line])
    assert times(found) == [100_000] * 3
    assert all(key.is_coalesced for key in found)
    assert not any(key.is_coalesced for key in join([type_keys(Line(), 9)]))


def test_a_port_that_is_used_again_has_another_connection() -> None:
    first, second = type_keys(Line(), 9), Line()
    for number in range(9):
        second.type(20.0 + number / 10, [hop("on_cpu", "sshd", 700.0)])
    found = join([first, second])
    assert {ns for ns in times(found[9:]) if ns} == {700_000}
    assert max(ns for ns in times(found[:9]) if ns) < 109_000


def test_connections_that_cannot_be_told_apart_have_no_path() -> None:
    """The driver followed two, and the host saw three: which is which is not known."""
    lines = [type_keys(Line(), 9, begin) for begin in (3.0, 10.0, 20.0)]
    lines[1].rows.clear()
    found = join(lines)
    assert times(found) == [None] * 18
    assert {key.missing for key in found} == {"port_reused", "control"}


def test_a_local_terminal_is_joined_by_time() -> None:
    line = Line(port=None, terminal=7, sent=uncontrolled())
    for at, us in ((3.0, 100.0), (3.2, 200.0), (3.4, 300.0)):
        line.type(at, [hop("on_cpu", "bash", us)])
    offset = CLOCK - HOST_CLOCK  # the same machine: one clock
    here = [path | {"begun": path["begun"] + offset, "key_from": 0, "key_to": 0} for path in line.paths]
    assert times(join([line], here)) == [100_000, 200_000, 300_000]
    # The answer in pieces: what left the host after the echo was shown is not it, however little later.
    later = [path | {"ns": path["ns"] + OUTSIDE + 10_000} for path in here]
    assert times(join([line], [*here, *later])) == [100_000, 200_000, 300_000]
    elsewhere = [path | {"terminal": 8} for path in here]
    assert times(join([line], elsewhere)) == [None] * 3
    late = [path | {"begun": path["begun"] + NANO // 10} for path in here]
    assert times(join([line], late)) == [None] * 3


def test_the_end_of_an_answer_has_a_path_beside_the_echo_of_its_key() -> None:
    line = Line(sent=uncontrolled())
    line.type(3.0, at_shell())
    key = line.sent
    line.received += 500
    (echo,) = line.paths
    line.note("answer", 3.0, key, line.received - 400, 9_000_000)
    answer = echo | {"echo_from": echo["echo_to"], "echo_to": line.received, "ns": 8_000_000}
    assert sorted(filter(None, times(join([line], [echo, answer])))) == [echo["ns"], 8_000_000]
