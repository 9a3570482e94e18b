"""Stalls of all users at once, found in the log of keys."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.stalls import find_stalls, sum_up_stalls
from cuesta.analysis.summary import summarise
from cuesta.ledger.keys import Key
from cuesta.report.run_report import text
from tests.run_folder import CLOCK, RunFolder

QUICK = 0.001


def press(user: int, sent: float, shown: float) -> Key:
    return Key("typists", user, sent, sent, shown)


def type_at(host: Iterable[tuple[float, float]], users: int = 10, seconds: float = 10.0) -> Iterator[Key]:
    """Users who type five keys a second, not in step, at a host that does nothing between two instants."""
    stretches = list(host)
    for number in range(int(5 * users * seconds)):
        sent = number / (5 * users)
        ends = [end for begin, end in stretches if begin <= sent < end]
        yield press(number % users, sent, (ends[0] if ends else sent) + QUICK)


def test_a_host_that_answers_nobody_for_a_while_is_found() -> None:
    stalls = sum_up_stalls(type_at([(3.0, 3.1), (7.0, 7.5)]), QUICK)
    assert (stalls.count, stalls.users) == (2, 10)
    assert stalls.longest == pytest.approx(0.5 + QUICK)
    assert stalls.seconds == pytest.approx(0.6 + 2 * QUICK)


def test_the_longest_stall_has_the_users_who_waited_in_it() -> None:
    stalls = sum_up_stalls(type_at([(3.0, 3.09)]), QUICK)
    assert (stalls.count, stalls.users) == (1, 5)  # a key is sent every 20 ms


@given(st.floats(0.001, 0.2))
def test_a_slow_host_that_works_all_the_time_has_no_stall(echo: float) -> None:
    """Each key waits, but some key is shown every 20 ms, as at a server with a queue, or at a far host."""
    keys = [press(each.user, each.sent, each.sent + echo) for each in type_at([])]
    assert sum_up_stalls(keys, echo).count == 0


def test_a_driver_that_sleeps_is_no_host_that_stalls() -> None:
    """It sends what was due meanwhile when it wakes, and reads the echoes then."""
    keys = [*type_at([], seconds=1.0)]
    asleep = [press(each.user, 0.5, 0.5 + QUICK) if 0.3 < each.sent < 0.5 else each for each in keys]
    assert list(find_stalls(asleep, 0.020)) == []


def test_two_users_who_wait_at_once_are_no_stall() -> None:
    others = [press(2, at / 10, at / 10 + QUICK) for at in range(20)]
    alone = [press(0, 0.51, 0.59), press(1, 0.52, 0.59)]
    assert sum_up_stalls([*others, *alone], QUICK).count == 0
    assert sum_up_stalls([*others, *alone, press(3, 0.53, 0.59)], QUICK).users == 3


def test_a_user_whose_keys_hang_does_not_make_others_stall() -> None:
    keys = [*type_at([]), press(99, 0.5, 9.5)]
    assert sum_up_stalls(keys, QUICK).count == 0


def test_nothing_typed_is_no_stall() -> None:
    assert sum_up_stalls([], None).count == 0


def write_log(folder: Path, keys: Iterable[Key]) -> None:
    """Write keys as the driver does."""

    def write_row(key: Key) -> str:
        instants = (CLOCK + round(at * 1e9) for at in (key.due, key.sent, key.shown))
        return f'"{key.group}",{key.user},{",".join(map(str, instants))},,1,1\n'

    heads = "user_group,user,due,sent,shown,whole,frame_bytes,frame_keys\n"
    (folder / "agent-0/keys.csv").write_text(heads + "".join(map(write_row, keys)))


def test_a_report_tells_of_stalls_in_the_measurement_of_each_step(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", users=(10, 20), settle=2, measure=10).write()
    write_log(run, type_at([(1.0, 1.5), (4.0, 4.2), (8.0, 8.1), (20.0, 20.09)], seconds=24.0))
    summary = summarise(run)
    assert [step.stalls and step.stalls.count for step in summary.steps] == [2, 1]  # none of what settles
    shown = " ".join(str(text(summary)).split())
    assert "step 1: for 201 ms no key was echoed, though keys of 10 users waited; 2 such stalls took 302 ms" in shown
    assert "step 2: for 91.0 ms no key was echoed, though keys of 5 users waited" in shown
    assert "200 ms* 201 ms 0 20.0" in shown  # the row of step 1


def test_users_in_the_background_are_left_out(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", settle=2, measure=10).write()
    assert summarise(run).last.stalls is None  # no log
    write_log(run, type_at([(4.0, 4.2)], seconds=12.0))
    assert summarise(run).last.stalls is not None
    plan = (run / "run.json").read_text()
    (run / "run.json").write_text(plan.replace('"name": "interactive"', '"name": "typists", "background": true'))
    stalls = summarise(run).last.stalls
    assert stalls is not None
    assert stalls.count == 0
