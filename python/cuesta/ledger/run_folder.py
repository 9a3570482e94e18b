"""Reads a run folder. It derives nothing, except exact sums of histograms.

`docs/folder.md` describes the files. All times are seconds; those of a run count from its start. Files may be cut off
at any byte: what cannot be read is left out, and `Recorded.damage` has a sentence on it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from cuesta._native import Histogram
from cuesta.errors import InputError
from cuesta.ledger.agents import AgentNotes, offset_of, read_notes
from cuesta.ledger.meters import OF_THE_FIRST, Metered, name_files, read_metered
from cuesta.ledger.neighbours import RecordedNeighbour, read_neighbours
from cuesta.ledger.rows import JsonObject, RowReader, insist_on_known_format, place, read_object, why_unreadable
from cuesta.ledger.watching import RecordedMark, RecordedWatcher, place_marks, read_marks, read_watchers
from cuesta.ledger.wire import WireInterval, read_wire
from cuesta.records.reading import from_json
from cuesta.records.rows import HostSeriesRow, MarkRow, SeriesRow, UserRow
from cuesta.records.series import WAIT_ENDS

FORMAT = 1
"""The newest format of run folders that can be read."""

DERIVED = ("summary.json", "report.html")
"""Files of a run folder that can be derived from the others."""

PHASES = ("prepare", "connect", "tls", "upgrade", "negotiation", "login", "session")
"""The phases of opening a line, in their order."""

PARTS = ("banner", "key_exchange", "methods", "authentication", "channel", "pty", "shell", "first_output")
"""The parts of the phases of an ssh line, in their order; `first_output` of any line."""

OPENING = {f"{phase}{end}" for phase in (*PHASES, *PARTS) for end in WAIT_ENDS}
"""Series of the phases of opening a line."""

ROUNDING = 1e-3
"""Seconds by which a row may extend beyond its interval, because of rounding."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The begin of a segment of a run. A run has several if its sweep changes lines, tapes, seed or host."""

    step: int
    """Number of its first step."""
    clock: int
    """Nanoseconds on the engine's clock."""
    time: float
    """Seconds from the start of the run."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """One load step: users are added from `begin`; the measurement interval is from `settled` to `end`."""

    begin: float
    settled: float
    end: float

    def holds(self, row: "HistogramRow") -> bool:
        """Whether a row belongs to the measurement interval, or, if it is about the opening of lines, to the step."""
        begin = self.begin if row.tag.series in OPENING else self.settled
        return begin - ROUNDING <= row.start and row.start + row.length <= self.end + ROUNDING


@dataclass(frozen=True, slots=True)
class Tag:
    """The step, group, source and series of a histogram."""

    step: int
    group: str
    source: str
    """The name of a transaction; else `keys`, `line` or `stamped`."""
    series: str

    @classmethod
    def parse(cls, text: str, first_step: int = 0) -> Self:
        """Read `STEP/GROUP/SOURCE/SERIES`, each name percent-encoded."""
        step, group, source, series = text.split("/")
        return cls(first_step + int(step), unquote(group), unquote(source), unquote(series))


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """One row of `histograms.hlog`: the durations of one tag in about a second."""

    agent: int
    tag: Tag
    start: float
    length: float
    histogram: Histogram

    @classmethod
    def parse(cls, agent: "Agent", row: str) -> Self:
        """Read `Tag=…,start,length,max,histogram`."""
        tag, start, length, _, encoded = row.removeprefix("Tag=").split(",")
        histogram = Histogram.decode(encoded.strip())
        return cls(
            agent.number, Tag.parse(tag, agent.origin.step), agent.origin.time + float(start), float(length), histogram
        )


@dataclass(frozen=True, slots=True)
class Interval(SeriesRow):
    """A row of `series.jsonl` in the run: its step and start are those of the whole run."""

    @property
    def measured(self) -> bool:
        return self.phase == "measure"


@dataclass(frozen=True, slots=True)
class Agent:
    """The records of one agent in one segment of a run."""

    number: int
    folder: Path
    origin: Origin
    steps: dict[int, StepTimes]
    intervals: list[Interval]
    users: list[UserRow]
    notes: AgentNotes
    """Its clock by the engine's, and how it died."""
    ending: JsonObject | None
    """From `agent.json`: `ended`, `reason`, `rss_per_user`, `notes`; None if the agent was cut off."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """One row of `host/series.jsonl`: the built-in host's meters over about a second."""

    end: float
    length: float
    figures: HostSeriesRow

    @classmethod
    def from_json(cls, row: JsonObject, begun: int) -> Self:
        """Convert a row's times to those of the run, which began at `begun` on the host's clock, in ns."""
        figures = from_json(HostSeriesRow, row)
        return cls((figures.at - begun) / 1e9, figures.length, figures)


