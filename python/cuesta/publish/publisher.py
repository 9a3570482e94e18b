"""The command's end of the process that publishes its run: feeds it, and passes on what those who watch ask for."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from cuesta.errors import CuestaError
from cuesta.live.about import About
from cuesta.live.followed import Ending
from cuesta.live.steering import Steering
from cuesta.publish.messages import Beginning, FromPublisher, Outlets, ToPublisher, encode
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json

PATIENCE = 15.0
"""Seconds for the process to end after the run: pages that are open load the report."""


class Publisher:
    """A process that publishes a run. What it is told never waits for it: of observations it gets the newest."""

    name = "page and exporters"

    def __init__(self, process: subprocess.Popen[bytes], answers: IO[bytes]) -> None:
        self._process, self._answers = process, answers
        self._changed = threading.Condition()
        self._messages: list[ToPublisher] = []
        self._seen: Observation | None = None
        self._cpu = 0.0
        self._threads: list[threading.Thread] = []

    def look(self, seen: Observation) -> None:
        """Publish what is seen of the run."""
        with self._changed:
            self._seen = seen
            self._changed.notify()

    def tell(self, sentence: str) -> None:
        """Publish a sentence on its progress."""
        self._send(ToPublisher(told=sentence))

    def end(self, ending: Ending) -> None:
        """Publish that the run has ended, and wait for the process to end."""
        self._send(ToPublisher(end=ending))
        self._threads[0].join(PATIENCE)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._threads[1].join()

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        return self._cpu

    def begin(self, beginning: Beginning) -> dict[str, str]:
        """Have it serve; the addresses of its outlets. Raises CuestaError if it cannot."""
        assert self._process.stdin
        self._process.stdin.write(encode(ToPublisher(begin=beginning)))
        self._process.stdin.flush()
        first = self._answers.readline()
        answer = from_json(FromPublisher, json.loads(first)) if first else FromPublisher(failed="its process has ended")
        if answer.ready is None:
            self._process.stdin.close()
            self._process.wait()
            raise CuestaError(f"the run cannot be published: {answer.failed}")
        return dict(answer.ready)

    def follow(self, steering: Steering, stop: threading.Event, warn: Callable[[str], None]) -> None:
        """Feed it, and pass on what it asks for, until it ends."""
        follow = threading.Thread(target=self._obey, args=(steering, stop, warn), daemon=True)
        self._threads = [threading.Thread(target=self._feed, daemon=True), follow]
        for thread in self._threads:
            thread.start()

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
            if seen:
                yield ToPublisher(seen=seen)
            yield from messages

    def _obey(self, steering: Steering, stop: threading.Event, warn: Callable[[str], None]) -> None:
        for row in self._answers:
            message = from_json(FromPublisher, json.loads(row))
            if message.cpu is not None:
                self._cpu = message.cpu
            if message.warning:
                warn(message.warning)
            if message.watch:
                steering.watch(self, message.watch.users, series=message.watch.series)
            if message.mark is not None:
                steering.mark(message.mark)
            if message.stop:
                stop.set()


@contextmanager
def start_publisher(about: About, outlets: Outlets, run: str) -> Iterator[tuple[Publisher, dict[str, str]]]:
    """Have a process publish a run during the block; yields it with the addresses of its outlets.

    Raises CuestaError if an address cannot be had.
    """
    answers, end_of_answers = os.pipe()
    command = [sys.executable, "-m", "cuesta.publish.process", str(end_of_answers)]
    with (
        os.fdopen(answers, "rb") as read,
        subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[end_of_answers]) as process,
    ):
        os.close(end_of_answers)
        publisher = Publisher(process, read)
        yield publisher, publisher.begin(Beginning(about=about, outlets=outlets, run=run))
