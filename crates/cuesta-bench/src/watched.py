"""Two runs of `cuesta run` at once, watched or not, for `watched.rs`. The job is JSON, and so is the outcome.

The agents are on the drivers' CPU, before all else; the engines, the processes that publish and those who watch are on
the hosts'.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import Any

JOB: dict[str, Any] = json.loads(sys.argv[1])
TAPE = 'Set TypingSpeed 0ms\nSet Echo timed\nType "x"\n'
PLAN = f"""
tape = "bench.tape"
target = "{JOB["target"]}"
load = "paced:200ms"
users = {JOB["users"]}
stagger = "1ms"
settle = "1s"
measure = "{JOB["seconds"]}s"
line_speed = 0
meters = "none"
spin = false
"""
FLAGS = ["--web", "127.0.0.1:0", "--prometheus", "127.0.0.1:0", "--otlp", "--json-lines"]
SENT_EVERY = "5000"
"""Milliseconds between what is sent to the collector."""
IDLE = 200
"""Connections that never read: half of them ask for nothing, half for a large file."""
FLOODS = 2
"""Clients who ask as fast as they are answered."""
FORK = get_context("fork")


class Watched:
    """A run, and those who watch it."""

    def __init__(self, folder: Path, process: "subprocess.Popen[str]", *, storm: bool) -> None:
        self.folder, self.process, self._storm = folder, process, storm
        self.seen = 0
        """Moments, scrapes and rows that were seen."""
        self.floods = FORK.Value("L")
        """Answers to floods."""

    def follow(self) -> None:
        """Watch what it says that can be watched, until it ends."""
        assert self.process.stderr
        for row in self.process.stderr:
            if found := re.search(r"http://127.0.0.1:(\d+)/(?:#token=(\S+)|metrics)", row):
                port, token = int(found[1]), found[2]
                self._start(lambda port=port, token=token: self._look(port, token) if token else self._scrape(port))
        self.process.wait()

    def read_rows(self) -> None:
        """Read its rows of JSON."""
        assert self.process.stdout
        for _ in self.process.stdout:
            self.seen += 1

    def _start(self, watch: Callable[[], None]) -> None:
        threading.Thread(target=watch, daemon=True).start()

    def _look(self, port: int, token: str) -> None:
        """Have the page open, with the screens of two users, and load the report at the end."""
        page = HTTPConnection("127.0.0.1", port)
        page.request("POST", "/enter", token, {"Origin": f"http://127.0.0.1:{port}"})
        answer = page.getresponse()
        answer.read()
        headers = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
        with ExitStack() as clients:
            page.request("GET", "/events?users=0,1", headers=headers)
            for row in page.getresponse():
                self.seen += row.startswith(b"event: moment")
                if self._storm and self.seen == 1:
                    clients.enter_context(storm(port, headers, self.floods))
                    self.seen += 1
        page.close()
        with suppress(OSError, HTTPException):  # the command does not wait for it for long
            page.request("GET", "/report", headers=headers)
            page.getresponse().read()

    def _scrape(self, port: int) -> None:
        """Scrape each second, until the server has ended."""
        with suppress(OSError, HTTPException):
            while True:
                scraper = HTTPConnection("127.0.0.1", port)
                scraper.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
                scraper.getresponse().read()
                scraper.close()
                self.seen += 1
                time.sleep(1)

    def recorded(self) -> list[tuple[float, float, float]]:
        """The keys that its agent has sent and the CPU time that its threads have used, at instants."""
        begin = json.loads((self.folder / "agent-0/timeline.json").read_text(encoding="utf-8"))["start_at"] / 1e9
        rows = map(json.loads, (self.folder / "agent-0/series.jsonl").read_text(encoding="utf-8").splitlines())
        measured = [row for row in rows if row["phase"] == "measure"]
        samples = [(begin + measured[0]["start"], 0.0, 0.0)]
        for row in measured:
            _, keys, cpu = samples[-1]
            samples.append((begin + row["start"] + row["length"], keys + row["keys"], cpu + row["cpu"]))
        return samples

    def result(self, begin: float, end: float) -> dict[str, Any]:
        """What the run says of itself; keys and CPU time are those between two instants."""
        summary = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        driver, lateness = summary["driver"], summary["lateness"]
        (keys_before, cpu_before), (keys, cpu) = (interpolate(self.recorded(), at) for at in (begin, end))
        return {
            "is_valid": summary["valid"],
            "keys": keys - keys_before,
            "cpu": cpu - cpu_before,
            "lateness": [lateness["p50"], lateness["p99"]],
            "own": [driver["own"]["p50"], driver["own"]["p99"]],
            "seen": self.seen,
            "floods": self.floods.value,
        }


@contextmanager
def storm(port: int, headers: dict[str, str], answers: Any) -> Iterator[None]:
    """Have clients during the block who never read, one who sleeps, and some who ask without end."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE)]
    for connection in idle[::2]:
        connection.sendall(b"GET /static/vega.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    sleeper = FORK.Process(target=fall_asleep, args=(port, headers), daemon=True)
    floods = [FORK.Process(target=flood, args=(port, headers, answers), daemon=True) for _ in range(FLOODS)]
    for process in (sleeper, *floods):
        process.start()
    try:
        yield
    finally:
        for process in (sleeper, *floods):
            process.kill()
        for connection in idle:
            connection.close()


def fall_asleep(port: int, headers: dict[str, str]) -> None:
    """Open the page, and stop."""
    page = HTTPConnection("127.0.0.1", port)
    page.request("GET", "/events?users=2,3", headers=headers)
    page.getresponse().readline()
    os.kill(os.getpid(), signal.SIGSTOP)


def flood(port: int, headers: dict[str, str], answers: Any) -> None:
    """Ask for the page as fast as it comes, after all others: such a client is on another machine."""
    os.nice(19)
    page = HTTPConnection("127.0.0.1", port)
    while True:
        page.request("GET", "/", headers=headers)
        page.getresponse().read()
        with answers.get_lock():
            answers.value += 1


class Collector(BaseHTTPRequestHandler):
    """Takes what is sent to it."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def start(how: str, collector: str) -> Iterator[Watched]:
    """Have a run during the block: `alone`, `watched` or in a `storm`."""
    with tempfile.TemporaryDirectory(prefix="cuesta-bench-") as here:
        Path(here, "plan.toml").write_text(PLAN, encoding="utf-8")
        Path(here, "bench.tape").write_text(TAPE, encoding="utf-8")
        flags = [] if how == "alone" else FLAGS
        command = [sys.executable, "-m", "cuesta", "run", "plan.toml", *flags, "--out", "run", "--quiet"]
        environment = os.environ | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
            "OTEL_METRIC_EXPORT_INTERVAL": SENT_EVERY,
        }
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=here, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                yield Watched(Path(here, "run"), process, storm=how == "storm")
            finally:
                process.kill()


def place_agents(runs: list[Watched]) -> None:
    """Have the agents on the drivers' CPU until the runs end, before what else this machine does there.

    Raises PermissionError without root.
    """
    placed = set[int]()
    while any(run.process.poll() is None for run in runs):
        for pid in {pid for run in runs for pid in descendants(run.process.pid)} - placed:
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                if b"agent_process" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    for task in Path(f"/proc/{pid}/task").iterdir():
                        os.sched_setaffinity(int(task.name), {JOB["drivers"]})
                        os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))
                    placed.add(pid)
        time.sleep(0.1)


def interpolate(samples: Sequence[tuple[float, float, float]], instant: float) -> tuple[float, float]:
    after = next(index for index, (at, *_) in enumerate(samples) if at >= instant)
    (begin, *first), (end, *last) = samples[max(after - 1, 0)], samples[after]
    share = (instant - begin) / (end - begin) if end > begin else 1.0
    keys, cpu = (one + share * (other - one) for one, other in zip(first, last, strict=True))
    return keys, cpu


def descendants(pid: int) -> list[int]:
    children = list[int]()
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text(encoding="ascii").split())
    return [*children, *(each for child in children for each in descendants(child))]


def play_both() -> list[dict[str, Any]]:
    """Two runs at once, and what each says of itself."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with ExitStack() as stack:
        runs = [stack.enter_context(start(how, f"http://127.0.0.1:{server.server_port}")) for how in JOB["runs"]]
        threads = [threading.Thread(target=watch) for run in runs for watch in (run.follow, run.read_rows)]
        for thread in threads:
            thread.start()
        place_agents(runs)
        for thread in threads:
            thread.join()
        known = [run.recorded() for run in runs]
        begin, end = max(samples[0][0] for samples in known), min(samples[-1][0] for samples in known)
        return [run.result(begin, end) for run in runs]


os.sched_setaffinity(0, {JOB["hosts"]})
for name in [name for name in os.environ if name.startswith(("CUESTA_", "OTEL_"))]:
    del os.environ[name]  # settings of runs, and of the bench
print(json.dumps(play_both()))
