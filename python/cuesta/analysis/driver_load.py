"""What driving cost in a step: the busiest process of the driver, and each agent's part."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from cuesta.figures.driver import AgentFigures, DriverLoad, ScreenCost
from cuesta.ledger import Interval
from cuesta.records.series import KEYS, STAMPED

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords


def describe_agents(records: "StepRecords") -> list[AgentFigures]:
    return [
        AgentFigures(
            number,
            records.describe_classes("response", number),
            records.describe(KEYS, "lateness", agent=number),
            per_thread(rows, lambda row: row.cpu),
            per_thread(rows, lambda row: row.run_wait),
        )
        for number, rows in records.by_agent.items()
    ]


def describe_driver(records: "StepRecords") -> DriverLoad:
    """Describe the busiest driving process."""
    by_agent = records.by_agent.values()
    memory = [agent.ending["rss_per_user"] for agent in records.recorded.agents if agent.ending]
    return DriverLoad(
        max((per_thread(rows, lambda row: row.cpu) for rows in by_agent), default=0.0),
        max((per_thread(rows, lambda row: row.run_wait) for rows in by_agent), default=0.0),
        max((per_thread(rows, lambda row: row.spun) for rows in by_agent), default=0.0),
        records.describe(STAMPED, "own"),
        sum(max((row.threads for row in rows), default=0) for rows in by_agent),
        max((size for size in memory if size is not None), default=None),
        describe_screens(records),
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
