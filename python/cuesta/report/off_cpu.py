"""How long the subject's tasks were off their CPUs and in run queues, where the kernel was traced: rows of a table."""

from collections.abc import Iterator, Mapping
from typing import Any

from cuesta.ledger.meters import Sheet
from cuesta.units import count, seconds

WHY = {
    "sleep": "asleep",
    "page": "for a page",
    "loading": "for its program",
    "io": "for a device",
    "quota": "barred by its quota",
    "preempted": "preempted",
}
"""Why a task leaves its CPU."""
HEADS = ("count", "total", "p50", "p90", "p99", "max")
ABOUT = (
    "from leaving a CPU to having one again, traced; in a run queue: the part of that in which the task was ready "
    "(run-queue delay). p50 to max are known within 6 %"
)


def rows(sheet: Sheet) -> Iterator[tuple[str, ...]]:
    """Give a row for each reason that there was, then one for the waits in run queues; nothing if it was not traced."""
    off_cpu = sheet["traffic"].get("off_cpu", {}).get("value", {})
    yield from ((label, *cells(off_cpu[why])) for why, label in WHY.items() if why in off_cpu)
    if queued := sheet["traffic"].get("run_queue_delay", {}).get("value"):
        yield "in a run queue", *cells(queued)


def cells(distribution: Mapping[str, Any]) -> tuple[str, ...]:
    times = (distribution[name] for name in ("sum", "p50", "p90", "p99", "max"))
    return count(distribution["count"]), *map(seconds, times)
