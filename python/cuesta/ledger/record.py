"""The schema of `certification.json` and `record.json`; docs/certify.md and docs/record.schema.json publish it.

`python -m cuesta.ledger.record > docs/record.schema.json` writes the latter anew.
"""

import json
import re
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from cuesta.terminal import show

FORMAT = 1
"""The newest format of certification folders and records that is read."""


class RecordPart(BaseModel):
    """A table of a record: immutable, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absence(StrEnum):
    """Reasons for a missing figure that programs tell from others; it is not written to `record.json`."""

    NO_PHASE = "no phase"
    """The run has no such phase: a benchmark creates nothing."""
    NO_RUN = "no run"
    """No run counts."""
    NO_EVENT = "no event"
    """The average has no events to divide by."""
    NO_REFERENCE = "no reference"
    """The plan names no reference system."""


class RecordFigure(RecordPart):
    """A number, or why there is none."""

    value: float | None = None
    why: str | None = None
    standard_error: float | None = Field(default=None, description="where it rests on samples")
    low: float | None = Field(default=None, description="of its 95 % interval, by what so many samples can tell")
    high: float | None = None
    absence: SkipJsonSchema[Absence | None] = Field(None, exclude=True, repr=False)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.value is None) == (self.why is None):
            raise ValueError("a figure has either a value or a reason why it has none")
        return self


class Reference(RecordPart):
    """A system whose time for the same command sequence is compared with."""

    system: str
    seconds: float = Field(description="CPU time of the command sequence, of one process")
    sha256: str = Field(description="of the reference's record.json")
    runs: list[float] = Field([], description="the same run by run")


class CertificationSetup(RecordPart):
    """What is known before the first run and derived of nothing: `certification.json`."""

    format: int = FORMAT
    kind: Literal["certification", "benchmark"]
    cuesta: str = Field(description="version that ran it")
    started: str = Field(description="UTC")
    command: list[str]
    system: str = Field(description="what is certified")
    plan: str = Field(description="name of the plan")
    group: str
    script: str = Field(description="the script that the users play, with all tapes that it sources")
    pause: float | None = Field(description="seconds between the phases; a benchmark has one phase, and no pause")
    pauses: float = Field(description="seconds that the script pauses by itself, each pause once")
    runs: int = Field(description="runs that were asked for")
    settings: dict[str, str] = Field(description="variable settings of the operating system, sorted")
    hardware: dict[str, str]
    factors: list[str] = Field(description="other factors expected to influence measurements")
    comments: list[str] = Field(description="by who certified")
    untraced: str | None = Field(None, description="why no run is traced; null if one is")
    reference: Reference | None = None


class Driver(RecordPart):
    """How good an instrument the driver was: the worst of all runs."""

    lateness_p50: RecordFigure
    lateness_p99: RecordFigure
    cpu: float = Field(description="seconds per second and thread")
    run_wait: float = Field(description="seconds per second and thread")


class Workload(RecordPart):
    """What the users did."""

    tape: str
    sha256: str = Field(description="of the script")
    target: str
    attached: Literal["typewriter", "FSIM", "line"]
    users: int
    load: str
    seed: int
    stagger: str


class Method(RecordPart):
    """How it was measured."""

    runs: int = Field(description="that count")
    excluded: dict[str, list[str]] = Field(description="runs that do not count, and why")
    settling: int = Field(description="runs before those that count")
    apart: dict[str, list[str]] = Field(description="runs that are made for one figure each: what for → folders")
    untraced: str | None = Field(description="why no run was traced")
    unmetered: RecordFigure = Field(description="mean real time of a process in the control run, which has no meters")
    cost: RecordFigure = Field(description="by which share metered runs take longer than the control run")
    settled: str = Field(description="the rule, and what came of it")
    cut: str = Field(description="how CPU time is told to belong to a phase, and with what resolution")
    metered: str
    honesty: str
    tools: dict[str, str]


class RunRow(RecordPart):
    """One run. Times are seconds."""

    folder: str
    creation: RecordFigure = Field(description="length of process creation")
    command: RecordFigure = Field(description="length of the command sequence; of a benchmark the makespan")
    creation_cpu: RecordFigure = Field(description="CPU time of subject processes")
    command_cpu: RecordFigure
    completion: RecordFigure = Field(description="mean real time from the start of a process to its last answer")
    steal: RecordFigure = Field(description="share of the CPUs that the hypervisor took")
    idle: RecordFigure = Field(description="share of the CPUs in true idle, of all phases")
    accounted: RecordFigure = Field(description="share of the CPUs' time that uses, idle and steal add up to")
    transactions: int


RESTATED = {"creation_real", "creation_whole", "command_real"}
"""Keys of rows of part d that state the row above in another way: the form indents them."""


def is_numbered(key: str) -> bool:
    """Whether the form of 1969 numbers a row: not the totals, and not the restated rows."""
    return key != "total" and key not in RESTATED


class FormRow(RecordPart):
    """A row of the form: both phases and their total, the mean of all runs."""

    key: str = Field(description="what the row is called in programs; no two of a part are called alike")
    name: str = Field(description="MPL-17's words")
    today: str = Field("", description="today's words for it, where they are others")
    label: SkipJsonSchema[str] = Field("", exclude=True, repr=False)
    """The name with today's words in it, for people."""
    unit: Literal["s", "share", "number"]
    creation: RecordFigure
    command: RecordFigure
    total: RecordFigure
    formula: str


