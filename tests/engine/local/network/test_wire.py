"""The record of the wire, compared with tcpdump's view of the same packets. As root."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.cli import main
from cuesta.engine.local.network.isolation import NetNsPair
from cuesta.engine.local.network.wire import counters, record_wire
from cuesta.errors import Exit
from cuesta.ledger.wire import count_growth
from cuesta.records.rows import WireCounters
from tests.busy import BUSY
from tests.conftest import Write
from tests.processes import command_of, descendants

SECOND = 1_000_000_000
WAITS = "import sys; print('ready', flush=True); sys.stdin.read()"
SENDER = """
import contextlib, socket
host = ("198.18.0.2", 4000)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first, contextlib.suppress(ConnectionRefusedError):
    first.connect(host)
    first.send(bytes(100))
    first.recv(1)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    for number in range(199):
        line.sendto(bytes(100), host)
"""
"""No program listens at the port, so the host refuses the first datagram. Then the ends know each other's address."""


@pytest.fixture
def processes(sides: NetNsPair) -> Iterator[dict[str, int]]:
    """A process at each end that does nothing."""
    ends = {"driver": sides.driver, "host": sides.host}
    command = [sys.executable, "-c", WAITS]
    started = {
        name: subprocess.Popen([*side.command_prefix, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name, side in ends.items()
    }
    for process in started.values():
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
    yield {name: process.pid for name, process in started.items()}
    for process in started.values():
        process.communicate()


@contextmanager
def tcpdump(sides: NetNsPair, packets: int) -> Iterator[subprocess.Popen[str]]:
    """Run tcpdump at the host's end. It ends when it has seen `packets` datagrams to port 4000."""
    watch = ["tcpdump", "-i", "wire", "-n", "-e", "-Q", "in", "-B", "8192", "-c", str(packets)]
    command = [*sides.host.command_prefix, *watch, "udp port 4000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            while "listening on" not in process.stderr.readline():
                pass
            yield process
        finally:
            process.kill()


def test_counters_agree_with_tcpdump(sides: NetNsPair, processes: dict[str, int]) -> None:
    with tcpdump(sides, 200) as watching:
        before = {name: count(process) for name, process in processes.items()}
        command = [*sides.driver.command_prefix, sys.executable, "-c", SENDER]
        subprocess.run(command, check=True)
        seen = watching.communicate(timeout=30)[0].splitlines()
    grown = {name: count_growth(before[name], count(process)) for name, process in processes.items()}
    lengths = [int(row.partition("length ")[2].partition(":")[0]) for row in seen]
    assert lengths == [142] * 200
    others = grown["host"].received_packets - len(seen)
    assert 0 <= others <= 8, "ARP and the like"
    assert sum(lengths) <= grown["host"].received_bytes <= sum(lengths) + 100 * others
    assert grown["driver"].sent_packets == grown["host"].received_packets
    assert grown["driver"].sent_bytes == grown["host"].received_bytes


def count(process: int) -> WireCounters:
    counted = counters(process)
    assert counted
    return counted


def test_a_process_that_has_ended_has_no_counters() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    assert counters(ended.pid) is None


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in (folder / "wire.jsonl").read_text().splitlines()]


def test_each_step_is_read_at_its_bounds(tmp_path: Path, processes: dict[str, int]) -> None:
    start = _native.now()
    bounds = [(start + SECOND // 10, start + SECOND // 5), (start + SECOND // 5, start + SECOND // 2)]
    recorded = threading.Event()
    with record_wire(tmp_path, processes, None) as record:
        for number, (settled, end) in enumerate(bounds):
            record.expect(number, settled, end)
        while len(rows(tmp_path)) < len(bounds):
            recorded.wait(0.01)
    for row, (settled, end) in zip(rows(tmp_path), bounds, strict=True):
        assert settled <= row["begin"]["at"]
        assert end <= row["end"]["at"]
        assert row["begin"]["host"]["received_packets"] <= row["end"]["host"]["received_packets"]
        assert row["end"]["tmux"] is None


def test_a_step_that_is_cut_short_ends_with_the_run(tmp_path: Path, processes: dict[str, int]) -> None:
    start, waits = _native.now(), threading.Event()
    with record_wire(tmp_path, processes, None) as record:
        record.expect(0, start, start + 3600 * SECOND)
        record.expect(1, start + 3600 * SECOND, start + 7200 * SECOND)
        waits.wait(0.1)
    (row,) = rows(tmp_path)
    assert row["step"] == 0
    assert start <= row["begin"]["at"] <= row["end"]["at"] < start + 3600 * SECOND


PLAN = """
tape = "typist.tape"
users = 25
load = "paced:200ms"
isolate = true
meters = "calls:cpus:host"
stagger = "5ms"
settle = "1s"
measure = "3s"
host = { service = "echo", echo_map = "a0" }

[sweep]
"tmux + defer" = [["off", "off"], ["20ms", "off"], ["off", "5ms"]]
"""
TAPE = 'Set TypingSpeed 0ms\nSet Echo timed\nSet EchoMap "a0"\nType "a"\nWait+Echo\n'


@pytest.mark.quiet
@pytest.mark.nightly
def test_a_sweep_of_what_works_on_the_wire(here: Path, write: Write) -> None:
    """25 typists of 5 keys a second: TMux puts several segments into a datagram, and each waits up to its hold time."""
    write("typist.tape", TAPE)
    write("cuesta.toml", BUSY)
    code = main(["run", str(write("plan.toml", PLAN)), "--out", "out", "--quiet", "--json", "summary.json"])
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"], summary["errors"]["count"]) == (Exit.GOOD, [], 0)
    off, held, deferred = summary["steps"]
    assert [step["keystrokes"]["count"] for step in (off, held, deferred)] == pytest.approx([375] * 3, abs=10)
    assert off["wire"]["packets_per_keystroke"] == pytest.approx(3, rel=0.1)
    assert held["wire"]["packets_per_keystroke"] < 0.4 * off["wire"]["packets_per_keystroke"]
    assert 3 < held["tmux"]["segments_per_datagram"] < 10
    assert held["tmux"]["driver"]["plain"] == held["tmux"]["host"]["plain"] == 0
    assert 0.005 < held["tmux"]["held_mean"] < 0.020
    assert held["tmux"]["host"]["cpu_per_keystroke"] > 0
    assert off["tmux"] is deferred["tmux"] is None
    assert held["response"]["p50"] > 0.020 > 5 * off["response"]["p50"] > 0
    assert deferred["response"]["p50"] > off["response"]["p50"]
    assert all(step["host"]["cpu_per_keystroke"] > 0 for step in summary["steps"])
    assert (here / "out" / "segment-1" / "wire.jsonl").exists()
    assert not [pid for pid in descendants(os.getpid()) if b"tmux_process" in command_of(pid)]
