"""The summary at the end of a run, for a terminal of 80 columns.

The order is fixed: validity, limits, response, throughput, the law, published figures, host, driver, and where the
record is. A section is a title in the margin and rows beside it; each has a function of its own, which gives no rows
where it has nothing to say.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from io import StringIO

from rich.console import Console
from rich.text import Text

from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.report import tables
from cuesta.report.layout import in_columns
from cuesta.report.phrases import (
    account,
    built_in,
    doubts,
    fairness,
    host_cpu,
    how_it_ended,
    inflation,
    kept,
    law,
    limit_value,
    load,
    no_law,
    on_time,
    per_s,
    plain,
    programs,
    screens,
    worth,
)
from cuesta.units import ABSENT, count, digits, many, named, seconds, share, short_count

MARGIN, WIDTH = 11, 80
CELLS = (8, 8, 8, 8, 8, 9, 8)
"""Widths of the cells of the response table."""

GOOD, BAD, FAINT = "bold green", "bold red", "dim"

Rows = Iterator[str | Text]


def text(summary: Summary, colour: bool | None = None) -> str:
    """Give the summary as text; coloured if told to, or if standard output is a terminal that has not declined it."""
    if colour is None:
        terminal = Console()
        colour = terminal.is_terminal and not terminal.no_color
    out = StringIO()
    console = Console(file=out, force_terminal=colour, color_system="standard" if colour else None, highlight=False)
    for title, rows in sections(summary):
        for number, row in enumerate(rows):
            margin = (title if number == 0 else "").ljust(MARGIN)
            line = Text().append(margin, "bold").append(row if isinstance(row, Text) else Text(row))
            line.rstrip()
            console.print(line, soft_wrap=True)
    return out.getvalue().rstrip("\n")


def sections(summary: Summary) -> Iterator[tuple[str, Iterable[str | Text]]]:
    """Give the sections, in their order."""
    yield from spaced("VALIDITY", validity(summary))
    yield from spaced("LIMITS", limits(summary))
    if summary.planned_steps > 1:
        yield from spaced("SWEEP", sweep(summary))
    for title, section in OF_A_STEP.items():
        yield from spaced(title, section(summary.last))
        if title == "LAW":
            yield from spaced("PUBLISHED", published(summary))
    yield "RUN FOLDER", run_folder(summary)


def run_folder(summary: Summary) -> Iterator[str]:
    """Say where all of it is, and what of it can be watched."""
    folder = summary.recorded.folder
    yield str(folder)
    for cast in sorted(folder.glob("**/agent-*/user-*.cast")):
        yield f"{cast.stem.replace('-', ' ')} can be watched: asciinema play {cast}"


def spaced(title: str, rows: Iterable[str | Text]) -> Iterator[tuple[str, Iterable[str | Text]]]:
    """Give a section and the empty row after it, unless it says nothing."""
    said = list(rows)
    if said:
        yield title, [*said, ""]


def wrapped(row: str, indent: str = "") -> Iterator[str]:
    """Break a long row, but no number from its unit."""
    bound = re.sub(r"(?<=\d) (?=[nµm]?s\b|%|KiB)", "\u00a0", row)
    for each in textwrap.wrap(bound, WIDTH - MARGIN, subsequent_indent=indent, break_on_hyphens=False):
        yield each.replace("\u00a0", " ")


def validity(summary: Summary) -> Rows:
    """Say whether the figures can be trusted, first of all."""
    if summary.valid:
        yield Text("VALID", GOOD).append(Text(f": {on_time(summary)}", "default"))
    else:
        yield Text("INVALID", BAD).append(Text(": do not rely on the figures below", "default"))
    for said, advice in doubts(summary):
        yield from wrapped(f"- {said}", "  ")
        yield from (Text(row, FAINT) for row in wrapped(f"  → {advice}", "    ") if advice)
    yield from wrapped(how_it_ended(summary))


def limits(summary: Summary) -> Rows:
    """Say which limits were kept."""
    width = max((len(verdict.limit) for step in summary.steps for verdict in step.limits), default=0)
    for step in summary.steps:
        place = f"step {step.step + 1}: " if len(summary.steps) > 1 else ""
        for verdict in step.limits:
            word = Text("kept     ", GOOD) if verdict.ok else Text(f"{kept(verdict).upper():<9}", BAD)
            measured = f"{place}{verdict.limit:<{width}}  measured {limit_value(verdict)}"
            yield word.append(Text(measured, "default"))
    if not any(step.limits for step in summary.steps):
        yield "none set; for example: --limit 'response.p99 < 500ms'"


def sweep(summary: Summary) -> Rows:
    """Give a row for each step."""
    rows = list(tables.sweep(summary))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        *figures, doubt = (each.rjust(width) for each, width in zip(row, widths, strict=True))
        yield Text("  ".join(figures), "" if number else "bold").append(f" {doubt}", BAD)
    yield from (Text(row, FAINT) for row in wrapped(tables.about_sweep(summary)))


def response(step: StepFigures) -> Rows:
    """Say under what load, and give the distributions by class: since due and since sent, side by side."""
    yield from wrapped(load(step))
    rows = list(tables.distributions(step))
    if rows:
        yield Text(row_of("", ("count", *tables.HEADS)), "bold")
    for label, distribution in rows:
        if distribution is None:
            yield Text(label, "cyan")
        else:
            yield row_of(label, (short_count(distribution.count), *tables.cells(distribution)))
    if rows:
        yield from (Text(row, FAINT) for row in wrapped(tables.DUE_AND_SENT))
    if any(tables.few(distribution) for _, distribution in rows):
        yield Text(tables.FEW, FAINT)
    if step.kernel:
        yield from wrapped(inflation(step.kernel))


def row_of(label: str, cells: Iterable[str]) -> str:
    """Lay out a row of the response table; 999 in 1000 has room for its mark."""
    return in_columns(label, 12, cells, CELLS)


def fair(step: StepFigures) -> Rows:
    """Say whether users were served alike."""
    if step.fairness:
        yield from wrapped(fairness(step.fairness))


def throughput(step: StepFigures) -> Rows:
    """Say what was done, counted, and what was not."""
    done, c = step.transactions, step.characters
    yield f"{per_s(done.per_s)} transactions ({count(done.count)} counted), {per_s(step.keystrokes.per_s)} keys"
    yield f"characters typed {per_s(c.in_per_s)} ({per_s(c.in_per_s_per_user)} a user), shown {per_s(c.out_per_s)}"
    yield f"on the lines     {per_s(c.line_in_per_s)} in, {per_s(c.line_out_per_s)} out"
    by_name = named(step.errors.by_name)
    errors = f"{many(step.errors.count, 'error')}{f': {by_name}' if by_name else ''}"
    yield Text(errors, BAD if step.errors.count else "").append(
        Text(f"; {count(step.skipped)} skipped; {many(step.lost_users, 'user')} lost", "default")
    )
    if step.errors.before:
        yield Text(f"before measuring: {named(step.errors.before)}", BAD)
    for name, said in step.errors.said.items():
        yield from wrapped(f"{name}, the first: {plain(said)}")
    if step.due:
        yield from wrapped(f"due: {account(step.due)}", "  ")
    if step.unfinished.count:
        yield f"{count(step.unfinished.count)} under way at the end, the oldest since {seconds(step.unfinished.oldest)}"


def response_law(step: StepFigures) -> Rows:
    """Hold the counting against the law."""
    for row in law(step.law) if step.law else no_law(step):
        yield from wrapped(row)


def published(summary: Summary) -> Rows:
    """Put what others measured beside what was measured here."""
    before = ""
    for what, users, measured, figure, ratio in tables.published(summary):
        if what != before:
            yield from wrapped(what)
        before = what
        how = "" if ratio == ABSENT else f" ({ratio})"
        yield from wrapped(f"  {users}: published {figure}; measured {measured}{how}", "    ")
    if before:
        yield from (Text(row, FAINT) for row in wrapped(f"published: {tables.sources(summary)}"))


def host(step: StepFigures) -> Rows:
    """Say what was started, and what the host's meters say."""
    for row in programs(step.host):
        yield from wrapped(row, "  ")
    for row in host_cpu(step.host):
        yield from wrapped(row, "  ")
    if step.host.builtin:
        for row in built_in(step.host.builtin):
            yield from wrapped(row)
    for row in worth(step.host):
        yield from (Text(each, FAINT) for each in wrapped(row))


def driver(step: StepFigures) -> Rows:
    """Say how good an instrument the driver was."""
    late, own = step.lateness, step.driver
    yield f"lateness p50 {seconds(late.p50)}, p99 {seconds(late.p99)}, max {seconds(late.max)} (sent − due)"
    memory = f", {digits(own.rss_per_user / 1024)} KiB a user" if own.rss_per_user else ""
    yield f"CPU {share(own.cpu)}, run-wait {share(own.run_wait)} of a core per thread"
    yield f"{many(own.threads, 'thread')}{memory}"
    if own.screens:
        yield screens(own.screens)
    if len(step.agents) > 1:
        for each in step.agents:
            response = f"response p50 {seconds(each.response.p50)}, p99 {seconds(each.response.p99)}"
            late_p99 = f"late p99 {seconds(each.lateness.p99)}"
            yield from wrapped(f"agent {each.agent}: {response}; {late_p99}; CPU {share(each.cpu)}", "  ")


OF_A_STEP: dict[str, Callable[[StepFigures], Rows]] = {
    "RESPONSE": response,
    "FAIRNESS": fair,
    "THROUGHPUT": throughput,
    "LAW": response_law,
    "HOST": host,
    "DRIVER": driver,
}
