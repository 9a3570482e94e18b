"""Hosts without a steady state, played for real: more is due than one server can do, and a host that becomes slower."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write

SERVICE = 0.05
TAPE = """
Set KeyRate 30cps
Wait+Prompt
Forever
  Transaction "ask"
    Type "ls"
    Enter
    Wait+Prompt
  End
  THINK
End
"""
PLAN = """
tape = "ask.tape"
settle = "2s"
measure = "12s"
meters = "none"
limits = ["response.p99 < 60s"]
""" + BUSY.replace("settled = false", "settled = true")

Answer = Callable[[float], float]
"""When the host answers a row that it gets at an instant; seconds of its own clock."""


class Line(asyncio.Protocol):
    """A prompt, an echo of each key, and an answer to each row."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def eof_received(self) -> None:
        self.transport.close()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(b"$ ")

    def data_received(self, data: bytes) -> None:
        for key in data:
            if key == ord("\r"):
                loop = asyncio.get_running_loop()
                loop.call_at(self.answer(loop.time()), self.transport.write, b"\r\ndone\r\n$ ")
            else:
                self.transport.write(bytes([key]))


@contextmanager
def host(answer: Answer) -> Iterator[str]:
    """Serve at a port of its own, in a thread."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(lambda: Line(answer), "127.0.0.1", 0, backlog=100))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def one_server() -> Answer:
    """First come, first served, SERVICE seconds each."""
    free = 0.0

    def answer(at: float) -> float:
        nonlocal free
        free = max(free, at) + SERVICE
        return free

    return answer


def slower(since: float) -> Answer:
    """Answers at once, and 1.2 s later each time once `since` seconds have passed since the first row.

    Of the four slow seconds of a measurement one may have answers of both kinds: their mean is above 0.9 s.
    """
    first: list[float] = []

    def answer(at: float) -> float:
        first.append(at)
        return at + (0.01 if at - first[0] < since else 1.2)

    return answer


def play(write: Write, cuesta: Cuesta, target: str, think: str, *flags: str) -> Any:
    write("ask.tape", TAPE.replace("THINK", think))
    write("plan.toml", PLAN)
    command = ("run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-")
    return cuesta(*command, *flags).ends(Exit.INVALID).json


@pytest.mark.parametrize("load", ["open:30/s", pytest.param("paced:1s", marks=pytest.mark.nightly)])
def test_more_than_a_server_can_do_is_no_steady_state(load: str, write: Write, cuesta: Cuesta) -> None:
    with host(one_server()) as target:
        summary = play(write, cuesta, target, "", "--load", load, "--users", "30")
    overload = summary["settled"]["overload"]
    assert (summary["settled"]["steady"], overload["offered_per_s"]) == (False, 30)
    assert overload["kept_per_s"] == pytest.approx(summary["transactions"]["per_s"], rel=0.1)
    assert overload["kept_per_s"] <= 1.1 / SERVICE
    assert any("no steady state, overloaded: 30.0 passes/s" in doubt for doubt in summary["invalid_because"])
    assert [limit["ok"] for limit in summary["limits"]] == [False]


def test_a_host_that_becomes_slower_late_is_no_steady_state(write: Write, cuesta: Cuesta) -> None:
    with host(slower(10)) as target:
        summary = play(write, cuesta, target, "Think exp 500ms", "--users", "8")
    shift = summary["settled"]["response"]
    assert shift["after"] > 0.5 > shift["before"]
    assert shift["at"] > 0.5, "later than the first half"
