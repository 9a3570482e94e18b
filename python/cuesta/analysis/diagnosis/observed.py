"""What rules look at: everything about a step that may tell why lines failed or users waited. It derives no figure."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cuesta._native import Histogram
from cuesta.analysis.waits import Waits, count_values, select_waits
from cuesta.figures.counts import Errors
from cuesta.ledger import Recorded, StepTimes, Tag
from cuesta.ledger.meters import Metered
from cuesta.ledger.run_folder import PARTS, PHASES
from cuesta.records.meter_figure import MeterFigure
from cuesta.records.meter_report import Count, MeterReport
from cuesta.records.series import LINE


@dataclass(frozen=True)
class HostReadings:
    """The reports of a host's meters from the begin of a step to its end, each of about a second."""

    reports: Sequence[MeterReport]
    name: str = ""
    """Where several hosts are metered."""

    @property
    def is_machine(self) -> bool:
        """Whether a whole machine is metered, on which others may run too."""
        return self.reports[-1].subject == "machine"

    @property
    def where(self) -> str:
        """The end of a sentence on one of several hosts."""
        return f" at {self.name}" if self.name else ""

    def values(self, read: Callable[[MeterReport], MeterFigure[float]]) -> list[float]:
        return [value for report in self.reports if (value := read(report).value) is not None]

    def highest(self, read: Callable[[MeterReport], MeterFigure[float]]) -> float | None:
        """The highest value of a figure; None if it was not metered."""
        return max(self.values(read), default=None)

    def mean(self, read: Callable[[MeterReport], MeterFigure[float]]) -> float | None:
        """The mean of a figure over the time that was metered."""
        known = [(value, report.seconds) for report in self.reports if (value := read(report).value) is not None]
        seconds = sum(length for _, length in known)
        return sum(value * length for value, length in known) / seconds if seconds else None

    def total(self, read: Callable[[MeterReport], MeterFigure[Count]]) -> int:
        """The number of events; 0 also if they were not counted."""
        return sum(counted.count for report in self.reports if (counted := read(report).value) is not None)


@dataclass(frozen=True)
class Observed:
    """A step from its begin, users' logins included."""

    failures: Mapping[str, int] = field(default_factory=dict)
    """By name; those of ramp-up included."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Of the first failure of each name: what the host said, within our words."""
    phases: Mapping[str, Waits] = field(default_factory=dict)
    """The phases of opening lines, by name."""
    hosts: Sequence[HostReadings] = ()
    users: int = 0
    """Users with a line at the end."""

    def failed(self, *names: str) -> int:
        """How many failures had one of these names."""
        return sum(self.failures.get(name, 0) for name in names)

    def said_any(self, *phrases: str) -> str | None:
        """The first of some phrases that a host has said, for any failure."""
        texts = [text.lower() for text in self.said.values()]
        return next((phrase for phrase in phrases if any(phrase.lower() in text for text in texts)), None)

    @property
    def lines(self) -> int:
        """Lines that were opened: the phases of some are counted later, with their first key."""
        return max(self.phase("connect").count, self.users)

    def phase(self, name: str) -> Waits:
        return self.phases.get(name, Waits())

    @property
    def never_connected(self) -> int:
        """Openings that timed out before there was a connection."""
        later = [self.phase(name).timed_out for name in PARTS]
        return self.failed("timeout") - sum(map(count_values, later))

    def ends_of(self, name: str) -> list[tuple[float, int]]:
        """How long a phase lasted, answered or given up: (seconds, how often), in order of time."""
        waits = self.phase(name)
        ended = [each for each in (waits.answered, waits.timed_out, waits.lost) if each]
        return sorted(chain.from_iterable(map(Histogram.buckets, ended)))


def observe(
    recorded: Recorded, errors: Errors, users: int, times: StepTimes, measured: Mapping[tuple[int, Tag], Histogram]
) -> Observed:
    """Collect what the records tell of a step; `users`: those who had a line at its end."""
    return Observed(
        failures=Counter(errors.by_name) + Counter(errors.before),
        said=errors.said,
        phases={name: select_waits(measured, name, lambda tag: tag.source == LINE) for name in (*PHASES, *PARTS)},
        users=users,
        hosts=list(read_hosts(recorded, times)),
    )


def read_hosts(recorded: Recorded, times: StepTimes) -> Iterator[HostReadings]:
    """The readings of each host that was metered in a step."""
    hosts: Mapping[str, Metered] = recorded.hosts or {"": recorded.metered}
    for name, metered in hosts.items():
        rows = [row.report for row in metered.rows if times.begin < row.end <= times.end]
        if rows:
            yield HostReadings(rows, name)
