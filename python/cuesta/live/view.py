"""One moment of a run, from what is seen of all its agents and hosts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuesta.columns import cut
from cuesta.plain_text import plain
from cuesta.records.merging import add_histograms, per_second
from cuesta.records.messages import UserGlimpse
from cuesta.records.meter_report import MeterReport
from cuesta.records.observation import Observation, RunOfSeries, SearchState
from cuesta.records.reading import from_json
from cuesta.records.rows import MeterRecord, WaitingCounts, WaitSample
from cuesta.units import many, seconds

LONG = 5.0
"""Seconds of the longest wait from which it is shown: the answer may never arrive."""
MOST_SHOWN = 40
"""Most columns of a row of a screen that are shown."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Times of the last interval, of all agents together; seconds."""

    count: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class HostView:
    """The newest reading of one host's meters, in percent of its CPUs."""

    usr: float | None = None
    sys: float | None = None
    idle: float | None = None
    causes: Sequence[tuple[str, float]] = ()
    """By cause, the largest first."""
    why: str | None = None
    """Why there is no reading; None if there is."""


@dataclass(frozen=True, slots=True)
class View:
    """One moment of a run. Times are seconds."""

    elapsed: float
    total: float | None
    """The planned length of the run, or `elapsed` if transactions under way prolong it; None if steps may be added."""
    phase: str
    step: int
    steps: int
    users: int
    per_s: float
    """Transactions a second in the last interval."""
    response: Quantiles | None
    errors: int
    """Errors since the start."""
    waiting: int = 0
    """Users who wait for an answer, a prompt or an echo."""
    longest: float = 0.0
    """The longest of these waits."""
    stuck: WaitSample | None = None
    """The longest wait whose screen is known."""
    keys_per_s: float = 0.0
    """Keys a second in the last interval."""
    echo: Quantiles | None = None
    lateness: Quantiles | None = None
    driver_cpu: float = 0.0
    """CPU time of all drivers in the last interval, as a part of one core."""
    doing: Mapping[str, int] = field(default_factory=dict)
    """How many users do what (`Snapshot.doing`)."""
    glimpses: Sequence[UserGlimpse] = ()
    """Users of all agents: the slowest first."""
    hosts: Sequence[HostView] = ()
    search: SearchState | None = None
    """How far the search is that the run belongs to."""
    series: RunOfSeries | None = None
    """Which run of several this is."""
    is_finished: bool = False
    """Whether all agents have written all."""

    def __str__(self) -> str:
        step = f" {self.step + 1}/{self.steps}" if self.steps > 1 else ""
        total = "" if self.total is None else f"/{self.total:.0f}"
        response = (
            "-" if self.response is None else (f"p50 {seconds(self.response.p50)} p99 {seconds(self.response.p99)}")
        )
        return (
            f"{self.phase}{step}  {self.elapsed:.0f}{total} s  {many(self.users, 'user')}  "
            f"{self.per_s:.1f} transactions/s  response {response}  {many(self.errors, 'error')}"
            f"{self._stuck()}"
        )

    @property
    def is_stuck(self) -> bool:
        """Whether a user has waited for so long that the answer may never arrive."""
        return self.longest >= LONG

    def _stuck(self) -> str:
        if not self.is_stuck:
            return ""
        if self.stuck is None:
            return f"; {many(self.waiting, 'user')} waiting for the host, the longest for {seconds(self.longest)}"
        row, has = self.stuck.row, "have" if self.stuck.users > 1 else "has"
        shows = "" if row is None else f"; the screen shows `{shorten(row)}`" if row else "; the cursor's row is empty"
        waited = f"{many(self.stuck.users, 'user')} {has} waited {self.stuck.seconds:.0f} s"
        return f"; {waited} for {shorten(self.stuck.condition)}{shows}"


def shorten(text: str) -> str:
    """The beginning of a text from the host or a tape, without control characters."""
    return cut(plain(text), MOST_SHOWN)


def merge(seen: Observation) -> View | None:
    """Combine what is seen of all agents and hosts; None before the first snapshot."""
    snapshots = seen.snapshots
    if not snapshots:
        return None
    first = min(snapshots, key=lambda each: each.seconds)
    return View(
        elapsed=first.seconds,
        total=None if first.total is None else max(first.total, first.seconds),
        phase=first.phase or "start",
        step=first.step,
        steps=first.steps,
        users=sum(each.users for each in snapshots),
        per_s=per_second(snapshots, lambda each: each.transactions),
        response=_quantiles(each.response for each in snapshots),
        errors=sum(each.errors for each in snapshots),
        waiting=sum(_waiting(each.waiting) for each in snapshots),
        longest=max(each.waiting.oldest for each in snapshots),
        stuck=_longest([each.long_wait for each in snapshots if each.long_wait]),
        keys_per_s=per_second(snapshots, lambda each: each.keys),
        echo=_quantiles(each.echo for each in snapshots),
        lateness=_quantiles(each.lateness for each in snapshots),
        driver_cpu=per_second(snapshots, lambda each: each.cpu),
        doing=_add_up([each.doing for each in snapshots]),
        glimpses=sorted((each for agent in snapshots for each in agent.glimpses), key=_slowness, reverse=True),
        hosts=[_host(row) for row in seen.meters],
        search=seen.search,
        series=seen.series,
        is_finished=all(each.finished for each in snapshots),
    )


def _quantiles(encoded: Iterable[str | None]) -> Quantiles | None:
    times = add_histograms(encoded)
    return times and Quantiles(times.count, times.quantile(0.5), times.quantile(0.95), times.quantile(0.99))


def _add_up(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}


def _slowness(glimpse: UserGlimpse) -> float:
    return max(glimpse.waited, glimpse.mean)


def _host(record: MeterRecord) -> HostView:
    if record.row is None:
        return HostView(why=record.gap)
    report = from_json(MeterReport, record.row)
    by_cause = report.by_cause.value.causes if report.by_cause.value else {}
    causes = [(name, value) for name, cause in by_cause.items() if (value := cause.percent.value)]
    return HostView(
        report.cpu.usr.value,
        report.cpu.sys.value,
        report.cpu.idle.value,
        sorted(causes, key=lambda each: -each[1]),
    )


def _waiting(counts: WaitingCounts) -> int:
    """The least possible number of waiting users: a user who waits for echoes may also wait for an answer."""
    return max(counts.answers + counts.prompts, counts.echoes)


def _longest(waits: list[WaitSample]) -> WaitSample | None:
    """The longest wait, with the users of all agents who wait for the same before the same row."""
    longest = max(waits, key=lambda each: each.seconds, default=None)
    if longest is None:
        return None
    alike = [each for each in waits if (each.condition, each.row) == (longest.condition, longest.row)]
    return replace(longest, users=sum(each.users for each in alike))
