"""The sections of limits and of published figures: what was measured for each, and whether it was kept."""

from collections.abc import Iterator
from dataclasses import replace

from cuesta.analysis.limits import NOT_DECIDED
from cuesta.analysis.summary import Summary
from cuesta.figures.limit import Limit
from cuesta.figures.reference import Reference
from cuesta.figures.step import LimitResult, PublishedComparison
from cuesta.report.model import Remark, Section, Table, Tone, Words
from cuesta.units import ABSENT, AT_LEAST, count, in_unit, many

MOST_KEPT = 6
"""Limits that were kept and that a first screen lists: those of the steps with the most users."""
OF_ECHO = ("echo", "echo_from_sent")
NO_ECHO = "the tape times no echo; add `Set Echo screen`"
NO_FRAME = "the tape times no key by a screen; add `Set Echo screen`"


def limits_section(summary: Summary) -> Section:
    several = len(summary.steps) > 1
    results = [(step, result) for step in summary.steps for result in step.limits]
    rows = [
        (
            Words(limit_status(result), result.undecided or "", limit_tone(result)),
            (f"step {step.step + 1}: {result.limit}" if several else result.limit),
            describe_limit_value(result, summary),
        )
        for step, result in results
    ]
    if not rows:
        return Section("Limits", [Remark("none set; for example: --limit 'response.p99 < 500ms'")])
    good = [number for number, (_, result) in enumerate(results) if result.ok]
    details = sorted(good, key=lambda number: -results[number][0].users)[MOST_KEPT:]
    more = f"and {count(len(details))} more kept (--verbose lists them)" if details else ""
    table = Table(("", "limit", "measured"), rows, details=details, instead=more, wraps=1)
    undecided = dict.fromkeys(f"{each.limit}: {NOT_DECIDED}: {each.undecided}" for _, each in results if each.undecided)
    why = [Remark(each, "notice") for each in undecided]
    return Section("Limits", [table, *why], brief=[replace(table, heads=("", "", "")), *why])


def limit_status(result: LimitResult) -> str:
    """`kept`, `crossed`, or why it is neither."""
    if result.undecided is not None:
        return NOT_DECIDED
    return "kept" if result.ok else "crossed" if result.value is not None else "not measured"


def limit_tone(result: LimitResult) -> Tone:
    return "good" if result.ok else "bad" if result.undecided is None else "notice"


def describe_limit_value(result: LimitResult, summary: Summary) -> str:
    """The measured value of a limit in the limit's own unit, or why there is none."""
    figure = Limit.read(result.limit).figure
    step = next((step for step in summary.steps if step.step == result.step), summary.last)
    unsteady = result.is_duration and not step.settled.steady
    if result.value is not None:
        own = ", over a tenth of it this driver's" if figure.metric in step.driver.voids else ""
        value = AT_LEAST * result.at_least + in_unit(result.value, figure.unit)
        return value + (", no steady state" if unsteady else "") + own
    if unsteady:
        return "no steady state"
    typed = any(step.keystrokes.count for step in summary.steps)
    if (
        typed
        and figure.metric.startswith(("whole_frame", "frames"))
        and not any(step.whole_frame.total for step in summary.steps)
    ):
        return NO_FRAME
    timed = any(step.echo.count for step in summary.steps)
    return NO_ECHO if figure.metric in OF_ECHO and typed and not timed else "nothing was measured for it"


def describe_limit_result(result: LimitResult, summary: Summary) -> str:
    """The measured value of a limit, and why it is not decided, if so."""
    return ": ".join(filter(None, (describe_limit_value(result, summary), result.undecided)))


def published_section(summary: Summary) -> Iterator[Section]:
    users = {step.step: step.users for step in summary.steps}
    rows = []
    for row in summary.published:
        number = (row.users if row.step is None else users[row.step]) or 0
        rows.append((row.what, many(number, "user"), *compare_with_published(row)))
    if rows:
        sources = "; ".join(dict.fromkeys(each.source for each in summary.published))
        heads = ("figure", "", "measured", "published", "ratio")
        yield Section("Published figures", [Table(heads, rows, f"published: {sources}", wraps=0)], name="PUBLISHED")


def compare_with_published(row: PublishedComparison) -> tuple[str, str, str]:
    unit = Reference.read(row.figure).unit
    measured = "nothing" if row.measured is None else AT_LEAST * row.at_least + in_unit(row.measured, unit)
    if row.step is None:
        measured += f" (no step of {many(row.users or 0, 'user')})"
    published = f"{row.bound or ''} {in_unit(row.published, unit)}".strip()
    return measured, published, ABSENT if row.ratio is None else f"{row.ratio:.3g} × published"
