"""Rows of JSON on standard output (`--json-lines`)."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

from cuesta.live.followed import FollowedRun
from cuesta.publish.json_rows import JsonRows, Row
from cuesta.publish.messages import ToPublisher
from cuesta.publish.remote_steering import RemoteSteering
from cuesta.terminal import show


class JsonOutlet:
    """Prints on a thread of its own: a reader may be slow. One that has left gets no more."""

    name = "json-lines"
    address = ""

    def __init__(self, run: FollowedRun, steering: RemoteSteering) -> None:
        self._run, self._steering = run, steering
        self._marks = 0
        self._rows = JsonRows()
        self._queue = SimpleQueue[Row | None]()
        self._has_reader = True
        self._printing = threading.Thread(target=self._print, daemon=True)
        self._stop = asyncio.Event()

    def take(self, message: ToPublisher) -> None:
        """Print what is new."""
        for row in self._new_rows(message):
            if self._has_reader:
                self._queue.put(row)

    async def serve(self) -> None:
        """Print until it is closed, and then until all is printed."""
        self._steering.watch()  # what users do is counted for those who watch
        self._printing.start()
        await self._stop.wait()
        self._queue.put(None)
        await asyncio.to_thread(self._printing.join)

    def close(self) -> None:
        """The run has ended: no row follows."""
        self._stop.set()

    def _new_rows(self, message: ToPublisher) -> Iterator[Row]:
        if message.seen and self._run.view:
            yield from self._rows.take(self._run.view)
        if message.told is not None:
            yield self._rows.tell(message.told)
        for mark in self._run.marks.since(self._marks):
            yield self._rows.mark(mark.text)
        self._marks = self._run.marks.count
        if message.end and message.end.folder:
            yield self._rows.end(Path(message.end.folder))

    def _print(self) -> None:
        try:
            while row := self._queue.get():
                show(json.dumps(row))
        except BrokenPipeError:
            self._has_reader = False
