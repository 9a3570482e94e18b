"""Paths of keys, judged by others: tcpdump sees the same packets, perf the same waits for a CPU."""

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

import pytest

from cuesta.records.rows import PathRow
from tests.beyond_a_wire import FAR, far_host
from tests.busy_loops import busy_loops
from tests.conftest import Write
from tests.daemons import AT_A_SHELL, needed, sshd
from tests.own_network import inside
from tests.real_paths import AT_PROMPT, PLAN, find_paths, follow

USERS, TASKS = 4, ("sshd", "bash")


@contextmanager
def tcpdump(file: Path, namespace: Path) -> Iterator[None]:
    """Write the packets that pass a host's end of the wire to a file."""
    command = [
        needed("tcpdump"),
        "-i",
        FAR,
        "-n",
        "-U",
        "--immediate-mode",
        "--time-stamp-precision=nano",
        "-w",
        str(file),
        "tcp",
    ]
    with inside(namespace):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stderr
            while "listening on" not in process.stderr.readline():
                assert process.poll() is None
            yield
        finally:
            process.terminate()


PACKET = re.compile(
    r"(?P<at>[\d.]+) IP [\d.]+\.(?P<source>\d+) > [\d.]+\.(?P<to>\d+): .* seq (?P<begin>\d+):(?P<end>\d+),"
)


@dataclass(frozen=True)
class Packet:
    """A packet with data on a client's connection: a key, or what the host sends."""

    client: int
    is_key: bool
    begin: int
    """The packet's bytes in its stream are those behind it …"""
    end: int
    """… up to this one."""
    at: float


def read_packets(file: Path, port: int) -> Iterator[Packet]:
    command = ["tcpdump", "-n", "-tt", "--time-stamp-precision=nano", "-r", str(file)]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for row in filter(None, map(PACKET.match, rows)):
        is_key = int(row["to"]) == port
        client = int(row["source"] if is_key else row["to"])
        yield Packet(client, is_key, int(row["begin"]) - 1, int(row["end"]) - 1, float(row["at"]))


@pytest.mark.nightly
def test_the_hosts_part_is_what_passes_between_its_packets(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    with far_host(here) as host, tcpdump(here / "keys.pcap", host.namespace):
        paths = find_paths(follow(here, host.telnet, "--users", str(USERS)))
    packets = list(read_packets(here / "keys.pcap", host.port))
    came = {(each.client, each.end): each.at for each in packets if each.is_key}
    left = [each for each in packets if not each.is_key]

    def find_time(key: PathRow) -> float:
        """From the packet with the key to the first with the end of its echo."""
        echoes = (each.at for each in left if each.client == key.port and each.begin < key.echo_to <= each.end)
        return min(echoes) - came[key.port or 0, key.key_to]

    assert len(paths) > 15 * USERS
    assert abs(median(key.ns / 1e9 - find_time(key.path) for key in paths)) <= 50e-6


EVENTS = "sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup_new"
EVENT = re.compile(r"\s*(?P<at>[\d.]+): +sched:(?P<event>\w+): (?P<what>.*)")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(?P<before>\d+) .* prev_state=(?P<state>\S+) ==> .* next_pid=(?P<next>\d+)")


@contextmanager
def perf_sched(file: Path) -> Iterator[None]:
    """Record what the scheduler does, as `perf sched record` does, by the clock of paths."""
    events = [word for event in EVENTS for word in ("-e", event)]
    command = [needed("perf"), "record", "-q", "-a", "-m", "8M", "-k", "CLOCK_MONOTONIC", *events, "-o", str(file)]
    ready = file.with_suffix(".ready")
    with subprocess.Popen([*command, "--", "sh", "-c", f"touch {ready}; read end"], stdin=subprocess.PIPE) as process:
        while not ready.exists():
            assert process.poll() is None
        yield
        process.communicate(b"end\n")


def read_waits(file: Path) -> Mapping[int, list[tuple[int, int]]]:
    """When each task was ready, or about to be, and had no CPU, in ns."""
    command = ["perf", "script", "-i", str(file), "--ns", "-F", "time,event,trace"]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    ready, waits = dict[int, int](), defaultdict[int, list[tuple[int, int]]](list)
    for row in filter(None, map(EVENT.match, rows)):
        at = int(row["at"].replace(".", ""))
        if switch := SWITCH.search(row["what"]):
            ready.pop(int(switch["before"]), None)
            if switch["state"].startswith("R"):
                ready[int(switch["before"])] = at
            if since := ready.pop(int(switch["next"]), None):
                waits[int(switch["next"])].append((since, at))
        elif woken := re.search(r" pid=(\d+)", row["what"]):
            ready.setdefault(int(woken[1]), at)
    return waits


@pytest.mark.nightly
def test_waits_for_a_cpu_are_what_perf_sees(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    with sshd(here, AT_A_SHELL) as host, busy_loops(2), perf_sched(here / "perf.data"):
        paths = find_paths(follow(here, host.target, "--users", str(USERS)))
    assert len(paths) > 15 * USERS
    waits = read_waits(here / "perf.data")
    ours, theirs = Counter[str](), Counter[str]()
    for task, pid, begin, end, ns in (visit for key in paths for visit in list_visits(key.path)):
        ours[task] += ns
        theirs[task] += sum(max(min(to, end) - max(since, begin), 0) for since, to in waits[pid])
    assert set(theirs) == set(TASKS)
    for task in TASKS:
        assert ours[task] == pytest.approx(theirs[task], rel=0.1), (ours, theirs)


def list_visits(path: PathRow) -> Iterator[tuple[str, int, int, int, int]]:
    """Of each visit of a task: its name and number, from when to when by the host's clock, its wait for a CPU in ns."""
    begin = path.begun
    for ended, hops in groupby(path.hops, key=lambda hop: hop.ended):
        *own, last = hops
        waited = sum(hop.ns for hop in (*own, last) if hop.kind in ("run_queue", "waking"))
        if last.task in TASKS:
            yield last.task, last.pid, begin, path.begun + ended, waited
        begin = path.begun + ended
