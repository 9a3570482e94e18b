"""Whether a load has settled, told second by second."""

from collections.abc import Iterable
from typing import Any

import pytest

from cuesta.engine.settling import Settling
from tests.snapshots import snapshot

WINDOW = 3
USERS = 8


def second(
    transactions: int = 0,
    response: float | None = None,
    keys: int = 0,
    echo: float | None = None,
    users: int = USERS,
    waiting: int = 1,
    silent: int = 0,
) -> dict[str, Any]:
    """What an agent says of a second; times in seconds."""
    return {
        "users": users,
        "silent": silent,
        "waiting": {"answers": waiting, "oldest": 0.0},
        "transactions": transactions,
        "response": response and [response],
        "keys": keys,
        "echo": echo and [echo],
    }


def settled(rows: Iterable[dict[str, Any]], since: float = 0.0) -> bool:
    settling = Settling(WINDOW, USERS)
    for end, row in enumerate(rows, 1):
        settling.add_second([snapshot(seconds=float(end), **row)])
    return settling.has_settled(since)


STEADY = second(transactions=10, response=0.1, keys=50, echo=0.003)
TYPING = second(keys=50, echo=0.003)


@pytest.mark.parametrize("row", [STEADY, TYPING, second(transactions=10, response=0.1)])
def test_a_load_whose_answers_keep_their_level_has_settled(row: dict[str, Any]) -> None:
    assert settled([row] * 2 * WINDOW)
    assert not settled([row] * (2 * WINDOW - 1))
    assert not settled([row] * 2 * WINDOW, since=1.0)


def test_keys_tell_where_transactions_are_rare() -> None:
    assert settled([STEADY, *[TYPING] * 2 * WINDOW])


@pytest.mark.parametrize(
    "later",
    [
        second(transactions=10, response=0.2, keys=50, echo=0.003),
        second(transactions=5, response=0.1, keys=50, echo=0.003),
        second(keys=50, echo=0.006),
        second(keys=20, echo=0.003),
    ],
    ids=["slower answers", "fewer answers", "slower echoes", "fewer keys"],
)
def test_a_level_that_changed_has_not_settled(later: dict[str, Any]) -> None:
    before = STEADY if later["transactions"] else TYPING
    assert not settled([before] * WINDOW + [later] * WINDOW)


@pytest.mark.parametrize("frozen", [second(), second(keys=50)], ids=["idle", "typed at"])
def test_a_host_that_answers_nothing_has_not_settled(frozen: dict[str, Any]) -> None:
    assert not settled([frozen] * 4 * WINDOW)


@pytest.mark.parametrize(
    ("rows", "is_unanswered"),
    [
        ([], False),
        ([second()] * WINDOW, True),
        ([STEADY] + [second()] * WINDOW, True),
        ([second()] * WINDOW + [TYPING], False),
        ([second(waiting=0)] * WINDOW, False),
        ([second(waiting=0, users=USERS - 1)] * WINDOW, True),
        ([second(transactions=5, silent=5, response=0.5)] * WINDOW, True),
    ],
    ids=["not begun", "silent", "became silent", "answers again", "all think", "without a line", "ended by silence"],
)
def test_users_are_unanswered_that_lets_users_wait(rows: list[dict[str, Any]], is_unanswered: bool) -> None:
    settling = Settling(WINDOW, USERS)
    for end, row in enumerate(rows, 1):
        settling.add_second([snapshot(seconds=float(end), **row)])
    assert settling.is_unanswered() is is_unanswered


def test_a_load_settles_when_the_users_of_the_one_before_have_left() -> None:
    crowded = STEADY | {"users": USERS + 1}
    assert not settled([crowded] * 4 * WINDOW)
    assert not settled([crowded] + [STEADY] * (2 * WINDOW - 1))
    assert settled([crowded] + [STEADY] * 2 * WINDOW)


def test_users_who_were_turned_away_are_waited_for_until_they_have_tried_again() -> None:
    def settled_with(lacking: int, join_by: float) -> bool:
        settling = Settling(WINDOW, USERS, least_users=USERS, join_by=join_by)
        rows = [STEADY | {"users": USERS - 1}] * lacking + [STEADY] * (2 * WINDOW)
        for end, row in enumerate(rows[: 2 * WINDOW], 1):
            settling.add_second([snapshot(seconds=float(end), **row)])
        return settling.has_settled(0.0)

    assert settled_with(0, join_by=60)
    assert not settled_with(1, join_by=60)
    assert settled_with(2 * WINDOW, join_by=0), "the host takes no more"


def test_a_second_counts_when_all_agents_have_it() -> None:
    settling = Settling(WINDOW, USERS)
    for end in range(1, 2 * WINDOW + 1):
        settling.add_second([snapshot(seconds=float(end), **STEADY), snapshot(seconds=float(end - 1), **STEADY)])
    assert not settling.has_settled(0.0)


def drained(waiting: Iterable[int], since: float = 0.0) -> bool:
    settling = Settling(WINDOW, USERS)
    for end, count in enumerate(waiting, 1):
        settling.add_second([snapshot(seconds=float(end), **second(waiting=count))])
    return settling.has_drained(since)


def test_a_backlog_is_worked_off_when_users_are_free_and_no_more_become_so() -> None:
    assert drained([8, 6, 4, 1, 1, 1, 1, 1, 1])
    assert not drained([8] * 9), "all users wait: more arrivals may wait for one"
    assert not drained([7, 7, 7, 4, 3, 2]), "still falling"
    assert not drained([1] * 9, since=4.0), "too few seconds since then"
