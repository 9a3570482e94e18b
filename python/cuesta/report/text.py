"""The summary at the end of a run, for a terminal of 80 to 100 columns.

The order is fixed: validity, limits, response, throughput, the law, host, driver, and where the record is. A section
is a title in the margin and rows beside it; each has a function of its own, which gives no rows where it has nothing
to say.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from io import StringIO

from rich.console import Console
from rich.text import Text

from cuesta.analysis.distribution import ENOUGH_FOR_P999, Distribution
from cuesta.analysis.figures import Figures
from cuesta.analysis.summary import Summary
from cuesta.analysis.units import ABSENT, count, digits, many, seconds, share
from cuesta.report.words import built_in, fairness, inflation, law, limit_value, load, per_s, plain

MARGIN, WIDTH = 12, 100
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
            margin = Text((title if number == 0 else "").ljust(MARGIN), "bold")
            line = margin.append(row if isinstance(row, Text) else Text(row))
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
    yield "RUN FOLDER", [str(summary.recorded.folder)]


def spaced(title: str, rows: Iterable[str | Text]) -> Iterator[tuple[str, Iterable[str | Text]]]:
    """Give a section and the empty row after it, unless it says nothing."""
    said = list(rows)
    if said:
        yield title, [*said, ""]


def wrapped(row: str, indent: str = "") -> Iterator[str]:
    """Break a long row."""
    yield from textwrap.wrap(row, WIDTH - MARGIN, subsequent_indent=indent, break_on_hyphens=False)


def validity(summary: Summary) -> Rows:
    """Say whether the figures can be trusted, first of all."""
    if summary.valid:
        yield Text("VALID", GOOD).append(Text(f": {trusted(summary)}", "default"))
    else:
        yield Text("INVALID", BAD).append(Text(": do not rely on the figures below", "default"))
    for doubted in summary.doubts:
        yield from wrapped(f"- {doubted}", "  ")
        yield from (Text(row, FAINT) for row in wrapped(f"  → {doubted.doubt.advice}", "    "))
    if summary.ended == "interrupted":
        yield "interrupted: what was measured until then is below"


def trusted(summary: Summary) -> str:
    """Say what speaks for a valid run."""
    late = max((step.lateness.p99 or 0.0 for step in summary.steps), default=0.0)
    cpu = max(step.driver.cpu for step in summary.steps)
    return f"99 keys in 100 were sent within {seconds(late)} of when they were due; driver CPU {share(cpu)}"


def limits(summary: Summary) -> Rows:
    """Say which limits were kept."""
    width = max((len(verdict.limit) for step in summary.steps for verdict in step.limits), default=0)
    for step in summary.steps:
        place = f"step {step.step + 1}: " if len(summary.steps) > 1 else ""
        for verdict in step.limits:
            word = Text("kept     ", GOOD) if verdict.ok else Text("CROSSED  ", BAD)
            measured = f"{place}{verdict.limit:<{width}}  measured {limit_value(verdict)}"
            yield word.append(Text(measured, "default"))


def sweep(summary: Summary) -> Rows:
    """Give a row for each step."""
    swept = list(dict.fromkeys(name for step in summary.steps for name in step.swept)) or ["users"]
    heads = [name.removeprefix("group.") for name in swept]
    widths = [
        max(len(head), *(len(point(step, name)) for step in summary.steps))
        for head, name in zip(heads, swept, strict=True)
    ]
    names = "  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True))
    yield Text(f"{names}{row_of(('X /s', 'p50', 'p95', 'p99', 'echo p99', 'errors', 'late p99'))}", "bold")
    for step in summary.steps:
        values = "  ".join(point(step, name).rjust(width) for name, width in zip(swept, widths, strict=True))
        figures = (
            digits(step.transactions.per_s or 0.0),
            *map(seconds, (step.response.p50, step.response.p95, step.response.p99, step.echo.p99)),
            count(step.errors.count),
            seconds(step.lateness.p99),
        )
        doubted = any(each.step == step.step for each in summary.doubts)
        yield Text(f"{values}{row_of(figures)}").append(Text("  INVALID" if doubted else "", BAD))
    if len(summary.steps) < summary.planned_steps:
        yield f"{summary.planned_steps - len(summary.steps)} of {summary.planned_steps} steps were not measured"
    yield Text(f"X counted transactions; p50 to p99 of response since due. Below: step {summary.last.step + 1}.", FAINT)


def point(step: Figures, name: str) -> str:
    """Give the value of a swept setting in a step."""
    return str(step.swept.get(name, step.users if name == "users" else ABSENT))


def row_of(cells: Iterable[str]) -> str:
    """Align the cells of a row to the right."""
    return "".join(cell.rjust(10) for cell in cells)


def response(step: Figures) -> Rows:
    """Say under what load, and give the distributions by class: since due and since sent, side by side."""
    yield from wrapped(load(step))
    rows = list(distributions(step))
    if not rows:
        return
    yield Text(
        "".ljust(20)
        + "count".rjust(9)
        + "".join(name.rjust(9) for name in ("p50", "p90", "p95", "p99", "p99.9", "max")),
        "bold",
    )
    few = False
    for label, distribution in rows:
        if distribution is None:
            yield Text(label, "cyan")
            continue
        few = few or 0 < distribution.count < ENOUGH_FOR_P999
        yield label.ljust(20)[:20] + table_row(distribution)
    yield Text("due: when the key should have gone, so that no wait is left out; sent: when it went", FAINT)
    if few:
        yield Text(f"* of fewer than {count(ENOUGH_FOR_P999)}: it rests on a handful of values", FAINT)
    if step.kernel:
        yield from wrapped(inflation(step.kernel))


def distributions(step: Figures) -> Iterator[tuple[str, Distribution | None]]:
    """Give the rows of the response table; a label without a distribution is a heading."""
    for keys in step.keys:
        if keys.echo.count:
            yield f"keys of {plain(keys.group)}", None
            yield "  echo − due", keys.echo
            yield "  echo − sent", keys.echo_from_sent
    for each in step.classes:
        if each.response.count:
            yield f"{plain(each.group)}: {plain(each.transaction)}", None
            yield "  first − due", each.first_response
            yield "  done − due", each.response
            yield "  done − sent", each.response_from_sent
    if len(step.classes) > 1:
        yield "all transactions", None
        yield "  done − due", step.response
        yield "  done − sent", step.response_from_sent


def table_row(distribution: Distribution) -> str:
    """Give one distribution; 999 in 1000 of few values is marked."""
    d = distribution
    p999 = seconds(d.p999) + ("*" if d.count < ENOUGH_FOR_P999 else "")
    cells = (*map(seconds, (d.p50, d.p90, d.p95, d.p99)), p999, seconds(d.max))
    return count(d.count).rjust(9) + "".join(cell.rjust(9) for cell in cells)


def fair(step: Figures) -> Rows:
    """Say whether users were served alike."""
    if step.fairness:
        yield from wrapped(fairness(step.fairness))


def throughput(step: Figures) -> Rows:
    """Say what was done, counted, and what was not."""
    done, c = step.transactions, step.characters
    yield f"{per_s(done.per_s)} transactions ({count(done.count)} counted), {per_s(step.keystrokes.per_s)} keys"
    yield f"characters typed {per_s(c.in_per_s)}, shown {per_s(c.out_per_s)}"
    yield f"on the lines     {per_s(c.line_in_per_s)} in, {per_s(c.line_out_per_s)} out"
    by_name = ", ".join(f"{name} {count(number)}" for name, number in step.errors.by_name.items())
    errors = f"{many(step.errors.count, 'error')}{f': {by_name}' if by_name else ''}"
    yield Text(errors, BAD if step.errors.count else "").append(
        Text(f"; {count(step.skipped)} skipped; {many(step.lost_users, 'user')} lost", "default")
    )
    if step.unfinished.count:
        yield f"{count(step.unfinished.count)} under way at the end, the oldest since {seconds(step.unfinished.oldest)}"


def response_law(step: Figures) -> Rows:
    """Hold the counting against the law."""
    if step.law:
        for row in law(step.law):
            yield from wrapped(row)
    elif step.load != "closed":
        yield from wrapped(f"R = N/X − Z − K is not checked: it needs a closed load, and this one is {step.load}")


def host(step: Figures) -> Rows:
    """Say what the host's meters say."""
    if step.host.builtin:
        for row in built_in(step.host.builtin):
            yield from wrapped(row)
    yield from wrapped(f"CPU: {step.host.cpu_missing}")


def driver(step: Figures) -> Rows:
    """Say how good an instrument the driver was."""
    late = step.lateness
    yield f"lateness p50 {seconds(late.p50)}, p99 {seconds(late.p99)}, max {seconds(late.max)} (sent − due, every key)"
    threads = f"CPU {share(step.driver.cpu)} of a core per thread, run-wait {share(step.driver.run_wait)}"
    memory = f", {digits(step.driver.rss_per_user / 1024)} KiB a user" if step.driver.rss_per_user else ""
    yield f"{threads}; {many(step.driver.threads, 'thread')}{memory}"
    if len(step.agents) > 1:
        for agent in step.agents:
            response = f"response p50 {seconds(agent.response.p50)}, p99 {seconds(agent.response.p99)}"
            yield f"agent {agent.agent}: {response}; late p99 {seconds(agent.lateness.p99)}; CPU {share(agent.cpu)}"


OF_A_STEP: dict[str, Callable[[Figures], Rows]] = {
    "RESPONSE": response,
    "FAIRNESS": fair,
    "THROUGHPUT": throughput,
    "LAW": response_law,
    "HOST": host,
    "DRIVER": driver,
}
