"""The section of bisync lines: the table of `test_bisynchronous`, totals, and the counters of the stations."""

from collections.abc import Iterator
from dataclasses import fields

from cuesta.figures.bisync import BisyncCounters
from cuesta.figures.step import StepFigures
from cuesta.report.figure import fact
from cuesta.report.model import Cell, Facts, Section, Table
from cuesta.units import count, digits

HEADS: tuple[Cell, ...] = ("line", "SEQ", "received", "out", "in", "SECONDS", "CPS", "BAUD")
ABOUT = (
    "SEQ: messages acknowledged since the run began; received: messages in the interval; out, in: characters of text "
    "sent and received on the line; CPS: both, a second; BAUD: 8 bits each. Nagle's algorithm is off (TCP_NODELAY), "
    "and with framing=hercules so are delayed acknowledgements (TCP_QUICKACK)"
)
MOST_LINES = 24
"""Lines that a terminal lists without --verbose."""
TOTALS = (
    "characters_per_s",
    "characters_out_per_s",
    "characters_in_per_s",
    "messages_per_s",
    "not_delivered",
    "in_doubt",
)


def section(step: StepFigures) -> Iterator[Section]:
    if step.bisync is None:
        return
    lines = step.bisync.lines
    rows = [
        (
            f"{each.group} {each.user}",
            count(each.sequence),
            count(each.received),
            count(each.characters_out),
            count(each.characters_in),
            digits(step.seconds),
            digits(each.cps),
            digits(each.baud),
        )
        for each in lines
    ]
    details = range(MOST_LINES, len(rows))
    instead = f"and {count(len(details))} more lines (--verbose lists them)" if details else ""
    totals = Facts([fact(f"bisync.{name}", step) for name in TOTALS])
    counters = Facts([fact(f"bisync.counters.{each.name}", step) for each in fields(BisyncCounters)])
    table = Table(HEADS, rows, ABOUT, details=details, instead=instead)
    yield Section("Bisync lines", [totals, counters, table], name="BISYNC")
