"""Events for a live page: the first has the whole run, each later one only new rows, also for a slow page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cuesta.errors import InputError
from cuesta.live.about import About
from cuesta.live.followed import Course, Ending, FollowedRun
from cuesta.records.messages import UserScreen
from cuesta.records.reading import from_json
from cuesta.site.live_page import MOST_USERS, MOST_WATCHED, TELLING, LivePage, _Sent, read_users
from tests.snapshots import observation


class Asked:
    """What pages have asked of a run."""

    def __init__(self) -> None:
        self.watched: list[Sequence[int]] = []
        self.marks: list[str] = []
        self.stops = 0

    def watch(self, users: Sequence[int]) -> None:
        self.watched.append(users)

    def mark(self, note: str) -> None:
        self.marks.append(note)

    def stop(self) -> None:
        self.stops += 1


async def no_report(folder: Path) -> Response:
    raise InputError(f"{folder}: there is no run in it")


def screen(user: int, text: str = "$ ") -> UserScreen:
    rows = [[{"text": text}]]
    row = {"user": user, "seconds": 1.0, "columns": 80, "rows": rows, "cursor": [0, 2], "is_whole": True}
    return from_json(UserScreen, row)


def seen_for(seconds: int) -> FollowedRun:
    run = FollowedRun(About("a run"))
    for second in range(1, seconds + 1):
        run.take(observation(seconds=second))
    return run


def names(sent: _Sent, run: FollowedRun, users: Sequence[int] = ()) -> list[str]:
    return [name for name, _ in sent.catch_up(run, users)]


def test_a_page_that_keeps_up_is_told_each_point_and_moment_once() -> None:
    run, sent = seen_for(3), _Sent()
    assert names(sent, run) == ["begin", "moment"]
    assert names(sent, run) == []
    run.take(observation(seconds=4.0))
    run.tell("trial 1")
    assert names(sent, run) == ["told", "moment", "point"]


def test_a_page_that_was_away_is_told_the_whole_course_again() -> None:
    run, sent = seen_for(3), _Sent()
    assert names(sent, run) == ["begin", "moment"]
    for second in (4, 5, 6):
        run.take(observation(seconds=second))
    events = dict(sent.catch_up(run, ()))
    assert list(events) == ["begin", "moment"]
    assert isinstance(events["begin"], Course)
    assert [point.at for point in events["begin"].course] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_marks_and_sentences_are_told_again_with_the_course() -> None:
    run, sent = seen_for(2), _Sent()
    run.tell("trial 1")
    assert names(sent, run) == ["begin", "told", "moment"]
    for second in (3, 4):
        run.take(observation(seconds=second))
    assert names(sent, run) == ["begin", "told", "moment"], "a page forgets them when its course begins anew"


def test_a_page_gets_only_the_screens_that_it_asked_for_and_only_changed_ones() -> None:
    run, sent = FollowedRun(About("a run")), _Sent()
    run.take(replace(observation(), screens=[screen(3), screen(4)]))
    events = dict(sent.catch_up(run, [4]))
    assert events["screens"] == [screen(4)]
    assert "screens" not in names(sent, run, [4])
    run.take(replace(observation(), screens=[screen(3, "x"), screen(4)]))
    assert "screens" not in names(sent, run, [4])
    run.take(replace(observation(), screens=[screen(3), screen(4, "x")]))
    assert names(sent, run, [4])[-1] == "screens"


def test_what_all_pages_are_told_is_written_once() -> None:
    async def follow_by_many() -> list[dict[str, str]]:
        page = LivePage(seen_for(2), Asked(), no_report)
        streams = [page.stream(()) for _ in range(3)]
        told = []
        for stream in streams:
            events = [await anext(stream) for _ in range(2)]
            told.append({event.split()[1]: event for event in events})
            await stream.aclose()
        return told

    first, *others = anyio.run(follow_by_many)
    assert list(first) == ["begin", "moment"]
    assert all(events[name] is first[name] for events in others for name in first)


def test_the_end_is_told_last() -> None:
    run, sent = seen_for(1), _Sent()
    run.end(Ending(sentence="the run has ended"))
    assert names(sent, run) == ["begin", "moment", "end"]


def test_a_report_that_cannot_be_had_is_not_waited_for() -> None:
    async def load() -> None:
        run = seen_for(1)
        run.end(Ending(sentence="the run has ended", folder="nowhere"))
        page = LivePage(run, Asked(), no_report)
        async for _ in page.stream((), loads_report=True):
            pass
        with pytest.raises(InputError):
            await page.report(Request({"type": "http"}))
        with anyio.fail_after(30):
            await page.hand_over()

    anyio.run(load)


def test_the_drivers_are_asked_for_the_screens_of_open_pages_and_never_too_many() -> None:
    async def open_pages() -> Asked:
        asked = Asked()
        page = LivePage(seen_for(1), asked, no_report)
        streams = [page.stream(range(4 * number, 4 * number + 4)) for number in range(MOST_WATCHED // 4 + 1)]
        for stream in streams:
            await anext(stream)
        for stream in streams:
            await stream.aclose()
        return asked

    asked = anyio.run(open_pages)
    assert asked.watched[0] == [0, 1, 2, 3]
    assert max(map(len, asked.watched)) == MOST_WATCHED
    assert asked.watched[-1] == []


def test_nothing_waits_for_the_pages_of_a_run_that_was_killed() -> None:
    async def kill() -> None:
        page = LivePage(seen_for(1), None, no_report)
        stream = page.stream(())
        await anext(stream)
        with anyio.fail_after(TELLING / 2):
            await page.hand_over()
        await stream.aclose()

    anyio.run(kill)


@pytest.mark.parametrize("text", ["-1", "x", "1;2", "1," * MOST_USERS + "1", "99999999", "١"])
def test_users_that_are_not_a_few_numbers_are_refused(text: str) -> None:
    with pytest.raises(HTTPException):
        read_users(text)


def test_users_are_read() -> None:
    assert (read_users("3,17"), read_users("")) == ([3, 17], [])
