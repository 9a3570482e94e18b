"""Meters for a terminal: what is printed, and that it fits."""

import time

from syrupy.assertion import SnapshotAssertion

from cuesta.report import meters
from tests.sheets import missing, sheet

WIDTH = 100


def test_a_sheet_of_a_host(snapshot: SnapshotAssertion) -> None:
    assert "\n" + meters.text(sheet(wall=0)).replace(*when()) + "\n" == snapshot


def test_rows(snapshot: SnapshotAssertion) -> None:
    absent = {name: missing() for name in sheet()["cpu"]}
    rows = [meters.head(), meters.row(sheet()), meters.row(sheet(part=False)), meters.row(sheet(cpu=absent))]
    assert "\n" + "\n".join(each[8:] for each in rows) + "\n" == snapshot


def test_no_row_is_wider_than_a_terminal() -> None:
    busy = sheet()
    busy["counts"]["minor_faults"] = {"value": {"count": 10**9, "per_s": 8e6}, "tier": "plain"}
    assert max(map(len, [*meters.text(sheet()).splitlines(), meters.head(), meters.row(busy)])) <= WIDTH


def test_what_came_from_outside_cannot_command_a_terminal() -> None:
    text = meters.text(sheet(subject="cgroup:/\x1b[2J", notes=["\x1b]0;x\x07"]))
    assert "\x1b" not in text
    assert "\x07" not in text


def when() -> tuple[str, str]:
    """Give the beginning of the epoch in this zone, and what stands for it."""

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(0)), "THEN"
