"""The engine's side of metering: it starts the metering process, records its rows, and asks for a report of each step.

A failure of the meters does not end the run: a metering process that dies leaves a gap in `meters.jsonl` and is started
again, three times at most. Of several hosts each has a process, a record and failures of its own.
"""

import json
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from cuesta import _native
from cuesta.engine.local.child_processes import SSH_REMEDIES, in_one_line, read_errors
from cuesta.engine.local.expected_steps import ExpectedSteps
from cuesta.engine.local.meter_source import MeterSource
from cuesta.errors import find_remedy
from cuesta.private_files import RecordFile, record_file, write_private
from cuesta.records.reading import to_row
from cuesta.records.rows import MeterRecord

RESTARTS = 3
PAUSE = 1.0
"""Seconds before a meter that died starts again."""
PATIENCE = 10.0
"""Seconds that a meter has to end."""
STARTING = 60.0
"""Seconds that a meter has for its first reading: on a busy machine tracers load slowly."""
LATE = 500_000_000
"""The most nanoseconds between a bound and its reading."""
PATH_ROW = '{"host_at"'
"""The beginning of a row of `paths.jsonl`, which is recorded as it is."""
REMEDIES = SSH_REMEDIES | {
    "not found": "install cuesta there, or say where it is: ssh://HOST?command=/opt/cuesta/bin/cuesta",
    "no such file": "say where cuesta is there: ssh://HOST?command=/opt/cuesta/bin/cuesta",
}
"""Remedies by words in the errors of ssh or the remote shell."""


@contextmanager
def run_all_meters(sources: Sequence[MeterSource], folder: Path) -> Iterator[Sequence["Metering"]]:
    """Run the meters of each host; the first has the files without a name."""
    with ExitStack() as stack:
        meters = [
            stack.enter_context(run_meters(source, folder, f"-{source.name}" if number else ""))
            for number, source in enumerate(sources)
        ]
        try:
            yield meters
        finally:
            for each in meters:
                each.end()  # all at one time; leaving the stack waits for them


@contextmanager
def run_meters(source: MeterSource, folder: Path, suffix: str = "") -> Iterator["Metering"]:
    """Run the meters of one host. `suffix` ends the names of its files, without their extension."""
    with ExitStack() as files:
        file = files.enter_context(record_file(folder / f"meters{suffix}.jsonl", "a"))
        follows = source.request and source.request.follow
        paths = files.enter_context(record_file(folder / f"paths{suffix}.jsonl", "a")) if follows else None
        meter = Metering(source, file, folder / f"flame{suffix}.svg", paths)
        meter.start()
        try:
            yield meter
        finally:
            meter.stop()


