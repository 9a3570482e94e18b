"""What driving cost in a step: the busiest process of the driver, and each agent's part."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from cuesta.analysis.watching import describe_watchers
from cuesta.figures.driver import AgentFigures, ClockDrift, DriverLoad, ScreenCost
from cuesta.figures.durations import Distribution
from cuesta.ledger import Interval, StepTimes
from cuesta.ledger.agents import ClockReading, Silence
from cuesta.ledger.run_folder import Agent
from cuesta.records.series import STAMPED

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords


def describe_agents(records: "StepRecords") -> list[AgentFigures]:
    is_search = "search" in records.recorded.run
    return [
        AgentFigures(
            number,
            describe_own(records, number, "response"),
            describe_own(records, number, "lateness"),
            per_thread(rows, lambda row: row.cpu),
            per_thread(rows, lambda row: row.run_wait),
            describe_own(records, number, "echo"),
            (agent := records.agents[number]).notes.node,
            find_drift(agent.notes.readings, *times_within(agent, records.times, whole=not is_search)),
            find_silence(agent.notes.silences, *times_within(agent, records.times)),
        )
        for number, rows in records.by_agent.items()
    ]


def describe_own(records: "StepRecords", number: int, series: str) -> Distribution:
    """A series of an agent; that of a probe is its own, though in no figure of all users."""
    return records.waits(series, lambda tag: tag.group not in records.background, number).distribution()


def times_within(agent: Agent, step: StepTimes, *, whole: bool = False) -> tuple[float, float]:
    """The begin and end of a step in seconds from the start of its segment; `whole`: from that start on."""
    begun = agent.origin.time
    return 0.0 if whole else step.begin - begun, step.end - begun


def find_drift(readings: Sequence[ClockReading], begin: float, end: float) -> ClockDrift | None:
    """How far a clock moved from its last reading before `begin`, by the worst reading until the first after `end`.

    None with fewer than two readings. Without one before `begin`, the first stands for it.
    """
    if not readings:
        return None
    start = max(bisect_right(readings, begin, key=lambda reading: reading.seconds) - 1, 0)
    stop = bisect_left(readings, end, key=lambda reading: reading.seconds) + 1
    first, others = readings[start], readings[start + 1 : stop]
    moves = (
        ClockDrift(
            (other.offset - first.offset) / 1e9, (other.error + first.error) / 1e9, other.seconds - first.seconds
        )
        for other in others
    )
    return max(moves, key=lambda drift: abs(drift.moved) - drift.error, default=None)


def find_silence(silences: Sequence[Silence], begin: float, end: float) -> float | None:
    """The longest silence of which a part was between two instants; None without any."""
    within = (each.end - each.begin for each in silences if each.begin < end and each.end > begin)
    return max(within, default=None)


def describe_driver(records: "StepRecords") -> DriverLoad:
    """Describe the busiest driving process."""
    by_agent = records.by_agent.values()
    memory = [agent.ending["rss_per_user"] for agent in records.recorded.agents if agent.ending]
    watchers = describe_watchers(records.recorded, records.number)
    return DriverLoad(
        max((per_thread(rows, lambda row: row.cpu) for rows in by_agent), default=0.0),
        max((per_thread(rows, lambda row: row.run_wait) for rows in by_agent), default=0.0),
        max((per_thread(rows, lambda row: row.spun) for rows in by_agent), default=0.0),
        records.describe(STAMPED, "own"),
        sum(max((row.threads for row in rows), default=0) for rows in by_agent),
        max((size for size in memory if size is not None), default=None),
        describe_screens(records),
        watching=sum(watchers.values()) if watchers else None,
        watchers=watchers,
    )


def describe_screens(records: "StepRecords") -> ScreenCost | None:
    """Describe what users' screens cost in memory and CPU time."""
    by_agent, counts = records.by_agent.values(), records.counts
    of_agents = [max(map(screen_size, rows), default=(0, 0)) for rows in by_agent]
    count = sum(count for count, _ in of_agents)
    if not count:
        return None
    drawing = max(per_thread(rows, lambda row: row.screens.drawing if row.screens else 0.0) for rows in by_agent)
    awaited, done = counts.screens.awaited if counts.screens else None, counts.transactions
    each = awaited / done if awaited is not None and done else None
    return ScreenCost(count, sum(size for _, size in of_agents) / count, drawing, each)


def per_thread(rows: Iterable[Interval], count: Callable[[Interval], float]) -> float:
    """Seconds per second and thread, in the measurement."""
    measured = [row for row in rows if row.measured]
    offered = sum(row.length * row.threads for row in measured)
    return sum(map(count, measured)) / offered if offered else 0.0


def screen_size(row: Interval) -> tuple[int, int]:
    """How many screens there were, and what they took in bytes."""
    return (row.screens.count, row.screens.bytes) if row.screens else (0, 0)
