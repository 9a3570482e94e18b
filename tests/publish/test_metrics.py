"""What other programs are told of a run."""

from collections.abc import Iterator
from itertools import count

import pytest

from cuesta.publish.instruments import NUMBERS
from cuesta.publish.metrics import MOST_EVENTS, Distribution, Event, Metrics
from cuesta.records.observation import Observation
from cuesta.records.rows import MeterRecord
from tests.meter_reports import traced
from tests.publish.observed import TOTALS, seen, take
from tests.snapshots import snapshot

ECHO = Distribution("echo", "editors", "")
SAVE = Distribution("response", "editors", "save all")


def instants() -> Iterator[float]:
    return map(float, count(100))


def make_metrics() -> Metrics:
    return Metrics("a run", clock=instants().__next__)


def counts_of(metrics: Metrics) -> dict[Distribution, int]:
    return {which: histogram.count for which, histogram in metrics.durations().items()}


def read(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    (number,) = (number for number in NUMBERS if number.name == name)
    return {tuple(values): value for values, value in number.read(metrics)}


def test_before_anything_is_seen_there_is_nothing_but_counts_of_zero() -> None:
    metrics = make_metrics()
    take(metrics, Observation(snapshots=[]))
    assert (metrics.view, metrics.durations(), metrics.events(), metrics.counts().keys) == (None, {}, [], 0)
    assert read(metrics, "cuesta.users") == {}


def test_durations_of_keys_and_transactions_are_told_by_group_and_no_others() -> None:
    metrics = make_metrics()
    of_others = {
        "editors/keys/overtaken": [1.0],
        "editors/line/opening": [1.0],
        "editors/save%20all/characters": [5e-9],
    }
    take(metrics, seen({"editors/keys/echo": [0.1, 0.2], "editors/save%20all/response": [0.5], **of_others}))
    assert counts_of(metrics) == {ECHO: 2, SAVE: 1}


def test_agents_add_up() -> None:
    metrics = make_metrics()
    agents = [snapshot(agent=agent, totals=TOTALS) for agent in (0, 1)]
    take(metrics, Observation(snapshots=agents))
    counts = metrics.counts()
    assert (counts.transactions, counts.keys, counts.characters) == (12, 80, {"in": 60, "out": 800})
    assert counts.errors == {"refused": 4}


def test_segments_add_up_and_moments_of_one_do_not() -> None:
    metrics = make_metrics()
    for seconds, keys in ((1.0, 1), (2.0, 3), (2.0, 3), (1.0, 10), (3.0, 20)):
        take(metrics, seen({"editors/keys/echo": [0.1] * keys}, seconds=seconds, totals={**TOTALS, "keys": keys}))
    assert counts_of(metrics) == {ECHO: 23}
    assert metrics.counts().keys == 23
    take(metrics, seen({}, seconds=0.5, totals=None))
    assert (counts_of(metrics), metrics.counts().keys) == ({ECHO: 23}, 23), "the third has counted nothing yet"


def test_steps_trials_marks_and_sentences_are_events() -> None:
    metrics = make_metrics()
    doing = {"keying": 2, "unstarted": 6}
    for step, total, phase in ((0, 30.0, None), (0, 30.0, "settle"), (0, 30.0, "measure"), (1, None, "settle")):
        take(metrics, seen({}, step=step, steps=2, total=total, phase=phase, doing=doing))
    metrics.mark("the cache\nis cold")
    metrics.tell("trial 2: 8 users: kept")
    assert metrics.events() == [
        Event("step", "step 1: 8 users", 101),
        Event("step", "trial 2: 8 users", 102),
        Event("mark", "the cache�is cold", 103),
        Event("told", "trial 2: 8 users: kept", 104),
    ]
    assert read(metrics, "cuesta.step.users") == {(): 8}
    assert read(metrics, "cuesta.event.timestamp")["mark", "the cache�is cold"] == 103


def test_each_run_of_several_begins_its_first_step() -> None:
    metrics = make_metrics()
    for seconds in (1.0, 2.0, 0.5, 1.5):
        take(metrics, seen({}, seconds=seconds))
    assert [event.note for event in metrics.events()] == ["step 1: 3 users"] * 2


def test_only_the_newest_events_are_kept() -> None:
    metrics = make_metrics()
    for number in range(MOST_EVENTS + 5):
        metrics.mark(str(number))
    assert [event.note for event in metrics.events()] == [str(number) for number in range(5, MOST_EVENTS + 5)]


def test_the_host_is_told_by_its_number_as_a_part_of_its_cpus() -> None:
    metrics = make_metrics()
    moment = snapshot()
    unmetered = MeterRecord(at=0, gap="no meters")
    take(metrics, Observation(snapshots=[moment], meters=[unmetered, MeterRecord(at=0, row=traced())]))
    cpu = read(metrics, "cuesta.host.cpu")
    assert {host for host, _ in cpu} == {"1"}
    assert cpu["1", "user"] == pytest.approx(0.2)
    by_cause = {("1", "user_and_calls"): 0.1, ("1", "interrupts"): 0.005}
    assert read(metrics, "cuesta.host.cpu_by_cause") == pytest.approx(by_cause)


@pytest.mark.parametrize("name", [number.name for number in NUMBERS])
def test_each_number_has_a_value_for_each_of_its_attributes(name: str) -> None:
    metrics = make_metrics()
    take(metrics, seen({}, doing={"keying": 1}))
    metrics.mark("here")
    (number,) = (number for number in NUMBERS if number.name == name)
    values = [*number.read(metrics)]
    assert all(len(attributes) == len(number.attributes) for attributes, _ in values)
    assert values or name.startswith("cuesta.host."), "only the host is not metered here"