@dataclass(frozen=True)
class Recorded:
    """A run folder."""

    folder: Path
    run: JsonObject
    """The content of `run.json`: the plan, its tapes, the machine."""
    agents: list[Agent]
    measured: dict[tuple[int, Tag], Histogram]
    """Durations in the measurement intervals, added up exactly by agent and tag; of openings, in the whole steps."""
    host: list[HostRow]
    """The built-in host's own meters, about a row each second; empty if the run had another host."""
    damage: list[str]
    """What could not be read, a sentence each."""
    metered: Metered = field(default_factory=Metered)
    """The records of the host's meters; of several hosts, of the first one's."""
    hosts: Mapping[str, Metered] = field(default_factory=dict)
    """Those of each host by its name, the first one's included; empty if only one is metered."""
    wire: Mapping[int, WireInterval] = field(default_factory=dict)
    """What crossed the wire between driver and host in the steps of an isolated run."""
    neighbours: Mapping[int, RecordedNeighbour] = field(default_factory=dict)
    """What ran beside the steps that have a neighbour."""
    marks: Sequence[RecordedMark] = ()
    """What those who watched marked, in order of time."""
    watchers: Mapping[int, Sequence[RecordedWatcher]] = field(default_factory=dict)
    """What watching cost in each step; empty if the run was not watched."""

    @property
    def steps(self) -> dict[int, StepTimes]:
        return all_steps(self.agents)

    def measured_in(self, step: int) -> dict[tuple[int, Tag], Histogram]:
        return {key: histogram for key, histogram in self.measured.items() if key[1].step == step}

    @property
    def plan(self) -> JsonObject:
        plan: JsonObject = self.run.get("plan", {})
        return plan

    @property
    def resumed(self) -> str:
        """The folder of the segment with which a search was resumed last; empty for any other run.

        How earlier segments ended does not matter: the search went on, and repeated the trial that was cut off.
        """
        segments = self.run.get("segments", [])
        return segments[-1]["folder"] if "search" in self.run and len(segments) > 1 else ""

    @property
    def last_agents(self) -> list[Agent]:
        """The agents whose end is the run's: of a search that was resumed those of its last segment."""
        return [agent for agent in self.agents if self.resumed in ("", agent.folder.parent.name)]

    def histogram_rows(self) -> Iterator[HistogramRow]:
        """Every readable row of the histogram logs, agent by agent in order of time."""
        for agent in self.agents:
            yield from read_histogram_rows(agent, [], RowReader())


Notes = Mapping[Path, Mapping[int, AgentNotes]]
"""What was noted of agents, by segment and number."""


def open_run(folder: Path | str) -> Recorded:
    """Open a run folder. Raises InputError if there is none, or one that a newer cuesta wrote."""
    return RunReader(folder).read()


