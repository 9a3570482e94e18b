"""Writes run folders with known figures: the records of given transactions."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cuesta.figures.catalogue import COUNTERS
from cuesta.records.rows import ArrivalCounts, WaitingCounts
from tests.hdr import encode
from tests.meter_reports import cpu, meter_report

NANO = 10**9
VALIDITY = {"lateness_p99": "10ms", "driver_cpu": 0.8, "run_wait": 0.1, "echo_mismatches": 0.001, "lost_users": 0.01}
"""Validity thresholds of the plan, unless a test sets others; independent of the defaults."""

CLOCK = 7_000_000_000
"""The start of the run on the machine's clock."""

Row = dict[str, Any]


@dataclass
class RunFolder:
    """One run: steps of `settle` and `measure` seconds; by default each second is the same."""

    path: Path
    users: Sequence[int] = (4,)
    """The number of users of each step."""
    settle: int = 2
    measure: int = 30
    load: str = "closed"
    agents: int = 1
    ended: str | None = "completed"
    limits: Sequence[str] = ()
    published: Sequence[Row] = ()
    validity: Row = field(default_factory=dict)
    plan: Row = field(default_factory=dict)
    """More of the plan."""
    responses: Callable[[int, int, int], list[float]] = lambda *_: [0.1, 0.2]
    """Responses of the transactions that end in a second of the measurement, since due."""
    delay: Callable[[int], float] = lambda _: 0.001
    """By how much responses since due are longer than since sent, by step."""
    edit: Callable[[Row], Row] = lambda row: row
    """Changes each row of series.jsonl before it is written."""
    edit_user: Callable[[Row], Row] = lambda row: row
    """Changes each row of users.jsonl before it is written."""
    histograms: Sequence[tuple[str, Sequence[float]]] = ()
    """More of them, in the first second that is measured of each step: GROUP/SOURCE/SERIES."""
    lost: Sequence[int] = ()
    """Users who lost their line."""
    slow: dict[int, float] = field(default_factory=dict)
    """Mean responses of users that are not 0.15 s."""
    steal: float | None = None
    """Percent of the host's CPUs that the hypervisor took in each step; None if the host is not metered."""

    def write(self) -> Path:
        self.path.mkdir(parents=True, exist_ok=True)
        self._json("run.json", self._run())
        for agent in range(self.agents):
            self._agent(agent)
        if self.steal is not None:
            self._meters(self.steal)
        return self.path

    def _json(self, name: str, value: object) -> None:
        (self.path / name).write_text(json.dumps(value) + "\n")

    def _run(self) -> Row:
        group = {"name": "interactive", "load": self.load, "target": "host:"}
        swept = [{"users": users} if len(self.users) > 1 else {} for users in self.users]
        return {
            "format": 1,
            "cuesta": "0.1.0",
            "name": "made-up",
            "command": ["cuesta", "run"],
            "started": "2026-11-21T01:23:45Z",
            "seed": 1,
            "agents": self.agents,
            "plan": {
                "limits": list(self.limits),
                "validity": {**VALIDITY, **self.validity},
                "published": list(self.published),
                **self.plan,
            },
            "steps": [
                {"swept": point, "group": [{**group, "users": users}]}
                for point, users in zip(swept, self.users, strict=True)
            ],
            "tapes": {"interactive": {"file": "tapes/interactive.tape", "sha256": "00"}},
            "machine": {"cpus": 2, "system": "Linux"},
            "host": {"builtin": True, "targets": ["host:"]},
        }

    def _times(self) -> list[tuple[int, int, int]]:
        length = self.settle + self.measure
        return [(k * length, k * length + self.settle, (k + 1) * length) for k in range(len(self.users))]

    def _meters(self, steal: float) -> None:
        about: Row = {
            "source": "here",
            "subject": "pid:4711",
            "why": "the built-in host's process",
            "honesty": "shared",
        }
        sheets: list[Row] = [
            {"step": step, "sheet": meter_report(cpu=cpu(steal=steal))} for step in range(len(self.users))
        ]
        rows = [{"at": CLOCK, **row} for row in ({"about": about}, *sheets)]
        write_rows(self.path / "meters.jsonl", rows)

    def _agent(self, agent: int) -> None:
        folder = self.path / f"agent-{agent}"
        folder.mkdir()
        steps = [
            dict(zip(("begin", "settled", "end"), (t * NANO for t in times), strict=True)) for times in self._times()
        ]
        self._json(f"agent-{agent}/timeline.json", {"start_at": CLOCK, "steps": steps, "drain": NANO})
        series, log = [], ['#[Histogram log format version 1.3]\n"StartTimestamp","Interval_Length"\n']
        for step, (begin, settled, end) in enumerate(self._times()):
            for second in range(begin, end):
                measured = second >= settled
                responses = self.responses(step, agent, second - settled) if measured else [9.0]
                series.append(self.edit(self._row(step, second, measured, responses)))
                log += rows(step, second, self._durations(responses, self.delay(step), second == settled))
        write_rows(folder / "series.jsonl", series)
        (folder / "histograms.hlog").write_text("".join(log))
        write_rows(folder / "users.jsonl", self._users(agent))
        if self.ended:
            self._json(f"agent-{agent}/agent.json", {"ended": self.ended, "reason": None, "rss_per_user": 2048})

    def _row(self, step: int, second: int, measured: bool, responses: list[float]) -> Row:
        users, done = self.users[step] // self.agents, len(responses)
        waiting, delayed = sum(responses), self.delay(step) * done
        return {
            "start": float(second),
            "length": 1.0,
            "step": step,
            "phase": "measure" if measured else "settle",
            "users": users,
            "active": users,
            "transactions": done,
            "keys": 13 * done,
            "characters": {"in": 13 * done, "out": 150 * done, "line_in": 14 * done, "line_out": 160 * done},
            "errors": {},
            **dict.fromkeys(COUNTERS, 0),
            # Users type for a quarter of the time in which they do not wait.
            "sums": {
                "think": 0.75 * (users - waiting + delayed),
                "keying": 0.25 * (users - waiting + delayed),
                "response": waiting,
                "response_from_sent": waiting - delayed,
            },
            "unfinished": 1,
            "oldest": 0.05,
            "cpu": 0.01,
            "run_wait": 0.001,
            "spun": 0.002,
            "threads": 1,
        }

    def _durations(self, responses: list[float], delay: float, first: bool) -> list[tuple[str, Sequence[float]]]:
        name = f"interactive/{quote('a, b/c', safe='')}"
        return [
            (f"{name}/response", responses),
            (f"{name}/response_from_sent", [each - delay for each in responses]),
            (f"{name}/first_response", [each / 2 for each in responses]),
            ("interactive/keys/lateness", [0.00002] * 13 * len(responses)),
            *(self.histograms if first else ()),
        ]

    def _users(self, agent: int) -> list[Row]:
        return [
            self.edit_user(
                {
                    "step": step,
                    "group": "interactive",
                    "user": user,
                    "transactions": 15,
                    "mean": self.slow.get(user, 0.15),
                    "max": 0.2,
                    "unanswered": 0,
                    "waits": None,
                    "waited": 0.0,
                    "lost": "reset" if user in self.lost else None,
                }
            )
            for step, users in enumerate(self.users)
            for user in range(agent, users, self.agents)
        ]


