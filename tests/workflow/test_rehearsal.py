"""How long runs must be, and what is in the way of any, by what the first run of each version shows."""

import pytest

from cuesta.engine.console import Console
from cuesta.workflow.rehearsal import (
    ENOUGH,
    FAILURES,
    FEWEST_KEYS,
    KEYS,
    LONGEST,
    SILENT,
    Rehearsal,
    choose_key_rate,
    choose_lengths,
)
from tests.snapshots import observation


def rehearse(
    *seconds: int, keys: int = 0, errors: int = 0, wait: dict[str, object] | None = None, echo: float = 0.03
) -> Rehearsal:
    """Watch a run that times the given numbers of keys, second by second."""
    rehearsal = Rehearsal(Console(), overhead=0.5)
    for second, count in enumerate(seconds, 1):
        echoes = [echo * (1 + number) for number in range(count)]
        rehearsal(observation(seconds=second, echo=echoes, response=[], keys=keys, errors=errors, long_wait=wait))
    return rehearsal


def test_it_ends_when_enough_keys_were_timed() -> None:
    assert not rehearse(0, 5, ENOUGH - 6).enough.is_set()
    assert rehearse(0, 5, ENOUGH - 5).enough.is_set()


def test_it_ends_when_nothing_will_come() -> None:
    silent = rehearse(*[0] * int(SILENT - 1), keys=8)
    assert not silent.enough.is_set()
    assert rehearse(*[0] * int(SILENT), keys=8).enough.is_set()
    assert not rehearse(*[0] * int(LONGEST - 1)).enough.is_set(), "it may still become ready"
    assert rehearse(*[0] * int(LONGEST)).enough.is_set()
    assert not rehearse(0, errors=FAILURES - 1).enough.is_set()
    assert rehearse(0, errors=FAILURES).enough.is_set()
    assert not rehearse(5, keys=8, errors=FAILURES).enough.is_set()
    assert rehearse(1, keys=30, errors=FAILURES).enough.is_set(), "what the terminal echoed while the program started"


def test_it_ends_when_the_user_stops_it() -> None:
    rehearsal = rehearse(1)
    rehearsal.console.stop.set()
    rehearsal(observation(seconds=2.0, echo=[], response=[]))
    assert rehearsal.enough.is_set()


def test_it_says_why_nothing_was_timed() -> None:
    assert rehearse(0, 1).explain_nothing() is None
    assert rehearse(0, 0, keys=6).explain_nothing() == (
        "nothing echoed: 12 keys were typed, and none appeared; give a tape that goes to where text is typed: --tape"
    )
    assert "and only 1 appeared" in str(rehearse(1, 0, 0, keys=6).explain_nothing())
    at_login = {"users": 1, "seconds": 8.0, "condition": "Ready", "row": "\x1blogin: "}
    assert rehearse(0, 0, wait=at_login).explain_nothing() == (
        "it was not ready to be typed at within 2 s; its screen shows `�login: `"
    )


def test_runs_begin_after_the_slower_start_and_time_enough_keys_at_the_slower_pace() -> None:
    quick, slow = rehearse(9, 10, 10, 10), rehearse(0, 0, 1, 5, 5, 5)
    lengths = choose_lengths([quick, slow], 1000, 12)
    assert (lengths.settle, lengths.measure) == (3.0, KEYS / 5)
    assert lengths.pair == pytest.approx(2 * (0.5 + 3 + KEYS / 5))
    assert lengths.pairs == int(1000 / lengths.pair)


def test_runs_are_shorter_where_more_pairs_must_fit_but_not_of_too_few_keys() -> None:
    rehearsals = [rehearse(5, 5, 5, 5)] * 2
    wanted = choose_lengths(rehearsals, 160, 12)
    assert FEWEST_KEYS / 5 < wanted.measure < KEYS / 5
    assert wanted.pairs == 12
    assert choose_lengths(rehearsals, 60, 12).measure == FEWEST_KEYS / 5


def test_a_slow_program_is_typed_at_so_slowly_that_keys_do_not_queue() -> None:
    """The first of the keys of a second waits for no other; the next ones queue."""
    quick, slow = rehearse(10, 10, 10, echo=0.05), rehearse(*[6] * 5, echo=0.15)
    assert choose_key_rate([quick, quick]) is None
    assert choose_key_rate([quick, slow]) == pytest.approx(0.6 / 0.15, rel=0.03)
    lengths = choose_lengths([quick, slow], 1000, 12, key_rate=4.0)
    assert lengths.measure == pytest.approx(KEYS / (0.7 * 4.0), abs=0.1)
