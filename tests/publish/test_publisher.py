"""What the process that publishes a run is fed."""

import io
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.engine.console import Requests
from cuesta.live.about import About
from cuesta.live.followed import Ending
from cuesta.publish.messages import FromPublisher, Outlets, ToPublisher, encode
from cuesta.publish.publisher import Publisher, start_publisher
from cuesta.records.messages import WatchOrder
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json
from cuesta.records.rows import MarkRow
from tests.site.test_live_page import screen
from tests.snapshots import observation

COPY = "import sys; [print(row, end='', flush=True) for row in sys.stdin]"


def fed_by(seen: Sequence[Observation]) -> list[Observation]:
    """What the process is fed of these observations, if each is taken before the next."""
    command = [sys.executable, "-c", COPY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        publisher, fed = Publisher(process, io.BytesIO(), {}), list[Observation]()
        for number, each in enumerate(seen):
            publisher.look(each)
            publisher.tell(str(number))
            while (message := from_json(ToPublisher, json.loads(process.stdout.readline()))).told is None:
                assert message.seen
                fed.append(message.seen)
        publisher.end(Ending(sentence="the run has ended"))
        publisher.wait()
    return fed


def test_an_interval_is_fed_once_however_often_it_is_seen() -> None:
    fed = fed_by([observation(seconds=second) for second in (1.0, 1.0, 1.0, 2.0, 2.0)])
    assert [each.snapshots[0].seconds for each in fed] == [1.0, 2.0]


def test_of_an_interval_that_is_known_only_screens_are_fed() -> None:
    seen = observation(seconds=1.0)
    first, second = fed_by([seen, seen, replace(seen, screens=[screen(3)])])
    assert len(first.snapshots) == 1
    assert (second.snapshots, second.screens) == ((), (screen(3),))


def test_a_mark_is_fed_with_its_moment() -> None:
    seen = observation(seconds=1.0)
    _, marked = fed_by([seen, replace(seen, marks=(MarkRow(seconds=1.0, note="cold"),))])
    assert [mark.note for mark in marked.marks] == ["cold"]
    assert marked.snapshots == (seen.snapshots[0],)


def test_what_outlets_look_at_adds_up_and_a_process_that_fails_is_told() -> None:
    answers = (
        FromPublisher(watch=WatchOrder(users=(3,)), outlet="web"),
        FromPublisher(watch=WatchOrder(series=True), outlet="otlp"),
        FromPublisher(watch=WatchOrder(users=(4,)), outlet="web"),
    )
    requests, warnings, warned = Requests(), list[str](), threading.Event()

    def warn(sentence: str) -> None:
        warnings.append(sentence)
        warned.set()

    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE) as process:
        publisher = Publisher(process, io.BytesIO(b"".join(map(encode, answers))), {})
        publisher.follow(requests, threading.Event(), warn)
        assert warned.wait(30)
        publisher.end(Ending(sentence="the run has ended"))
        publisher.wait()
    assert [order.watch for order in requests.take_orders()][-1] == WatchOrder(users=(4,), series=True)
    assert len(warnings) == 1
    assert warnings[0].startswith("the process that publishes the run has failed")


def test_a_warning_before_it_is_ready_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
    with start_publisher(About("a run"), Outlets(otlp=True), tmp_path) as publisher:
        assert publisher.addresses == {}
    publisher.wait()
    assert "'soon'" in capsys.readouterr().err
