"""The report of one run as one page: what came out of it first, then what that rests on (`instruments`).

The order is that of the text: validity before everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cuesta.analysis.asymptotes import asymptotes
from cuesta.analysis.summary import Summary
from cuesta.figures.step import Distribution, StepFigures
from cuesta.report import instruments, tables
from cuesta.report.page import Cell, facts, page, paragraph, plots, section, table, verdict, write
from cuesta.report.phrases import (
    account,
    bounds,
    contradictions,
    doubts,
    fairness,
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
)
from cuesta.report.plots import courses, distributions, sweeps
from cuesta.report.several import several
from cuesta.units import ABSENT, count, many, named, seconds


def html(runs: Mapping[str, Summary], file: Path) -> None:
    """Write the page of one run, or of several by name."""
    place = file.absolute().parent
    write(file, one(next(iter(runs.values())), place) if len(runs) == 1 else several(runs, place))


def one(summary: Summary, place: Path) -> str:
    """Give the page of one run; `place` is the folder that the page is for, where its links begin."""
    return page(plain(str(summary.recorded.run.get("name", "run"))), _parts(summary, place))


def _parts(summary: Summary, place: Path) -> Iterator[str]:
    """Give the sections, in their order."""
    step = summary.last
    yield of_validity(summary)
    yield section("Limits", limits(summary))
    yield section("What was run", what_was_run(summary))
    if summary.planned_steps > 1:
        yield section("Sweep", sweep(summary))
    yield section("Response", response(summary, step))
    yield section("Course of the run", [plots(courses(summary.recorded))])
    yield section("Throughput", throughput(step))
    yield section("Interactive response-time law", map(paragraph, law(step.law) if step.law else no_law(step)))
    yield section("Published figures", published(summary))
    yield section("Host", instruments.host(summary, step))
    yield section("Lines", instruments.lines(summary, step))
    yield section("Driver", instruments.driver(step))
    yield section("Machine", instruments.machine(summary))
    yield section("Record", instruments.record(summary, place))


def of_validity(summary: Summary) -> str:
    """Say first whether the figures can be trusted, and whether they are of all that was planned."""
    word, said = ("VALID", on_time(summary)) if summary.valid else ("INVALID", "do not rely on the figures below")
    early = how_it_ended(summary)
    return verdict(word, said, doubts(summary), summary.valid) + (paragraph(early, "notice") if early else "")


def limits(summary: Summary) -> Iterator[str]:
    """Say which limits were kept."""
    rows = [
        (
            f"step {step.step + 1}: {judged.limit}" if len(summary.steps) > 1 else judged.limit,
            limit_value(judged),
            (kept(judged), "kept" if judged.ok else "crossed"),
        )
        for step in summary.steps
        for judged in step.limits
    ]
    if rows:
        yield table(("limit", "measured", ""), rows)


def what_was_run(summary: Summary) -> Iterator[str]:
    """Say what was run, by what."""
    run, step = summary.recorded.run, summary.last
    tapes = (f"{plain(name)} ({tape.get('sha256', '')[:12]})" for name, tape in run.get("tapes", {}).items())
    yield facts(
        [
            ("load", load(step)),
            ("target", ", ".join(map(plain, map(str, run.get("host", {}).get("targets", []))))),
            ("started", str(run.get("started", ""))),
            ("ended", summary.ended),
            ("command", " ".join(plain(str(word)) for word in run.get("command", []))),
            ("tapes", ", ".join(tapes)),
            ("seed, agents", f"{run.get('seed', ABSENT)}, {run.get('agents', ABSENT)}"),
            ("cuesta", str(run.get("cuesta", ""))),
        ]
    )


def sweep(summary: Summary) -> Iterator[str]:
    """Give a row for each step, and what there is against the number of users."""
    heads, *rows = tables.sweep(summary)
    cells: list[list[Cell]] = [[*row[:-1], (row[-1], "crossed")] for row in rows]
    yield table(heads, cells, tables.about_sweep(summary))
    if drawn := plots(sweeps(summary)):
        yield drawn
        lines = asymptotes(summary)
        yield from (paragraph(said, "notice") for said in contradictions(lines))
        yield from (paragraph(said, "faint") for said in bounds(lines))


def response(summary: Summary, step: StepFigures) -> Iterator[str]:
    """Give the distributions and their curves."""
    rows = list(tables.distributions(step))
    if not rows:
        yield paragraph("no transaction and no echo was measured")
        return
    caption = f"{tables.DUE_AND_SENT}. {tables.FEW if any(tables.few(each) for _, each in rows) else ''}"
    yield table(("", "count", "mean", *tables.HEADS), map(of_distribution, rows), caption)
    if step.kernel:
        yield paragraph(inflation(step.kernel))
    if step.fairness:
        yield paragraph(fairness(step.fairness))
    yield plots(distributions(summary.recorded, step))


def of_distribution(row: tuple[str, Distribution | None]) -> Sequence[Cell]:
    """Give the cells of a row of the response table."""
    label, each = row
    return (label,) if each is None else ((label, "in"), count(each.count), seconds(each.mean), *tables.cells(each))


def throughput(step: StepFigures) -> Iterator[str]:
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
            ("errors before measuring", before),
            *((f"{plain(name)}, the first", plain(said)) for name, said in step.errors.said.items()),
            ("due by the load", account(step.due) if step.due else ""),
            ("skipped, lost", f"{many(step.skipped, 'action')}, {many(step.lost_users, 'user')}"),
            ("under way at the end", f"{count(under_way.count)}, the oldest since {seconds(under_way.oldest)}"),
        ]
    )


def published(summary: Summary) -> Iterator[str]:
    """Put what others measured beside what was measured here."""
    if rows := list(tables.published(summary)):
        cells: list[list[Cell]] = [[(row[0], "wraps"), *row[1:]] for row in rows]
        yield table(("", "", "measured", "published", "ratio"), cells, f"published: {tables.sources(summary)}")
