"""What those who follow a run know of it, through its segments."""

from dataclasses import replace
from itertools import pairwise

import pytest

from cuesta.live.about import About
from cuesta.live.followed import MOST_KEPT, FollowedRun, Log, Said
from cuesta.live.timeline import MOST, Timeline
from cuesta.live.view import View, merge
from cuesta.records.rows import MarkRow
from tests.snapshots import observation


def view_at(elapsed: float) -> View:
    view = merge(observation(seconds=elapsed))
    assert view
    return view


def test_an_interval_is_a_point_however_often_it_is_seen() -> None:
    timeline = Timeline()
    for elapsed in (1.0, 1.0, 2.0, 2.0, 3.0):
        timeline.add(view_at(elapsed))
    assert [point.at for point in timeline.points] == [1.0, 2.0, 3.0]


def test_the_time_of_a_segment_follows_that_of_the_one_before() -> None:
    timeline = Timeline()
    for elapsed in (1.0, 2.0, 1.0, 2.0):
        timeline.add(view_at(elapsed))
    assert [point.at for point in timeline.points] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("seconds", [MOST, MOST + 1, 10 * MOST])
def test_a_long_run_has_points_at_equal_distances_and_never_too_many(seconds: int) -> None:
    timeline = Timeline()
    for elapsed in range(seconds):
        timeline.add(view_at(elapsed))
    at = [point.at for point in timeline.points]
    assert MOST / 2 - 1 <= len(at) <= MOST
    assert {later - earlier for earlier, later in pairwise(at)} == {at[1] - at[0]}
    assert at[0] == 0
    assert at[-1] >= seconds - 2 * (at[1] - at[0])


def test_a_mark_is_known_once_and_by_the_time_of_the_run() -> None:
    run = FollowedRun(About("a run"))
    first, second = MarkRow(seconds=0.5, note="one"), MarkRow(seconds=0.25, note="two")
    for elapsed, marks in ((1.0, ()), (2.0, (first,)), (3.0, (first,)), (1.0, (second,)), (2.0, (second,))):
        run.take(replace(observation(seconds=elapsed), marks=marks))
    assert list(run.marks.entries) == [Said(0.5, "one"), Said(3.25, "two")]


def test_a_log_forgets_the_oldest_and_still_counts_it() -> None:
    log = Log()
    for number in range(MOST_KEPT + 5):
        log.add(Said(number, "said"))
    assert [said.at for said in log.since(MOST_KEPT + 3)] == [MOST_KEPT + 3, MOST_KEPT + 4]
    assert len(log.since(0)) == MOST_KEPT
    assert not log.since(log.count)
