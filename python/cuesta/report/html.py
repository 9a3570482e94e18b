"""The report as one page: nothing is fetched, so it can be mailed, kept and opened in ten years.

The order is that of the text: validity first. Everything that came from outside is escaped.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from cuesta.analysis.distribution import Distribution
from cuesta.analysis.figures import Figures
from cuesta.analysis.front_end import front_end
from cuesta.analysis.over_time import over_time
from cuesta.analysis.summary import Summary
from cuesta.analysis.units import ABSENT, count, digits, many, named, seconds, share
from cuesta.ledger import segment_folders
from cuesta.report import meters, tables
from cuesta.report.front_end import text as tty_meters
from cuesta.report.plots import courses, curves, sweeps
from cuesta.report.words import (
    built_in,
    fairness,
    host_cpu,
    inflation,
    law,
    limit_value,
    load,
    machine,
    on_time,
    per_s,
    programs,
    screens,
    worth,
)

LARGEST_PICTURE = 4 << 20
"""Bytes of a flame graph that still goes into the page."""
Cell = str | tuple[str, str]
"""A text, or a text and the class of its cell."""


def html(folder: Path, summary: Summary) -> None:
    """Write the report into a run folder."""
    (folder / "report.html").write_text(page(summary), encoding="utf-8")


def page(summary: Summary) -> str:
    """Give the report."""
    name = escape(str(summary.recorded.run.get("name", "run")))
    style = files("cuesta.report").joinpath("page.css").read_text(encoding="utf-8")
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n',
            f"<title>{name} – Cuesta</title>\n<style>\n{style}</style>\n</head>\n<body>\n",
            f"<h1>{name}</h1>\n",
            *body(summary),
            "</body>\n</html>\n",
        )
    )


def body(summary: Summary) -> Iterator[str]:
    """Give the sections, in their order."""
    step = summary.last
    yield verdict(summary)
    yield from section("Limits", limits(summary))
    yield from section("What was run", what_was_run(summary))
    if summary.planned_steps > 1:
        yield from section("Sweep", [sweep(summary), plots(sweeps(summary))])
    yield from section("Response", response(summary, step))
    yield from section("Course of the run", [plots(courses(summary.recorded, over_time(summary.recorded)))])
    yield from section("Throughput", throughput(step))
    yield from section("Interactive response-time law", map(paragraph, law(step.law) if step.law else ()))
    yield from section("Published figures", published(summary))
    yield from section("Host", host(summary, step))
    yield from section("Driver", driver(step))
    yield from section("Record", record(summary))


def section(title: str, parts: Iterable[str]) -> Iterator[str]:
    """Give a section; nothing if it has no parts."""
    said = [part for part in parts if part]
    if said:
        yield f"<section>\n<h2>{escape(title)}</h2>\n"
        yield from said
        yield "</section>\n"


def paragraph(text: str, kind: str = "") -> str:
    """Give a paragraph of plain text."""
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(text)}</p>\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "", kind: str = "") -> str:
    """Give a table; a row of one cell is a heading over the rows after it."""
    out = [f'<div class="wide"><table class="{kind}">\n']
    if caption:
        out.append(f"<caption>{escape(caption)}</caption>\n")
    if heads:
        names = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
        out.append(f"<thead><tr>{names}</tr></thead>\n")
    out.append("<tbody>\n")
    for row in rows:
        if len(row) == 1:
            out.append(
                f'<tr class="group"><th scope="rowgroup" colspan="{len(heads)}">{escape(str(row[0]))}</th></tr>\n'
            )
        else:
            out.append(f"<tr>{''.join(map(cell, row))}</tr>\n")
    return "".join([*out, "</tbody></table></div>\n"])


def cell(content: Cell) -> str:
    """Give a cell of a table."""
    text, kind = content if isinstance(content, tuple) else (content, "")
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Give a table of names and what they are."""
    names = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>\n' for name, value in rows if value
    )
    return f'<table class="facts">\n{names}</table>\n'