class ProcessRow(RecordPart):
    """A figure of part d, the mean of all runs."""

    key: str = Field(description="what the row is called in programs")
    name: str
    unit: Literal["s", "ratio", "share", "number"]
    figure: RecordFigure
    formula: str
    runs: list[float] = Field([], description="run by run, of a figure that other systems are held against")
    interval: tuple[float, float] | None = Field(None, description="of a ratio: exact, 95 %, over runs")


class Measurements(RecordPart):
    """MPL-17's part IV."""

    a: list[FormRow] = Field(description="CPU time breakdown")
    b: list[FormRow] = Field(description="CPU time used by subject processes, by cause")
    c: list[FormRow] = Field(description="number and average time of each")
    d: list[ProcessRow] = Field(description="average times seen by a process")


class Published(RecordPart):
    """A figure that the plan says was published, beside the same of the runs that count."""

    what: str = Field(description="what was published, and under which conditions")
    figure: str = Field(description="the figure here that is held against it, as in a plan's `[[published]]`")
    unit: Literal["s", "number"]
    published: float
    bound: Literal["at least", "at most"] | None = Field(description="if only that much was said of it")
    measured: RecordFigure = Field(description="the mean of all runs")
    source: str


class Check(RecordPart):
    """Something that must hold for a certificate."""

    name: str
    ok: bool
    said: str


class Record(RecordPart):
    """A certification: `record.json`."""

    format: int = FORMAT
    id: str = Field(description="SHA-256 over all raw files")
    given: CertificationSetup
    driver: Driver
    workload: Workload
    method: Method
    runs: list[RunRow]
    measurements: Measurements
    published: list[Published]
    checks: list[Check]
    grade: Literal["certified", "observation", "estimate"]
    because: list[str] = Field(description="why it is not certified")
    warnings: list[str]
    raw: dict[str, str] = Field(description="SHA-256 of every raw file")
    sha256: str = Field("", description="SHA-256 of this file's text without this member; older records have none")


PUBLISHED_NAMES = {
    "CertificationSetup": "Given",
    "FormRow": "Line",
    "ProcessRow": "Seen",
    "RecordFigure": "Figure",
    "RunRow": "Run",
}
"""Classes whose name in the published schema is that of format 1."""


def schema() -> str:
    """The schema of `record.json` as JSON Schema."""
    text = json.dumps(Record.model_json_schema())
    for name, published in PUBLISHED_NAMES.items():
        text = re.sub(rf'(?<=["/]){name}(?=")', published, text)
    document = json.loads(text)
    document["$defs"] = dict(sorted(document["$defs"].items()))
    return json.dumps(document, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    show(schema())
