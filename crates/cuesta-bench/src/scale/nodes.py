"""Two runs of `cuesta run` at once, for `nodes.rs`: the job is JSON, and so is the outcome that it prints.

The engines and what they start are on the hosts' CPU, the agents on the drivers'.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

JOB: dict[str, Any] = json.loads(sys.argv[1])
TYPISTS = 'Set TypingSpeed 0ms\nSet Echo timed\nType "x"\n'
CLOSED = 'Set TypingSpeed 0ms\nForever\n  Type "x"\n  Wait+Bytes 1\nEnd\n'
PLAN = f"""
tape = "bench.tape"
target = "{JOB["target"]}"
load = "{JOB["load"]}"
stagger = "1ms"
settle = "2s"
line_speed = 0
meters = "none"
spin = false
validity = {{ lateness_p99 = "10s", driver_cpu = 1, run_wait = 1, settled = false }}
"""
PATIENCE = 120.0
"""Seconds within which a run must have begun to measure, or have ended."""
LOOK_EVERY = 0.2
ENDED = (None, 0, 97, 105)
"""Exit codes of runs that have figures: valid, invalid (a share of a CPU makes late), interrupted; None: it goes on."""
KINDS = {"cuesta.engine.local.agent_process": "agents", "ray::NodeActor": "actors"}
"""What the commands of processes tell; all others of a run are of Ray and the engine."""

Figures = dict[str, float]
Samples = Sequence[tuple[float, Figures]]
"""Figures that grow, at instants."""


@dataclass
class Run:
    """A run that goes on. `groups`: for each agent a control group that it is put into."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    agents: int
    groups: Sequence[str]
    placed: list[int] = field(default_factory=list)
    cpu: dict[int, tuple[str, float]] = field(default_factory=dict)
    """Of each process its kind and its CPU time, as it was last seen."""
    used: list[tuple[float, Figures]] = field(default_factory=list)
    """CPU time by kind of process, at instants at which all agents were alive."""

    def look(self) -> None:
        """Take the CPU time of all processes, and place agents that are new."""
        alive = 0
        for pid, command in list_processes(self.process.pid).items():
            kind = next((kind for word, kind in KINDS.items() if word in command), "others")
            with suppress(OSError):
                self.cpu[pid] = kind, time.clock_gettime(cpu_clock(pid))
                alive += kind == "agents"
                if kind == "agents" and pid not in self.placed:
                    self.place(pid)
        sums = {"agents": 0.0, "actors": 0.0, "others": 0.0}
        for kind, cpu in self.cpu.values():
            sums[kind] += cpu
        if alive == self.agents:
            self.used.append((time.monotonic(), sums))

    def place(self, agent: int) -> None:
        if self.groups:
            Path(self.groups[len(self.placed)], "cgroup.procs").write_text(str(agent), encoding="ascii")
        for task in Path(f"/proc/{agent}/task").iterdir():
            os.sched_setaffinity(int(task.name), {JOB["drivers"]})
        self.placed.append(agent)

    def is_measuring(self) -> bool:
        """Whether the records of all agents tell of it."""
        paths = [self.folder / f"agent-{number}" / "series.jsonl" for number in range(self.agents)]
        return all(path.exists() and '"measure"' in path.read_text(encoding="utf-8") for path in paths)

    def has_ended(self) -> bool:
        """Raises RuntimeError if it ended without figures."""
        code = self.process.poll()
        if code not in ENDED:
            why = (self.folder.parent / "errors").read_text(encoding="utf-8")
            raise RuntimeError(f"cuesta ended with {code}: {why}")
        return code is not None

    def end(self) -> None:
        """End it as Ctrl-C does, which keeps what was measured."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            wait_until(self.has_ended, self)

    def take_between(self, begin: float, end: float) -> Figures:
        """What its agents did and its processes used between two instants."""
        taken = dict.fromkeys(("keys", "cpu", "errors", *self.used[-1][1]), 0.0)
        for samples in (*self.recorded(), self.used):
            before, after = interpolate(samples, begin), interpolate(samples, end)
            for name in after:
                taken[name] += after[name] - before[name]
        return taken

    def recorded(self) -> list[Samples]:
        """For each agent what it recorded of measuring: keys, CPU time and errors since then, at instants."""
        return [read_record(self.folder / f"agent-{number}") for number in range(self.agents)]

    def count_left(self) -> int:
        """Its processes that have not ended."""
        return len([pid for pid in self.cpu if is_alive(pid)])


def read_record(folder: Path) -> Samples:
    begin = json.loads((folder / "timeline.json").read_text(encoding="utf-8"))["start_at"] / 1e9
    rows = [json.loads(row) for row in (folder / "series.jsonl").read_text(encoding="utf-8").splitlines()]
    measured = [row for row in rows if row["phase"] == "measure"]
    sums = {"keys": 0.0, "cpu": 0.0, "errors": 0.0}
    samples = [(begin + measured[0]["start"], sums)]
    for row in measured:
        errors = sum(row["errors"].values()) + row["skipped"]
        sums = {"keys": sums["keys"] + row["keys"], "cpu": sums["cpu"] + row["cpu"], "errors": sums["errors"] + errors}
        samples.append((begin + row["start"] + row["length"], sums))
    return samples


def interpolate(samples: Samples, instant: float) -> Figures:
    after = next(index for index, (at, _) in enumerate(samples) if at >= instant)
    (begin, first), (end, last) = samples[max(after - 1, 0)], samples[after]
    share = (instant - begin) / (end - begin) if end > begin else 1.0
    return {name: first[name] + share * (last[name] - first[name]) for name in first}


def list_processes(root: int) -> dict[int, str]:
    """The commands of a process and of those that it has started, directly or not."""
    parents = dict[int, int]()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(path.name)] = int((path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    found, new = set[int](), {root} & parents.keys()
    while new:
        found |= new
        new = {pid for pid, parent in parents.items() if parent in new}
    commands = dict[int, str]()
    for pid in found:
        with suppress(OSError):
            commands[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return {pid: command for pid, command in commands.items() if command}  # others have ended


def cpu_clock(pid: int) -> int:
    """The kernel's clock of a process's CPU time (clock_getcpuclockid(3)), threads that have ended included."""
    return (~pid << 3) | 2


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(reached: Callable[[], bool], *runs: Run) -> None:
    """Look at runs until something is reached."""
    until = time.monotonic() + PATIENCE
    while not reached():
        if time.monotonic() > until:
            raise TimeoutError(f"a run has neither begun to measure nor ended within {PATIENCE:g} s")
        for run in runs:
            run.look()
        time.sleep(LOOK_EVERY)


@contextmanager
def start(engine: str, nodes: int, measure: str, groups: Sequence[str]) -> Iterator[Run]:
    """Have a run during the block."""
    with tempfile.TemporaryDirectory(prefix="cuesta-bench-") as here:
        Path(here, "plan.toml").write_text(PLAN, encoding="utf-8")
        Path(here, "bench.tape").write_text(CLOSED if JOB["load"] == "closed" else TYPISTS, encoding="utf-8")
        where = ["--engine", engine, "--nodes", str(nodes), "--users", str(nodes * JOB["users"])]
        command = [sys.executable, "-m", "cuesta", "run", "plan.toml", *where, "--measure", measure]
        command += ["--out", "run", "--quiet"]
        with (
            Path(here, "errors").open("wb") as errors,
            subprocess.Popen(command, cwd=here, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            run = Run(process, Path(here, "run"), nodes, groups)
            try:
                yield run
            finally:
                run.end()


def play_both() -> dict[str, object]:
    """Two runs at once, the first around the second: what each did and used in the seconds that the second measured."""
    (outer_engine, outer_nodes), (inner_engine, inner_nodes) = JOB["runs"]
    with start(outer_engine, outer_nodes, "10m", JOB["groups"][:outer_nodes]) as outer:
        wait_until(lambda: outer.is_measuring() or outer.has_ended(), outer)
        with start(inner_engine, inner_nodes, f"{JOB['seconds']}s", JOB["groups"][outer_nodes:]) as inner:
            wait_until(inner.has_ended, outer, inner)
            outer.end()
            known = [samples for run in (outer, inner) for samples in (*run.recorded(), run.used)]
            begin, end = max(samples[0][0] for samples in known), min(samples[-1][0] for samples in known)
            took = [run.take_between(begin, end) for run in (outer, inner)]
    return {"seconds": end - begin, "took": took, "left": outer.count_left() + inner.count_left()}


os.sched_setaffinity(0, {JOB["hosts"]})
for name in [name for name in os.environ if name.startswith("CUESTA_")]:
    del os.environ[name]  # settings of runs, and of the bench
print(json.dumps(play_both()))