def plots(figures: Iterable[str]) -> str:
    """Lay plots out side by side, each under its title."""
    drawn = list(figures)
    return f'<div class="plots">\n{"".join(drawn)}</div>\n' if drawn else ""


def verdict(summary: Summary) -> str:
    """Say first whether the figures can be trusted."""
    if summary.valid:
        return f'<div class="verdict"><strong>VALID</strong> <span>{escape(on_time(summary))}</span></div>\n'
    items = "".join(
        f'<li>{escape(str(doubted))} <span class="faint">→ {escape(doubted.doubt.advice)}</span></li>\n'
        for doubted in summary.doubts
    )
    said = "do not rely on the figures below"
    return f'<div class="verdict bad"><strong>INVALID</strong> <span>{said}</span>\n<ul>\n{items}</ul></div>\n'


def limits(summary: Summary) -> Iterator[str]:
    """Say which limits were kept."""
    rows = [
        (
            f"step {step.step + 1}: {verdict.limit}" if len(summary.steps) > 1 else verdict.limit,
            limit_value(verdict),
            ("kept", "kept") if verdict.ok else ("crossed", "crossed"),
        )
        for step in summary.steps
        for verdict in step.limits
    ]
    if rows:
        yield table(("limit", "measured", ""), rows)


def what_was_run(summary: Summary) -> Iterator[str]:
    """Say what was run, by what, where."""
    run, step = summary.recorded.run, summary.last
    yield facts(
        [
            ("load", load(step)),
            ("target", ", ".join(map(str, run.get("host", {}).get("targets", [])))),
            ("started", str(run.get("started", ""))),
            ("ended", summary.ended),
            ("command", " ".join(map(str, run.get("command", [])))),
            (
                "tapes",
                ", ".join(f"{name} ({tape.get('sha256', '')[:12]})" for name, tape in run.get("tapes", {}).items()),
            ),
            ("seed, agents", f"{run.get('seed', ABSENT)}, {run.get('agents', ABSENT)}"),
            ("machine", machine(run.get("machine", {}))),
            ("cuesta", str(run.get("cuesta", ""))),
        ]
    )


def sweep(summary: Summary) -> str:
    """Give a row for each step."""
    heads, *rows = tables.sweep(summary)
    cells: list[list[Cell]] = [[*row[:-1], (row[-1], "crossed")] for row in rows]
    return table(heads, cells, tables.about_sweep(summary))


def response(summary: Summary, step: Figures) -> Iterator[str]:
    """Give the distributions and their curves."""
    rows = list(tables.distributions(step))
    if not rows:
        yield paragraph("no transaction and no echo was measured")
        return
    caption = f"{tables.DUE_AND_SENT}. {tables.FEW if any(tables.few(each) for _, each in rows) else ''}"
    yield table(("", "count", "mean", *tables.HEADS), map(response_row, rows), caption)
    if step.kernel:
        yield paragraph(inflation(step.kernel))
    if step.fairness:
        yield paragraph(fairness(step.fairness))
    yield plots(curves(summary.recorded, step))


def response_row(row: tuple[str, Distribution | None]) -> Sequence[Cell]:
    """Give the cells of a row of the response table."""
    label, each = row
    return (label,) if each is None else ((label, "in"), count(each.count), seconds(each.mean), *tables.cells(each))


def throughput(step: Figures) -> Iterator[str]:
    """Say what was done, counted, and what was not."""
    c = step.characters
    by_name, before = named(step.errors.by_name), named(step.errors.before)
    under_way = step.unfinished
    yield facts(
        [
            ("transactions", f"{per_s(step.transactions.per_s)}, {count(step.transactions.count)} counted"),
            ("keys", f"{per_s(step.keystrokes.per_s)}, {count(step.keystrokes.count)} counted"),
            (
                "characters",
                f"typed {per_s(c.in_per_s)} ({per_s(c.in_per_s_per_user)} a user), shown {per_s(c.out_per_s)}",
            ),
            ("on the lines", f"in {per_s(c.line_in_per_s)}, out {per_s(c.line_out_per_s)}"),
            ("errors", f"{count(step.errors.count)}{f': {by_name}' if by_name else ''}"),
            *([("errors before measuring", before)] if before else []),
            ("skipped, lost", f"{many(step.skipped, 'action')}, {many(step.lost_users, 'user')}"),
            ("under way at the end", f"{count(under_way.count)}, the oldest since {seconds(under_way.oldest)}"),
        ]
    )