class Metering:
    """A metering process and its record."""

    def __init__(self, source: MeterSource, file: RecordFile, flame: Path, paths: RecordFile | None = None) -> None:
        self.meter_source = source
        self.file = file
        self.paths = paths
        """The record of the paths of keys, if they are followed."""
        self.flame = flame
        """The file of its flame graph."""
        self.process: subprocess.Popen[str] | None = None
        self.errors: IO[bytes] | None = None
        self.marks: deque[tuple[int | None, int | None]] = deque()
        """For each unanswered mark: the step that ends there, or None; when it was sent, if it marks a bound."""
        self.profiles: deque[int | None] = deque()
        """For each unanswered request for a profile: the step that ended there, or None."""
        self.measuring: int | None = None
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.reads = threading.Event()
        """Set after the first reading, or when there will be none."""
        self.expected = ExpectedSteps()
        """The steps to report."""
        self.reported = -1
        """The last step whose report is written."""
        self.newest: MeterRecord | None = None
        """Its last reading, or why there is none."""
        self.threads: list[threading.Thread] = []

    def start(self) -> None:
        self._write(MeterRecord(at=_native.now(), about=self.meter_source.about))
        if self.meter_source.command:
            self._launch(self.meter_source.command)
            self._start_thread(self._listen)
            self._start_thread(self._mark_bounds)

    def has_reported(self, number: int) -> bool:
        """Whether a step's report is written, or will never be, because the process has ended."""
        return self.reported >= number or self.process is None or self.process.poll() is not None

    def wait_until_it_reads(self) -> None:
        """Wait for the first reading: a meter takes a second to start."""
        if self.process:
            with self.lock:
                self._send_mark((None, None))  # answered as soon as it reads
            if not self.reads.wait(STARTING):
                self._gap(f"no reading came within {STARTING:.0f} s")

    def expect(self, number: int, settled: int, end: int) -> None:
        """Ask for a report of a step: between two instants of the monotonic clock, in ns. Steps are given in order."""
        self.expected.expect(number, settled, end)

    def cut(self, number: int, at: int) -> None:
        """Have the report of an expected step end at an instant ahead."""
        self.expected.cut(number, at)

    def expect_no_more(self) -> None:
        self.expected.expect_no_more()

    def end(self) -> None:
        """Have the process end; a step that is cut short still gets its report."""
        if self.ending.is_set():
            return
        self.ending.set()
        self.expected.stop()
        if self.process and self.process.stdin:
            with self.lock:
                if self.measuring is not None:
                    self._mark(self.measuring)
                with suppress(OSError):
                    self.process.stdin.close()

    def stop(self) -> None:
        """End the process, and wait for its end."""
        self.end()
        if self.process:
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for thread in self.threads:
            thread.join()
        self._close()

    def _launch(self, command: Sequence[str]) -> None:
        self._close()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115, closed when the process has ended
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                encoding="utf-8",
                start_new_session=True,  # only the engine handles Ctrl-C at the terminal
            )
        except OSError as error:
            self.process = None
            self._gap(f"{command[0]}: {error.strerror}")
            return
        if self.meter_source.request:
            self._send(self.meter_source.request.json())

    def _close(self) -> None:
        """Close the pipes of a process that has ended."""
        for end in (self.process and self.process.stdin, self.process and self.process.stdout, self.errors):
            if end:
                with suppress(OSError):
                    end.close()

    def _start_thread(self, work: Any) -> None:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.threads.append(thread)

    def _mark_bounds(self) -> None:
        """Send a mark at both bounds of each expected step."""
        for number, ends in self.expected.bounds():
            with self.lock:  # so that `stop` sees `measuring` and its mark change together
                self.measuring = None if ends else number
                self._mark(number if ends else None)

    def _mark(self, step: int | None) -> None:
        """Send the mark of a bound, and take the profile since the bound before. The caller holds the lock."""
        self._send_mark((step, _native.now()))
        self.profiles.append(step)
        if not self._send("profile"):
            self.profiles.pop()

    def _send_mark(self, mark: tuple[int | None, int | None]) -> None:
        """Send a mark. Note it first, since the answer may arrive before `_send` returns."""
        self.marks.append(mark)
        if not self._send("mark"):
            self.marks.pop()

    def _send(self, order: str) -> bool:
        with suppress(OSError, ValueError):
            if self.process and self.process.stdin:
                self.process.stdin.write(f"{order}\n")
                self.process.stdin.flush()
                return True
        return False

    def _listen(self) -> None:
        """Record its output; start it again if it ends by itself."""
        assert self.meter_source.command
        for restarts_left in reversed(range(RESTARTS + 1)):
            if self.process and self.process.stdout:
                for text in self.process.stdout:
                    self._take(text)
                self.process.wait()
                if self.ending.is_set():
                    return
                self._gap(self._describe_end())
            if not restarts_left or self.ending.wait(PAUSE):
                return
            with self.lock:
                self.marks.clear()
                self.profiles.clear()
                self._launch(self.meter_source.command)

    def _take(self, text: str) -> None:
        if self.paths and text.startswith(PATH_ROW):
            return self.paths.write_text(text)
        self.reads.set()
        try:
            row = json.loads(text)
        except ValueError:
            return self._gap(f"it said: {text.strip()[:80]}")
        if profile := row.get("profile"):
            step = self.profiles.popleft() if self.profiles else None
            if step is None:
                return None  # of the time before a measurement interval
            with suppress(OSError):  # the recorder reports a full disk
                write_private(self.flame, profile["flame"])
            return self._write(MeterRecord(at=_native.now(), step=step, profile=profile["listing"]))
        if self.meter_source.source != "here":
            row["at"] = _native.now()  # the other machine has another clock
        if not row.pop("mark", False):
            return self._write(MeterRecord(at=row["at"], row=compact(row), seconds=row["seconds"]))
        step, asked = self.marks.popleft() if self.marks else (None, None)
        if asked is not None and (late := row["at"] - asked) > LATE:
            self._gap(f"it read {late / 1e9:.1f} s after a bound of a step: figures are not of all of it")
        if step is not None:
            self._write(MeterRecord(at=row["at"], step=step, sheet=row))
            self.reported = step
        return None

    def _gap(self, why: str) -> None:
        self.reads.set()
        self._write(MeterRecord(at=_native.now(), gap=why))

    def _describe_end(self) -> str:
        """The end of the process's own error message, or its exit code; and what to do."""
        assert self.process
        message = read_errors(self.errors) if self.errors else ""
        why = in_one_line(message)[-500:] or f"the meter's process ended with {self.process.returncode}"
        remedy = remedy_for(self.meter_source.source, why)
        return f"{why}; {remedy}" if remedy else why

    def _write(self, row: MeterRecord) -> None:
        if row.row is not None or row.gap is not None:
            self.newest = row
        self.file.write(to_row(row))


def remedy_for(source: str, why: str) -> str | None:
    """The remedy, if one is known."""
    if source == "node_exporter":
        return "see whether it still runs"
    return find_remedy(why, REMEDIES) if source == "ssh" else None


LEFT_OUT = ("notes", "total_time", "wall", "subject")
"""Tables of a report that its compact form leaves out."""


def compact(value: Any) -> Any:
    """The compact form of a report (docs/folder.md): tiers and reasons are in the reports of steps."""
    if isinstance(value, list):
        return [compact(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "tier" in value and "value" in value:
        return compact(value["value"])
    if set(value) == {"why"}:
        return None
    kept = {name: compact(each) for name, each in value.items() if name not in LEFT_OUT}
    return {name: each for name, each in kept.items() if each is not None}