SKIPS: Row = {"skipped": 1}
"""A second in which one action that was due is skipped."""


def write_rows(file: Path, rows: Iterable[Row]) -> None:
    """Write a file with a JSON object on each row."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def change_run(folder: Path, **facts: object) -> Path:
    """Change the content of `run.json`."""
    with edit_run(folder) as run:
        run.update(facts)
    return folder


@contextmanager
def edit_run(folder: Path) -> Iterator[Row]:
    """The content of `run.json`, which is written back with what was changed in it."""
    run = json.loads((folder / "run.json").read_text())
    yield run
    (folder / "run.json").write_text(json.dumps(run))


def measured(**change: object) -> Callable[[Row], Row]:
    """Change the rows of the measurement interval."""
    return lambda row: row | change if row["phase"] == "measure" else row


def settling(**change: object) -> Callable[[Row], Row]:
    """Change the rows before the measurement interval."""
    return lambda row: row | change if row["phase"] == "settle" else row


def waiting(**who: float) -> Row:
    """The users who wait at the end of a second, by the names of `WaitingCounts`; counts that are not given are 0."""
    return {**dict.fromkeys((each.name for each in fields(WaitingCounts)), 0), **who}


def arrivals(count: int, **what: int) -> Row:
    """What became of `count` arrivals of an open load, by the names of `ArrivalCounts`; others are 0."""
    return {**dict.fromkeys((each.name for each in fields(ArrivalCounts)), 0), "count": count, **what}


def change_rows(file: Path, change: Callable[[Row], Row | None]) -> None:
    """Replace the rows of a file by what `change` makes of each; None leaves one out."""
    changed = [change(json.loads(row)) for row in file.read_text().splitlines()]
    write_rows(file, (row for row in changed if row is not None))


def rows(step: int, second: int, durations: Sequence[tuple[str, Sequence[float]]]) -> list[str]:
    """Write rows of a histogram log."""
    return [
        f"Tag={step}/{name},{second:.3f},1.000,{max(values):.3f},{encode(values)}\n"
        for name, values in durations
        if values
    ]
