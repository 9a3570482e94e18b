"""What the figures of a page rest on: the host's meters, the lines, the driver, the machine, the record."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from cuesta.analysis.front_end import front_end
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.ledger import raw_files, segment_folders
from cuesta.report import meters, off_cpu, tables
from cuesta.report.front_end import text as tty_meters
from cuesta.report.page import facts, folded, links, listing, paragraph, table
from cuesta.report.phrases import built_in, facts_of_machine, host_cpu, plain, programs, screens, worth
from cuesta.units import ABSENT, count, digits, many, seconds, share

LARGEST_PICTURE = 4 << 20
"""Bytes of a flame graph that still goes into the page."""
MOST_LINES = 100
"""Lines that the page lists: the worst ones."""


def host(summary: Summary, step: StepFigures) -> Iterator[str]:
    """Say what was started, and what the host's meters say."""
    yield from map(paragraph, programs(step.host))
    yield from map(paragraph, host_cpu(step.host))
    if step.host.builtin:
        yield from map(paragraph, built_in(step.host.builtin))
    yield from (paragraph(said, "faint") for said in worth(step.host))
    heads, *rows = list(tables.devices(step)) or [()]
    if rows:
        about = "ATB: average time between requests; % busy: of that device, with at least one request. Whole machine"
        yield table(heads, rows, f"{about}{tables.devices_tier(step)}.")
    if step.host.sheet and (rows := list(off_cpu.rows(step.host.sheet))):
        yield table(("off its CPU", *off_cpu.HEADS), rows, f"{off_cpu.ABOUT}.")
    if step.host.sheet:
        yield folded("The host's meters", [listing(meters.text(step.host.sheet))])
    yield flame(summary)
    times = summary.recorded.steps.get(step.step)
    if times and (sheet := front_end(summary.recorded, times)):
        yield folded("The front end's meters (tty_meters)", [listing(tty_meters(sheet))])


def flame(summary: Summary) -> str:
    """Give the last segment's flame graph as a picture of its own, folded away."""
    pictures = [path / "flame.svg" for path in segment_folders(summary.recorded.folder)]
    found = [path for path in pictures if path.exists() and 0 < path.stat().st_size <= LARGEST_PICTURE]
    if not found:
        return ""
    picture = b64encode(found[-1].read_bytes()).decode()
    title = "Where the host's CPU time went, from the start of the meters (flame graph)"
    return folded(title, [f'<img alt="{title}" src="data:image/svg+xml;base64,{picture}" style="width:100%"/>'])


def lines(summary: Summary, step: StepFigures) -> Iterator[str]:
    """Say what the lines were, and how each fared."""
    heads, *groups = tables.groups(summary, step)
    if groups:
        yield table(heads, [[*row[:-1], (row[-1], "wraps")] for row in groups])
    rows = tables.lines(summary, step)
    if rows:
        shown = rows[:MOST_LINES]
        which = f"the worst {count(len(shown))} of {count(len(rows))} lines" if len(rows) > len(shown) else "each line"
        about = "response since due, in the measurement interval; lines without a transaction have none"
        head = ("line", "of", "transactions", "response, mean", "max", "lost")
        yield folded(f"Response of {which}, the worst first", [table(head, shown, about)])
    else:
        yield paragraph("no record of single lines: it is written when a step ends", "faint")


def driver(step: StepFigures) -> Iterator[str]:
    """Say how good an instrument the driver was."""
    if late := [(label, count(each.count), *tables.cells(each)) for label, each in tables.lateness(step)]:
        about = "lateness, sent − due: how much later than planned keys went, by the driver's own fault"
        yield table(("keys of", "count", *tables.HEADS), late, about)
    memory = step.driver.rss_per_user
    yield facts(
        [
            ("CPU", f"{share(step.driver.cpu)} of a core per thread, {many(step.driver.threads, 'thread')}"),
            ("run-wait", f"{share(step.driver.run_wait)}: ready to run and without a CPU"),
            ("memory a user", f"{digits(memory / 1024)} KiB" if memory else ABSENT),
            ("screens", screens(step.driver.screens) if step.driver.screens else ""),
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


def machine(summary: Summary) -> Iterator[str]:
    """Say what machine the driver ran on."""
    yield facts(facts_of_machine(summary.recorded.run.get("machine", {})))


def record(summary: Summary, place: Path) -> Iterator[str]:
    """Say where the record is, what it lacks, and what is in it."""
    folder = summary.recorded.folder
    yield facts([("run folder", plain(str(folder)))])
    yield from (paragraph(damage, "notice") for damage in summary.recorded.damage)
    yield folded("Raw files, from which all of this can be derived again", [links(raw_files(folder), place)])
    plan = json.dumps(summary.recorded.plan, indent=1, ensure_ascii=False)
    yield folded("The plan, resolved", [listing(plan)])