class RunReader:
    """Reads a run folder, and again while the run goes on: then only the rows that were added since."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.origins: dict[Path, Origin] = {}
        self._reset()

    def _reset(self) -> None:
        self.reader = RowReader()
        self.intervals, self.users = defaultdict[Path, list[Interval]](list), defaultdict[Path, list[UserRow]](list)
        self.measured = dict[tuple[int, Tag], Histogram]()
        self.host, self.metered = list[HostRow](), dict[str, Metered]()
        self.wire, self.neighbours = dict[int, WireInterval](), dict[int, RecordedNeighbour]()
        self.marks = defaultdict[Path, list[MarkRow]](list)
        self.watchers = defaultdict[int, list[RecordedWatcher]](list)

    def read(self) -> Recorded:
        """All records so far; lists that an earlier call returned grow with them. Raises InputError as `open_run`."""
        run, damage = read_run(self.folder), list[str]()
        noted = {segment: read_notes(segment, damage) for segment in segment_folders(self.folder)}
        known = self._known_agents(noted, damage)
        agents = [self._read_agent(path, *known[path], damage) for path in self.origins]
        agents += absent_agents(self.folder, run, agents, noted, damage)
        if not agents:
            damage.append("no agent has recorded anything")
        self._add_up(agents, damage)
        begun = next((agent.origin.clock for agent in agents if agent.origin.clock), 0)
        segments = [(0 if path is self.folder else number_of(path), path) for path in noted]
        starts = {path.parent: self.origins[path].time for path, (timeline, _) in known.items() if timeline}
        for segment, notes in noted.items():
            self.host += read_host(segment, notes, begun, damage, self.reader)
            self.marks[segment] += read_marks(segment, damage, self.reader)
        for file, name in name_files(run.get("metered", ())).items():
            paths = [(first, path / file) for first, path in segments]
            read_metered(paths, begun, damage, self.reader, self.metered.setdefault(file, Metered(name=name)))
        self.wire |= read_wire(segments, begun, damage, self.reader)
        self.neighbours |= read_neighbours(segments, begun, damage, self.reader)
        for step, watcher in read_watchers(segments, damage, self.reader):
            self.watchers[step].append(watcher)
        return Recorded(
            folder=self.folder,
            run=run,
            agents=agents,
            measured=self.measured,
            host=self.host,
            damage=damage,
            metered=self.metered[OF_THE_FIRST],
            hosts={each.name: each for each in self.metered.values() if each.name},
            wire=self.wire,
            neighbours=self.neighbours,
            marks=place_marks(self.marks, starts),
            watchers=self.watchers,
        )

    def _known_agents(self, noted: Notes, damage: list[str]) -> dict[Path, tuple[JsonObject, AgentNotes]]:
        """Read the timelines of all agents. A segment that was added or replaced makes all be read again."""
        known, origins, begun = dict[Path, tuple[JsonObject, AgentNotes]](), dict[Path, Origin](), 0
        for segment, notes in noted.items():
            first = 0 if segment is self.folder else number_of(segment)
            for path in sorted(segment.glob("agent-*"), key=number_of):
                timeline, own = read_object(path / "timeline.json", damage), notes.get(number_of(path), AgentNotes())
                start = timeline["start_at"] - own.offset if "start_at" in timeline else begun
                begun = begun or start
                known[path], origins[path] = (timeline, own), Origin(first, start, (start - begun) / 1e9)
        if origins != self.origins:
            self.origins = origins
            self._reset()
        return known

    def _read_agent(self, folder: Path, timeline: JsonObject, notes: AgentNotes, damage: list[str]) -> Agent:
        """Read an agent's folder, except its histograms."""
        origin, intervals, users = self.origins[folder], self.intervals[folder], self.users[folder]
        rows = [
            [origin.time + row[at] / 1e9 for at in ("begin", "settled", "end")] for row in timeline.get("steps", [])
        ]
        steps = {origin.step + index: StepTimes(*row) for index, row in enumerate(rows)}
        for interval in self.reader.json_rows(folder / "series.jsonl", partial(from_json, Interval), damage):
            intervals.append(replace(interval, step=origin.step + interval.step, start=origin.time + interval.start))
        for user in self.reader.json_rows(folder / "users.jsonl", partial(from_json, UserRow), damage):
            users.append(replace(user, step=origin.step + user.step))
        ending = read_object(folder / "agent.json", damage)
        return Agent(number_of(folder), folder, origin, steps, intervals, users, notes, ending or None)

    def _add_up(self, agents: list[Agent], damage: list[str]) -> None:
        """Add up the histograms of the measurement intervals exactly; those of openings, of the whole steps."""
        steps = all_steps(agents)
        for agent in (agent for agent in agents if agent.folder.is_dir()):
            known = steps | agent.steps
            for row in read_histogram_rows(agent, damage, self.reader):
                if not ((step := known.get(row.tag.step)) and step.holds(row)):
                    continue
                key = (row.agent, row.tag)
                if key in self.measured:
                    self.measured[key].merge(row.histogram)
                else:
                    self.measured[key] = row.histogram


