"""The command's end of the process that publishes its run: feeds it, and passes on what those who watch ask for."""

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from cuesta.errors import CuestaError, UsageError
from cuesta.live.about import About
from cuesta.live.followed import Ending
from cuesta.live.steering import Steering
from cuesta.publish.messages import Beginning, FromPublisher, Outlets, ToPublisher, encode
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json
from cuesta.terminal import inform

PATIENCE = 70.0
"""Seconds for the process to end after the run: pages that are open load the report, for a minute at most."""


class Publisher:
    """A process that publishes a run. What it is told never waits for it: of observations it gets the newest."""

    name = "page and exporters"

    def __init__(self, process: subprocess.Popen[bytes], answers: IO[bytes], addresses: Mapping[str, str]) -> None:
        self._process, self._answers, self.addresses = process, answers, addresses
        self._changed = threading.Condition()
        self._messages: list[ToPublisher] = []
        self._seen: Observation | None = None
        self._fed: Observation | None = None
        """The newest observation that the process knows."""
        self._cpu = 0.0
        self._is_over = False
        """Whether the run has ended."""
        self._feeding = threading.Thread(target=self._feed, daemon=True)
        self._feeding.start()

    def look(self, seen: Observation) -> None:
        """Publish what is seen of the run."""
        with self._changed:
            self._seen = seen
            self._changed.notify()

    def tell(self, sentence: str) -> None:
        """Publish a sentence on its progress."""
        self._send(ToPublisher(told=sentence))

    def end(self, ending: Ending) -> None:
        """Publish that the run has ended."""
        self._is_over = True
        self._send(ToPublisher(end=ending))

    def wait(self) -> None:
        """Wait for the process to end, at most PATIENCE seconds and until Ctrl-C."""
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        return self._cpu

    def follow(self, steering: Steering, stop: threading.Event, warn: Callable[[str], None]) -> None:
        """Pass on from now on what those who watch ask for, and what does not work."""
        threading.Thread(target=self._obey, args=(steering, stop, warn), daemon=True).start()

    def _send(self, message: ToPublisher) -> None:
        with self._changed:
            self._messages.append(message)
            self._changed.notify()

    def _feed(self) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError), self._process.stdin as pipe:
            for message in self._take():
                pipe.write(encode(message))
                pipe.flush()
                if message.end:
                    return

    def _take(self) -> Iterator[ToPublisher]:
        """Messages as they come, and of observations the newest."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._messages or self._seen)
                messages, seen = self._messages, self._seen
                self._messages, self._seen = [], None
            if seen and (news := self._news_of(seen)):
                yield ToPublisher(seen=news)
            yield from messages

    def _news_of(self, seen: Observation) -> Observation | None:
        """What the process does not know yet: an interval is seen several times, with other screens at most."""
        known, self._fed = self._fed, seen
        if seen == known:
            return None
        only_screens = known is not None and replace(seen, screens=known.screens) == known
        return replace(seen, snapshots=(), meters=()) if only_screens else seen

    def _obey(self, steering: Steering, stop: threading.Event, warn: Callable[[str], None]) -> None:
        with self._answers:
            for row in self._answers:  # until the process has ended
                message = from_json(FromPublisher, json.loads(row))
                if message.cpu is not None:
                    self._cpu = message.cpu
                if message.warning:
                    warn(message.warning)
                if message.watch:
                    steering.watch((self, message.outlet), message.watch.users, series=message.watch.series)
                if message.mark is not None:
                    steering.mark(message.mark)
                if message.stop:
                    stop.set()
        if not self._is_over:
            warn("the process that publishes the run has failed: nothing is published any longer; the run goes on")


@contextmanager
def start_publisher(about: About, outlets: Outlets, folder: Path) -> Iterator[Publisher]:
    """Have a process publish a run during the block, whose folder will be `folder`.

    The process ends once pages that are open have loaded the report and the last rows and metrics are taken; the
    command waits for it when all else is done. Raises CuestaError if an address cannot be had.
    """
    read, write = os.pipe()
    command = [sys.executable, "-m", "cuesta.publish.process", str(write)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[write])
    os.close(write)
    answers = os.fdopen(read, "rb")
    try:
        addresses = _begin(process, answers, Beginning(about=about, outlets=outlets, run=folder.name))
    except CuestaError:
        process.kill()
        process.wait()
        answers.close()
        raise
    publisher = Publisher(process, answers, addresses)
    atexit.register(publisher.wait)
    try:
        yield publisher
    finally:
        publisher.end(Ending(sentence="the run has ended", folder=str(folder.absolute())))


def _begin(process: subprocess.Popen[bytes], answers: IO[bytes], beginning: Beginning) -> Mapping[str, str]:
    """Have it serve; the addresses of its outlets."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(encode(ToPublisher(begin=beginning)))
        process.stdin.flush()
    for row in answers:
        answer = from_json(FromPublisher, json.loads(row))
        if answer.warning:
            inform(answer.warning)
        if answer.failed is not None:
            raise (UsageError if answer.is_usage else CuestaError)(answer.failed, answer.remedy)
        if answer.ready is not None:
            return answer.ready
    raise CuestaError("the process that publishes the run has ended")
