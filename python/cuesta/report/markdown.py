"""A report as Markdown with tables, as GitHub shows it: short, for pull requests.

Everything that came from outside is escaped, so that no name makes a link, an image or a mention.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuesta.analysis.summary import Summary
from cuesta.figures.host import HostFigures
from cuesta.figures.step import Distribution
from cuesta.report import columns, tables
from cuesta.report.phrases import (
    doubts,
    host_cpu,
    how_it_ended,
    law,
    limit_value,
    load,
    on_time,
    per_s,
    with_advice,
    worth,
)
from cuesta.units import count, named, seconds

HEADS = ("", "count", *tables.HEADS)
ZERO_WIDTH = "\u200b"
"""A space that is not seen: GitHub links what looks like a name in the finished text, where entities are no help."""
MARKS = {True: "✅", False: "❌"}


def markdown(runs: Mapping[str, Summary]) -> str:
    """Give one run, or several side by side."""
    parts = one(next(iter(runs.values()))) if len(runs) == 1 else side_by_side(runs)
    return "\n\n".join(parts) + "\n"


def one(summary: Summary) -> Iterator[str]:
    """Give the parts of one run: validity, limits, what was run, response, throughput, the law, the host."""
    name, step = escaped(str(summary.recorded.run.get("name", "run"))), summary.last
    yield f"### {MARKS[summary.valid]} {name}: {'VALID' if summary.valid else 'INVALID'}"
    yield from validity(summary)
    if step.limits:
        rows = ((each.limit, limit_value(each), MARKS[each.ok]) for each in step.limits)
        yield table(("limit", "measured", "kept"), rows)
    yield escaped(load(step))
    if summary.planned_steps > 1:
        heads, *rows_of_sweep = tables.sweep(summary)
        yield table(heads, rows_of_sweep)
        yield escaped(tables.about_sweep(summary))
    if measured := [_row(label, each) for label, each in _distributions(summary) if each.count]:
        yield table(HEADS, measured)
    yield from throughput(summary)


def validity(summary: Summary) -> Iterator[str]:
    """Say what to think of the figures, and how far the run got."""
    reasons = [f"- {escaped(with_advice(doubt))}" for doubt in doubts(summary)]
    yield "\n".join(reasons) if reasons else escaped(on_time(summary))
    if early := how_it_ended(summary):
        yield f"**{escaped(early)}**"


def throughput(summary: Summary) -> Iterator[str]:
    """Say what was done, whether the law holds, and what the host spent."""
    step = summary.last
    errors = named(step.errors.by_name) or "none"
    done = f"{per_s(step.transactions.per_s)} transactions, {count(step.transactions.count)} counted; errors: {errors}"
    yield escaped(done)
    if step.law:
        yield escaped("; ".join(law(step.law)))
    yield "\n".join(f"- {escaped(row)}" for row in host(step.host))


def host(of: HostFigures) -> Iterator[str]:
    """Say what the host spent: of what, how that is known, what else used its CPUs, and whether the account closes."""
    first, *rows = host_cpu(of)
    yield f"host {first}" if of.cpu is None else f"host CPU: {first} {' '.join(rows[:1])}"
    yield from rows[1:]
    yield from worth(of)


def side_by_side(runs: Mapping[str, Summary]) -> Iterator[str]:
    """Give the parts of several runs."""
    good = all(run.valid for run in runs.values())
    yield f"### {MARKS[good]} {len(runs)} runs side by side"
    for name, run in runs.items():
        if not run.valid or how_it_ended(run):
            yield f"**{escaped(name)}**\n\n" + "\n\n".join(validity(run))
    heads, *rows = columns.what_was_run(runs)
    yield table(heads, [*rows, *columns.limits(runs), *columns.figures(runs)])
    if unlike := list(columns.differences(runs)):
        yield folded("In what they differ", table(heads, unlike))
    yield escaped(columns.NO_COMPARISON)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a table: its first column to the left, the others to the right."""
    rules = [":--", *("--:" for _ in heads[1:])]
    lines = [map(escaped, heads), rules, *(map(escaped, row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def folded(title: str, text: str) -> str:
    """Give text that is seen when its title is clicked."""
    return f"<details><summary>{escaped(title)}</summary>\n\n{text}\n\n</details>"


def escaped(text: str) -> str:
    """Give text in which nothing is Markdown or HTML, and nothing names a person, an issue or an address."""
    apart = re.sub(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", ZERO_WIDTH, " ".join(text.split()))
    return re.sub(r"[&<>|`*_\[\]\\~]", lambda found: f"&#{ord(found[0])};", apart)


def _distributions(summary: Summary) -> Iterator[tuple[str, Distribution]]:
    step = summary.last
    yield "response, since due", step.response
    yield "response, since sent", step.response_from_sent
    yield "first response", step.first_response
    yield "echo", step.echo
    yield "lateness of the driver", step.lateness


def _row(label: str, of: Distribution) -> tuple[str, ...]:
    return label, count(of.count), *map(seconds, (of.p50, of.p90, of.p95, of.p99, of.p999, of.max))
