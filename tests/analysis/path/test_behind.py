"""The join of keys that a bastion passed on with their paths at the farm behind it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cuesta.analysis.path.behind import join_behind
from cuesta.analysis.path.join import HostJoin, JoinedHost
from cuesta.ledger.paths import Followed
from cuesta.records.reading import from_json
from cuesta.records.rows import FollowedRow, PathRecord
from tests.followed import Line, hop
from tests.run_folder import CLOCK, Row

SEGMENT = Path("run")
TO_FARM, TO_OTHERS = 43_210, 43_211
"""Ports of the bastion's connections."""


def join(name: str, lines: Sequence[Line], paths: Sequence[Row]) -> JoinedHost:
    rows = [row for line in lines for row in line.rows]
    followed = [
        Followed(from_json(FollowedRow, row), SEGMENT, row["sent"] - CLOCK / 1e9, row["shown"] - CLOCK / 1e9)
        for row in rows
    ]
    host = HostJoin(name, followed)
    for path in paths:
        host.take(SEGMENT, from_json(PathRecord, {"host_at": 0, "path": path}))
    return host.finish()


def pass_on(sent: int, answered: int, us: float, port: int = TO_FARM) -> list[Row]:
    """The hops of a key at the bastion."""
    beyond = hop("beyond", "", us, other="10.0.0.5:22", port=port, sent=sent, answered=answered)
    return [hop("on_cpu", "relay.py", 20.0), beyond, hop("on_cpu", "relay.py", 10.0)]


def at_farm(line: Line, keys: int, us: float) -> None:
    """Write the paths at the farm of keys of one byte, 100 bytes into both streams."""
    line.sent = line.received = 100
    for number in range(keys):
        line.answer(3.0 + number / 10, [hop("on_cpu", "sshd", us + number)])


def type_keys(line: Line, keys: int, us: float = 900.0, port: int = TO_FARM) -> Line:
    for number in range(keys):
        line.type(3.0 + number / 10, pass_on(100 + number, 101 + number, us, port))
    return line


def known(host: JoinedHost) -> list[int]:
    return [key.path.ns for key in host.keys if key.path]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_farm_has_its_part_of_the_keys_of_its_bastion(is_first: bool) -> None:
    line, behind = type_keys(Line(), 10), Line(TO_FARM)
    at_farm(behind, 10, 200.0)
    hosts = [join("bastion", [line], line.paths), join("farm", [line], behind.paths)]
    farm = next(host for host in join_behind(hosts if is_first else hosts[::-1]) if host.name == "farm")
    at_bastion = {key.followed.row.key: key.path for key in hosts[0].keys}
    assert farm.is_behind
    assert len(known(farm)) >= 5
    assert known(farm) == [200_000 + 1000 * (key - 1) for key, path in at_bastion.items() if path and find(behind, key)]


def find(behind: Line, key: int) -> bool:
    """Whether the farm's tracer wrote a path of the key that ends at an offset of the driver's stream."""
    return any(path["key_from"] == 99 + key for path in behind.paths)


@pytest.mark.parametrize(
    ("port", "us", "why"),
    [(TO_OTHERS, 900.0, "a connection to elsewhere"), (TO_FARM, 100.0, "the farm would have had it for longer")],
)
def test_no_part_is_invented(port: int, us: float, why: str) -> None:
    line, behind = type_keys(Line(), 10, us, port), Line(TO_FARM)
    at_farm(behind, 10, 200.0)
    farm = join_behind([join("bastion", [line], line.paths), join("farm", [line], behind.paths)])[1]
    assert known(farm) == [], why


def test_of_several_answers_the_last_one_that_had_arrived_counts() -> None:
    line, behind = Line(), Line(TO_FARM)
    line.type(3.0, pass_on(100, 103, 900.0))
    at_farm(behind, 1, 200.0)
    (first,) = behind.paths
    later = [first | {"echo_to": 101 + number, "ns": 200_000 + 1000 * number} for number in range(5)]
    farm = join_behind([join("bastion", [line], line.paths), join("farm", [line], later)])[1]
    assert known(farm) == [202_000]