def published(summary: Summary) -> Iterator[str]:
    """Put what others measured beside what was measured here."""
    if rows := list(tables.published(summary)):
        yield table(("", "", "measured", "published", "ratio"), rows, f"published: {tables.sources(summary)}")


def host(summary: Summary, step: Figures) -> Iterator[str]:
    """Say what was started, and what the host's meters say."""
    yield from map(paragraph, programs(step.host))
    yield from map(paragraph, host_cpu(step.host))
    if step.host.builtin:
        yield from map(paragraph, built_in(step.host.builtin))
    yield from map(paragraph, worth(step.host))
    if step.host.sheet:
        yield folded("The host's meters", meters.text(step.host.sheet))
    yield flame(summary)
    times = summary.recorded.steps.get(step.step)
    if times and (sheet := front_end(summary.recorded, times)):
        yield folded("The front end's meters (tty_meters)", tty_meters(sheet))


def flame(summary: Summary) -> str:
    """Give the last segment's flame graph as a picture of its own, folded away."""
    pictures = [path / "flame.svg" for path in segment_folders(summary.recorded.folder)]
    found = [path for path in pictures if path.exists() and 0 < path.stat().st_size <= LARGEST_PICTURE]
    if not found:
        return ""
    picture = b64encode(found[-1].read_bytes()).decode()
    title = "Where the host's CPU time went, from the start of the meters (flame graph)"
    image = f'<img alt="{title}" src="data:image/svg+xml;base64,{picture}" style="width:100%"/>'
    return f"<details><summary>{title}</summary>\n{image}</details>\n"


def folded(title: str, text: str) -> str:
    """Give text that is laid out already, folded away."""
    return f"<details><summary>{escape(title)}</summary>\n<pre><code>{escape(text)}</code></pre></details>\n"


def driver(step: Figures) -> Iterator[str]:
    """Say how good an instrument the driver was."""
    late, memory = step.lateness, step.driver.rss_per_user
    yield facts(
        [
            ("lateness (sent − due)", f"p50 {seconds(late.p50)}, p99 {seconds(late.p99)}, max {seconds(late.max)}"),
            ("CPU", f"{share(step.driver.cpu)} of a core per thread, {many(step.driver.threads, 'thread')}"),
            ("run-wait", share(step.driver.run_wait)),
            ("memory a user", f"{digits(memory / 1024)} KiB" if memory else ABSENT),
            *([("screens", screens(step.driver.screens))] if step.driver.screens else []),
        ]
    )
    if len(step.agents) > 1:
        yield table(
            ("agent", "transactions", "response p50", "response p99", "lateness p99", "CPU", "run-wait"),
            [
                (
                    str(agent.agent),
                    count(agent.response.count),
                    *map(seconds, (agent.response.p50, agent.response.p99, agent.lateness.p99)),
                    *map(share, (agent.cpu, agent.run_wait)),
                )
                for agent in step.agents
            ],
        )


def record(summary: Summary) -> Iterator[str]:
    """Say where the record is and what it lacks."""
    yield f"<p>Run folder: <code>{escape(str(summary.recorded.folder))}</code></p>\n"
    yield from (paragraph(damage) for damage in summary.recorded.damage)
    plan = json.dumps(summary.recorded.plan, indent=1, ensure_ascii=False)
    yield f"<details><summary>The plan, resolved</summary>\n<pre><code>{escape(plan)}</code></pre></details>\n"
