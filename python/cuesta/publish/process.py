"""The process that publishes a run: `python -m cuesta.publish.process FD`, at the lowest priority.

Standard input has rows of JSON, a `ToPublisher` each; descriptor FD gets a `FromPublisher` each. The end of the input
means stop. Signals from the terminal are for the command, which then tells this process that the run has ended.
"""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from cuesta.errors import CuestaError, UsageError
from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import FromPublisher, ToPublisher, encode
from cuesta.publish.outlets import open_outlets
from cuesta.records.reading import from_json

LONGEST_ROW = 1 << 26
"""Bytes. An observation with all series of some hundred transactions has a tenth of it."""
COST_EVERY = 1.0
"""Seconds between two messages on the CPU time."""
WORKERS = 3
"""One builds the report that open pages load, one sends the last metrics, one waits for the last rows to be printed."""


async def main(answers: int) -> None:
    """Publish until the input ends."""
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    messages = _read_messages()
    first = await anext(messages, None)
    if first is None or first.begin is None:
        return

    def say(message: FromPublisher) -> None:
        # If the command has ended, so does this process: its input is closed.
        with suppress(BrokenPipeError):
            os.write(answers, encode(message))

    run = FollowedRun(first.begin.about)
    try:
        outlets = open_outlets(run, first.begin, say)
    except CuestaError as error:
        say(FromPublisher(failed=str(error), remedy=error.remedy, is_usage=isinstance(error, UsageError)))
        return
    asyncio.get_running_loop().set_default_executor(_start_workers())
    os.nice(19)  # this thread only: the users who are played come first
    serving = [asyncio.create_task(outlet.serve()) for outlet in outlets]
    say(FromPublisher(ready={outlet.name: outlet.address for outlet in outlets if outlet.address}))
    told_at = 0.0
    async for message in messages:
        _renew(run, message)
        for outlet in outlets:
            outlet.take(message)
        if time.monotonic() >= told_at + COST_EVERY:
            told_at = time.monotonic()
            _share_cpus(os.getppid())
            say(FromPublisher(cpu=time.process_time()))
    for outlet in outlets:
        outlet.close()
    await asyncio.gather(*serving)
    say(FromPublisher(cpu=time.process_time()))


def _renew(run: FollowedRun, message: ToPublisher) -> None:
    if message.seen:
        run.take(message.seen)
    if message.told is not None:
        run.tell(message.told)
    if message.end:
        run.end(message.end)


def _share_cpus(process: int) -> None:
    """Stay on the CPUs of a process: an isolated run keeps those of the host free of it."""
    with suppress(OSError):  # it has ended
        cpus = os.sched_getaffinity(process)
        if cpus != os.sched_getaffinity(0):
            for thread in os.listdir("/proc/self/task"):
                os.sched_setaffinity(int(thread), cpus)


def _start_workers() -> ThreadPoolExecutor:
    """Threads that have started, and so keep the usual priority: they work once the run has ended."""
    workers, started = ThreadPoolExecutor(WORKERS), threading.Barrier(WORKERS + 1)
    for _ in range(WORKERS):
        workers.submit(started.wait)
    started.wait()
    return workers


async def _read_messages() -> AsyncIterator[ToPublisher]:
    reader = asyncio.StreamReader(limit=LONGEST_ROW)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while row := await reader.readline():
        yield from_json(ToPublisher, json.loads(row))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
