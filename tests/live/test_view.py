import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Event
from typing import Any

import pytest

from cuesta.engine.console import Requests
from cuesta.live import About, watch
from cuesta.live.view import merge
from cuesta.records.observation import Observation
from tests.snapshots import observation, snapshot


@contextmanager
def watching(*, quiet: bool = False) -> Iterator[Callable[[Observation], None]]:
    """Yields what shows a run, not as a live view."""
    with watch(About("a run"), Requests(), Event(), quiet=quiet, plain=True) as shown:
        yield shown.look


def test_agents_are_added_up_exactly() -> None:
    quick, slow = [0.1] * 98, [0.3, 0.9]
    agents = [snapshot(response=quick), snapshot(users=4, transactions=4, length=0.5, response=slow, seconds=9.0)]
    view = merge(Observation(snapshots=agents))
    assert view is not None
    assert (view.users, view.per_s, view.errors, view.elapsed) == (7, 13.0, 2, 9.0)
    assert view.response is not None
    times = (view.response.p50, view.response.p99)
    assert times == pytest.approx((0.1, 0.3), rel=0.001), "of all transactions, not of the slowest agent"
    assert str(view) == "measure  9/30 s  7 users  13.0 transactions/s  response p50 100 ms p99 300 ms  2 errors"


def test_users_who_wait_for_long_are_shown() -> None:
    stuck = {"answers": 1, "prompts": 1, "echoes": 1, "keys": 3, "oldest": 8.0}
    said = str(merge(Observation(snapshots=[snapshot(waiting=stuck), snapshot()])))
    assert said.endswith("; 2 users waiting for the host, the longest for 8.00 s")


def test_a_long_wait_is_shown_with_the_row_in_which_the_cursor_stands() -> None:
    waiting = {"answers": 2, "prompts": 0, "echoes": 0, "keys": 0, "oldest": 8.0}
    wait = {"users": 1, "seconds": 8.0, "condition": "Line /root@vm/", "row": "> "}
    agents = [snapshot(waiting=waiting, long_wait=each) for each in (wait, wait | {"seconds": 7.0}, None)]
    assert str(merge(Observation(snapshots=agents))).endswith(
        "; 2 users have waited 8 s for Line /root@vm/; the screen shows `> `"
    )
    other = [wait | {"row": "\x1b[1m" + 50 * "x"}, wait | {"row": "", "seconds": 7.0}]
    said = str(merge(Observation(snapshots=[snapshot(waiting=waiting, long_wait=each) for each in other])))
    assert said.endswith(f"; 1 user has waited 8 s for Line /root@vm/; the screen shows `�[1m{35 * 'x'}…`")
    wide = snapshot(waiting=waiting, long_wait=wait | {"row": 30 * "検"})
    assert str(merge(Observation(snapshots=[wide]))).endswith(f"the screen shows `{19 * '検'} …`")
    bare = [wait | {"condition": "Disconnect", "row": None}, wait | {"row": "", "seconds": 9.0}]
    rows = [str(merge(observation(waiting=waiting, long_wait=each))) for each in bare]
    assert rows[0].endswith("; 1 user has waited 8 s for Disconnect")
    assert rows[1].endswith("; 1 user has waited 9 s for Line /root@vm/; the cursor's row is empty")


def test_a_phase_that_overruns_shows_at_most_its_planned_end() -> None:
    view = merge(observation(seconds=31.0, phase="drain"))
    assert str(view).startswith("drain  31/31 s")


def test_before_the_first_event_nothing_is_shown() -> None:
    assert merge(Observation(snapshots=[])) is None
    view = merge(observation(phase=None, length=0.0, steps=3))
    assert str(view) == "start 1/3  10/30 s  3 users  0.0 transactions/s  response -  1 error"


def test_without_a_terminal_there_is_a_row_every_five_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with watching() as look:
        look(Observation(snapshots=[]))
        for second in (0.0, 1.0, 4.9, 5.0, 9.0, 10.5, 0.2):  # the last snapshot belongs to a new segment
            look(observation(seconds=second))
    rows = capsys.readouterr().err.splitlines()
    assert [row.split("  ")[1] for row in rows] == ["0/30 s", "5/30 s", "10/30 s", "0/30 s"]


def test_without_a_terminal_a_long_wait_is_shown_at_once_and_when_measuring_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def wait(second: float, **given: Any) -> Observation:
        waiting = {"answers": 0, "prompts": 2, "echoes": 0, "keys": 0, "oldest": second - 1.0}
        return observation(seconds=second, waiting=waiting, **given)

    stuck = {"users": 2, "seconds": 6.0, "condition": "Screen", "row": None}
    with watching() as look:
        for second in (0.0, 4.0, 6.0):
            look(wait(second))
        look(wait(7.0, long_wait=stuck))
        look(wait(8.0, long_wait=stuck))
        look(wait(9.0, long_wait=stuck, phase="drain"))
    rows = capsys.readouterr().err.splitlines()
    assert [row.split("  ")[1] for row in rows] == ["0/30 s", "6/30 s", "7/30 s", "9/30 s"]
    assert rows[1].endswith("; 2 users waiting for the host, the longest for 5.00 s")
    assert rows[2].endswith("; 2 users have waited 6 s for Screen")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("row", ["> ", "[me@vm etc]$ [/b]"])
def test_a_terminal_of_80_columns_shows_all_of_a_long_row(monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    for name, value in {"COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    waiting = {"answers": 1, "prompts": 0, "echoes": 0, "keys": 0, "oldest": 8.0}
    wait = {"users": 1, "seconds": 8.0, "condition": "Line /root@vm/", "row": row}
    with watching() as look:
        look(observation(waiting=waiting, long_wait=wait))
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|━|╸|╺", "", terminal.getvalue())
    assert f"1 user has waited 8 s for Line /root@vm/; the screen shows `{row}`" in " ".join(shown.split())


def test_a_terminal_that_cannot_redraw_receives_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    with watching() as look:
        for second in (0.0, 5.0):
            look(observation(seconds=second))
    assert [row.split("  ")[1] for row in terminal.getvalue().splitlines()] == ["0/30 s", "5/30 s"]


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(quiet=True) as look:
        look(observation())
    assert capsys.readouterr().err == ""
