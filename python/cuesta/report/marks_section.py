"""The section on marks: the instants that those who watched the run noted."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.summary import Summary
from cuesta.analysis.watching import list_held, list_marks
from cuesta.figures.watching import MarkFigures
from cuesta.report.model import Fact, Facts, Section, Table
from cuesta.units import ABSENT, count

MOST_BRIEF = 4
"""Marks that a first screen of a terminal shows."""
LEAST_SHOWN = 0.05
"""Seconds that do not round to none."""
MOST_LISTED = 100
"""Marks that a page lists."""


def section(summary: Summary) -> Iterator[Section]:
    """Nothing without a mark."""
    marks = list_marks(summary.recorded)
    if not marks:
        return
    listed, more = marks[:MOST_LISTED], len(marks) - MOST_LISTED
    of_steps = summary.planned_steps > 1
    rows = [(instant(each.seconds), *[name_step(each)] * of_steps, write_note(each)) for each in listed]
    heads = ("at", *["step"] * of_steps, "note")
    caption = f"and {count(more)} more: marks.jsonl" if more > 0 else "since the start of the run"
    table = Table(heads, rows, caption, wraps=len(heads) - 1)
    yield Section("Marks", [table], brief=[Facts(brief_facts(marks))])


def brief_facts(marks: Sequence[MarkFigures]) -> list[Fact]:
    facts = [Fact(instant(each.seconds), write_note(each)) for each in marks[:MOST_BRIEF]]
    more = len(marks) - MOST_BRIEF
    return [*facts, Fact("and", f"{count(more)} more")] if more > 0 else facts


def name_step(mark: MarkFigures) -> str:
    return ABSENT if mark.step is None else str(mark.step + 1)


def write_note(mark: MarkFigures) -> str:
    return mark.note or "marked"


def describe_held(summary: Summary) -> Iterator[str]:
    """That starts were held, and when."""
    for held in list_held(summary.recorded):
        until = "the end" if held.end is None else instant(held.end)
        measured = f" ({instant(held.measured)} of it while measuring)" if held.measured >= LEAST_SHOWN else ""
        yield f"starts were held from {instant(held.begin)} to {until}{measured}"


def instant(seconds: float) -> str:
    """Write an instant of the run, as a plot's axis has it."""
    return f"{seconds:,.1f} s"