def read_host(
    segment: Path, notes: Mapping[int, AgentNotes], begun: int, damage: list[str], reader: RowReader
) -> Iterator[HostRow]:
    """Read the built-in host's meters in a segment. The run began at `begun` on the engine's clock, in ns."""
    path, about = segment / "host" / "series.jsonl", segment / "host" / "host.json"
    if path.exists():
        clock = read_object(about, damage).get("clock") if about.exists() else None
        begun += offset_of(clock, notes)
        yield from reader.json_rows(path, lambda row: HostRow.from_json(row, begun), damage)


def read_run(folder: Path) -> JsonObject:
    path = folder / "run.json"
    try:
        run: JsonObject = json.loads(path.read_bytes())
        version = run["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: not a run folder: there is no run.json in it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be read: {why_unreadable(error)}") from None
    insist_on_known_format(folder, version, FORMAT, run.get("cuesta"))
    return run


def segment_folders(folder: Path) -> list[Path]:
    """The folders of a run's segments: its own, and one for each later segment, in order."""
    return [folder, *sorted(folder.glob("segment-*"), key=number_of)]


def number_of(folder: Path) -> int:
    """The K of `agent-K` or `segment-K`; 0 for any other name."""
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def raw_files(folder: Path) -> list[Path]:
    """The raw files in order of names, without derived ones."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return sorted(path for path in files if path.relative_to(folder).as_posix() not in DERIVED)


def absent_agents(
    folder: Path, run: JsonObject, agents: list[Agent], noted: Notes, damage: list[str]
) -> Iterator[Agent]:
    """Empty records for planned agents without records. A run that ended early has no later segments."""
    for segment in (folder / segment["folder"] for segment in planned_segments(run)):
        own = {agent.number: agent for agent in agents if agent.folder.parent == segment}
        notes = noted.get(segment, {})
        for number in range(run.get("agents", 0)):
            if number not in own:
                path = segment / f"agent-{number}"
                damage.append(f"{path.relative_to(folder)}: has recorded nothing")
                yield Agent(number, path, Origin(0, 0, 0.0), {}, [], [], notes.get(number, AgentNotes()), None)
        is_early = any(agent.ending and agent.ending["ended"] != "completed" for agent in own.values())
        is_cut_off = len(own) < run.get("agents", 0) or not all(agent.ending for agent in own.values())
        if is_early or (is_cut_off and any(note.death for note in notes.values())):
            return


def planned_segments(run: JsonObject) -> list[JsonObject]:
    """The segments that should have records. A search that was resumed and ended before a trial has an empty one."""
    segments: list[JsonObject] = run.get("segments", [{"folder": "."}])
    return [each for each in segments if each.get("steps", True)] or segments[:1]


def all_steps(agents: list[Agent]) -> dict[int, StepTimes]:
    """The steps by number. All agents have the same steps, unless one was cut off, or its clock drifted in a search."""
    return {number: step for agent in agents for number, step in agent.steps.items()}


def read_histogram_rows(agent: Agent, damage: list[str], reader: RowReader) -> Iterator[HistogramRow]:
    path = agent.folder / "histograms.hlog"
    if agent.intervals and path.exists() and not path.stat().st_size:  # it is written with the first interval
        damage.append(f"{place(path)}: is empty")
    return reader.parsed_rows(path, lambda row: HistogramRow.parse(agent, row), damage, start="Tag=")
