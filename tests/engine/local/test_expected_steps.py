"""The bounds of the measurement intervals that are expected, and of those that are cut."""

import threading

from cuesta import _native
from cuesta.engine.local.expected_steps import ExpectedSteps

HOUR = 3600 * 10**9


def test_bounds_come_in_order_until_no_step_follows() -> None:
    steps, now = ExpectedSteps(), _native.now()
    steps.expect(0, now - 3, now - 2)
    steps.expect(1, now - 2, now - 1)
    steps.expect_no_more()
    assert list(steps.bounds()) == [(0, False), (0, True), (1, False), (1, True)]


def test_a_step_that_is_cut_ends_early() -> None:
    steps, now = ExpectedSteps(), _native.now()
    steps.expect(0, now, now + HOUR)
    bounds = steps.bounds()
    assert next(bounds) == (0, False)
    steps.cut(0, _native.now())
    steps.expect(1, now, now + HOUR)
    assert [next(bounds), next(bounds)] == [(0, True), (1, False)]


def test_a_step_that_is_cut_before_it_begins_is_left_out() -> None:
    steps, now = ExpectedSteps(), _native.now()
    steps.expect(0, now + HOUR, now + 2 * HOUR)
    steps.cut(0, now + HOUR)
    steps.expect(1, now, now + HOUR)
    assert next(steps.bounds()) == (1, False)


def test_who_waits_for_a_bound_is_woken_by_a_cut_and_by_the_end() -> None:
    steps, now = ExpectedSteps(), _native.now()
    steps.expect(0, now, now + HOUR)
    begun, ended = threading.Event(), threading.Event()

    def wait() -> None:
        for _, ends in steps.bounds():
            (ended if ends else begun).set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert begun.wait(30)
    steps.cut(0, _native.now())
    assert ended.wait(30)
    steps.stop()
    thread.join(30)
    assert not thread.is_alive()
