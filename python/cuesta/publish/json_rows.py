"""Rows of JSON about a run for a pipe (`--json-lines`): one for each moment, and one for each step, mark and sentence.

Names and units are those of the object that `--json` prints, where it has the figure: times are seconds, those of the
last interval; `host.cpu` is in percent.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cuesta.live.view import HostView, View
from cuesta.plain_text import plain
from cuesta.publish.metrics import load

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a row of a moment."""

    name: str
    """With a dot if it is in an object within the row."""
    meaning: str
    read: Callable[[View], Any]


def _host(host: HostView) -> Row:
    cpu = {"usr": host.usr, "sys": host.sys, "idle": host.idle}
    return {"cpu": cpu, "cpu_by_cause": dict(host.causes), "why": host.why and plain(host.why)}


TIMES = "`count`, `p50`, `p95`, `p99` of those in the last interval; null if there was none"
MOMENT = (
    Field("kind", "`moment`", lambda _: "moment"),
    Field("seconds", "since the start of the run or its segment", lambda view: view.elapsed),
    Field("total", "its planned length; null while steps may be added", lambda view: view.total),
    Field("phase", "`start`, `settle`, `measure` …, as in the run folder", lambda view: view.phase),
    Field("step", "number of the load step or trial, from 0", lambda view: view.step),
    Field("steps", "how many steps there are", lambda view: view.steps),
    Field("users", "users with a line", lambda view: view.users),
    Field("load", "users of the step, started or not", load),
    Field("users_by_activity", "how many of them do what", lambda view: dict(view.doing)),
    Field("transactions.per_s", "in the last interval", lambda view: view.per_s),
    Field("keys.per_s", "in the last interval", lambda view: view.keys_per_s),
    Field("response", f"response times: {TIMES}", lambda view: view.response and asdict(view.response)),
    Field("echo", "times to echoes: likewise", lambda view: view.echo and asdict(view.echo)),
    Field("lateness", "the driver's own delay: likewise", lambda view: view.lateness and asdict(view.lateness)),
    Field("errors.count", "failures of the host or the line since the start", lambda view: view.errors),
    Field("waiting.users", "users who wait for the host", lambda view: view.waiting),
    Field("waiting.longest", "the longest of these waits", lambda view: view.longest),
    Field("driver.cpu", "CPU time of the driver in the last interval, of one core", lambda view: view.driver_cpu),
    Field(
        "hosts",
        "each metered host's newest reading: `cpu` (`usr`, `sys`, `idle`) and `cpu_by_cause`, in percent of its CPUs; "
        "`why` there is none",
        lambda view: [_host(host) for host in view.hosts],
    ),
)
OTHERS = {
    "step": "a load step or trial begins: `seconds`, `step`, `load`",
    "mark": "somebody marked the instant: `seconds`, `note`",
    "told": "a sentence on the progress: `seconds`, `text`",
    "end": "the last row: `seconds`, `folder`, and `summary`, the object that `--json` prints; null if there is none",
}
"""The other kinds of rows."""


class JsonRows:
    """Makes the rows of what is seen, one a moment, in order."""

    def __init__(self) -> None:
        self._moment: tuple[float, int] | None = None
        self._step: int | None = None
        """The step whose row was made last; None before the first of a segment."""
        self._seconds = 0.0

    def take(self, view: View) -> Iterator[Row]:
        """The rows of a moment; none if it has been seen before."""
        if self._moment == (view.elapsed, view.step):
            return
        if self._moment and view.elapsed < self._moment[0]:
            self._step = None  # another segment, whose time begins again
        if view.phase != "start" and view.step != self._step:  # until then its load is not known
            self._step = view.step
            yield {"kind": "step", "seconds": view.elapsed, "step": view.step, "load": load(view)}
        self._moment, self._seconds = (view.elapsed, view.step), view.elapsed
        yield moment_row(view)

    def mark(self, note: str) -> Row:
        """The row of an instant that somebody marked."""
        return {"kind": "mark", "seconds": self._seconds, "note": plain(note)}

    def tell(self, text: str) -> Row:
        """The row of a sentence on the progress."""
        return {"kind": "told", "seconds": self._seconds, "text": plain(text)}

    def end(self, folder: Path) -> Row:
        """The last row: where the run is, and the object that `--json` prints of it, if it has one."""
        try:
            summary = json.loads((folder / "summary.json").read_text())
        except (OSError, ValueError):
            summary = None
        return {"kind": "end", "seconds": self._seconds, "folder": str(folder), "summary": summary}


def moment_row(view: View) -> Row:
    """The object of one moment."""
    row: Row = {}
    for field in MOMENT:
        outer, _, inner = field.name.partition(".")
        if inner:
            row.setdefault(outer, {})[inner] = field.read(view)
        else:
            row[outer] = field.read(view)
    return row
