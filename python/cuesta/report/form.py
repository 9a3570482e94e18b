"""The certification form of MPL-17: six parts, as text for a terminal of 80 columns and as a page.

The order is that of 1969; what today asks for (the grade, its reasons, the method, the runs) stands before and behind.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from cuesta.ledger.certification import CONTROL, LINKAGE, TRACED
from cuesta.ledger.record import RESTATED, Absence, Check, Figure, FormRow, ProcessRow, Record, is_numbered
from cuesta.report import page as html
from cuesta.report.layout import in_columns
from cuesta.report.phrases import plain
from cuesta.units import (
    ABSENT,
    between,
    count,
    digits,
    many,
    percent,
    rounded,
    seconds,
    seconds_between,
    seconds_within,
    share,
)

WIDTH = 80
INDENT = 5
LABEL = 44
CELL = 12
CAPTION_D = "d. Average times seen by a process"
INTERVAL = " " * 11 + "95 % of samples"
WIDE = 15
"""Columns of an interval."""
PURPOSE = {
    TRACED: "system calls traced, to count them",
    LINKAGE: "linkers asked what they bind, to count it",
    CONTROL: "no meters, as the control",
}
CHOICE = {"typewriter": "terminal (typewriter)", "FSIM": "pipes, no terminal (FSIM)", "line": "line"}


Row = TypeVar("Row", FormRow, ProcessRow)


def text(record: Record, folder: Path) -> str:
    """Give the form as text."""
    return "\n\n".join("\n".join(rows) for rows in parts(record, folder))


def page(record: Record, folder: Path) -> str:
    """Give the form as a page."""
    word, said = verdict(record)
    marks: list[tuple[str, str]] = [(plain(reason), "") for reason in [*record.because, *record.warnings]]
    return html.page(
        f"{title(record)}: {plain(record.given.system)}",
        [
            html.verdict(word, said, marks, good=record.grade == "certified" and not record.warnings),
            html.section("I Variable settings: operating system", [html.facts(settings(record))]),
            html.section("II Hardware configuration", [html.facts(hardware(record))]),
            html.section("III Other factors expected to influence measurements", map(html.paragraph, factors(record))),
            html.section("IV Measurements", list(tables(record))),
            html.section("V Original run", original(record)),
            html.section("VI Comments", map(html.paragraph, comments(record))),
            html.section("How it was measured", [html.facts(method(record)), runs_table(record), checks_table(record)]),
            html.links([folder / run / "run.json" for run in folders(record)], folder),
        ],
    )


def title(record: Record) -> str:
    """Name the form."""
    kind = "System Performance Certification Record"
    return kind if record.given.kind == "certification" else "Absentee Benchmark Record"


def verdict(record: Record) -> tuple[str, str]:
    """Give the grade, and what it rests on."""
    runs = f"{many(record.method.runs, 'run')} counted, {len(record.method.excluded)} did not"
    return record.grade.upper(), f"{runs}; {record.method.settling} before them warmed up"


def parts(record: Record, folder: Path) -> Iterator[Sequence[str]]:
    """Give the parts in their order."""
    word, said = verdict(record)
    yield [title(record).upper(), f"{record.given.started}, {plain(record.given.system)}", f"{word}: {said}"] + [
        row for reason in record.because for row in wrapped(f"- {reason}", "  ")
    ]
    yield from (wrapped(f"WARNING: {warning}", "  ") for warning in record.warnings)
    yield ["I    Variable settings: operating system", *named(settings(record))]
    yield ["II   Hardware configuration", *named(hardware(record))]
    yield ["III  Other factors expected to influence measurements", *listed(factors(record))]
    yield from measured(record)
    yield ["V    Output of original run", *listed([f"{folder}: {', '.join(folders(record))}"])]
    yield ["VI   Comments", *listed(comments(record))]
    yield ["     How it was measured", *named(method(record))]
    yield ["     Runs", *runs(record)]
    yield ["     Checks", *(row for check in record.checks for row in checked(check))]
    if missing := absences(record):
        yield ["     —", *(row for why, names in missing.items() for row in wrapped(f"{names}: {why}", "  "))]


def measured(record: Record) -> Iterator[Sequence[str]]:
    """Give part IV; nothing of no runs."""
    if not record.runs:
        return
    yield ["IV   Measurements (means of the runs that counted)"]
    heads = columns(record)
    yield [" a.  CPU time breakdown", *lines(record.measurements.a, heads)]
    yield [" b.  Breakdown of CPU times used by subject processes", *lines(record.measurements.b, heads)]
    yield [" c.  Fault times and number", *lines(record.measurements.c, heads)]
    yield [" d.  Average times seen by a process", *seen(record)]
    if record.published:
        yield [
            "     Published, and the mean of these runs",
            *(row for each in beside(record) for row in wrapped(each, "  ")),
        ]


def checked(check: Check) -> list[str]:
    """Say what came of a check."""
    return wrapped(f"{'ok' if check.ok else 'NOT':<5}{check.name}: {plain(check.said)}", "     ")


def settings(record: Record) -> list[tuple[str, str]]:
    """Give part I."""
    work, given = record.workload, record.given
    played = [
        ("script used", f"{work.tape} ({work.sha256[:12]})"),
        ("number of processes used", str(work.users)),
        ("attached to", f"{CHOICE[work.attached]}: {plain(work.target)}"),
    ]
    return [
        ("system being certified", plain(given.system)),
        ("certifier used", f"cuesta {given.cuesta}"),
        *(played if work.tape else ((name, f"{ABSENT} (no run was begun)") for name, _ in played)),
        *((name, plain(value)) for name, value in given.settings.items()),
    ]


def hardware(record: Record) -> list[tuple[str, str]]:
    """Give part II."""
    given = record.given
    return [*((name, plain(value)) for name, value in given.hardware.items()), ("date and time", given.started)]


def factors(record: Record) -> list[str]:
    """Give part III."""
    return [plain(each) for each in record.given.factors]


def comments(record: Record) -> list[str]:
    """Give part VI."""
    return [plain(" ".join(each.split())) for each in record.given.comments] or ["none"]


def method(record: Record) -> list[tuple[str, str]]:
    """Say how it was measured."""
    how, driver = record.method, record.driver
    late = f"lateness p50 {figure(driver.lateness_p50, 's')}, p99 {figure(driver.lateness_p99, 's')}"
    return [
        ("metered", plain(how.metered)),
        *([("worth", plain(how.honesty))] if how.honesty else []),
        ("phases", how.cut),
        ("settled", how.settled),
        *(("runs apart", apart) for apart in runs_apart(record)),
        ("driver", f"{late}; CPU {share(driver.cpu)}, run-wait {share(driver.run_wait)} of a core a thread"),
        *(("excluded", plain(f"{name}: {'; '.join(why)}")) for name, why in how.excluded.items()),
        ("id", record.id),
    ]


def runs_apart(record: Record) -> Iterator[str]:
    """Say which runs were made for one figure each, and what came of it."""
    how = record.method
    for what, made in how.apart.items():
        yield f"{', '.join(made)}: {PURPOSE[what]}"
    if how.untraced:
        yield f"none is traced: {plain(how.untraced)}"
    if how.unmetered.value is not None and how.cost.value is not None:
        than = f"{share(abs(how.cost.value))} {'longer' if how.cost.value >= 0 else 'shorter'}"
        yield (
            f"without meters a process took {seconds(how.unmetered.value)}, with them {than}; of one run, so that a "
            "small difference says nothing"
        )


def original(record: Record) -> list[str]:
    """Give part V: where the raw output lies, with its hashes."""
    rows = [(name, value) for name, value in record.raw.items()]
    runs_ = ", ".join(folders(record))
    files = f"{many(len(rows), 'file')} in this folder ({runs_})"
    about = f"{files}; `cuesta certify --verify` holds them against their hashes."
    return [html.paragraph(about), html.folded("SHA-256 of every file", [html.table(("file", "SHA-256"), rows)])]


def folders(record: Record) -> list[str]:
    """Name the folders of the runs that the figures are from."""
    return [*(run.folder for run in record.runs), *(run for made in record.method.apart.values() for run in made)]


def tables(record: Record) -> Iterator[str]:
    """Give part IV."""
    if not record.runs:
        return
    found = record.measurements
    captions = {
        "a. CPU time breakdown": found.a,
        "b. Breakdown of CPU times used by subject processes": found.b,
        "c. Fault times and number": found.c,
    }
    for caption, rows in captions.items():
        heads = columns(record)
        cells = [
            (named_cell(number, each), *(with_interval(getattr(each, at), each.unit) for at in heads))
            for number, each in numbered(rows)
        ]
        yield html.paragraph(caption, "title") + html.table(("", *heads.values()), cells)
    cells = [(named_cell(number, each), with_interval(each.figure, each.unit)) for number, each in numbered(found.d)]
    yield html.paragraph(CAPTION_D, "title") + html.table(("", ""), cells)
    if record.published:
        yield html.paragraph("Published, and the mean of these runs", "title") + html.table(
            BESIDE_HEADS, beside_rows(record)
        )
    yield from (html.paragraph(f"— {names}: {why}", "faint") for why, names in absences(record).items())
    formulas = [(f"{part}: {each.name.strip()}", each.formula) for part, each in lines_of(record)]
    yield html.folded("How each figure is computed", [html.facts(formulas)])


def lines_of(record: Record) -> Iterator[tuple[str, FormRow | ProcessRow]]:
    """Give all rows of part IV."""
    found = record.measurements
    for part, rows in (("a", found.a), ("b", found.b), ("c", found.c)):
        yield from ((part, each) for each in rows)
    yield from (("d", each) for each in found.d)


def runs_table(record: Record) -> str:
    """Give a row for each run."""
    return html.table(RUN_HEADS, [run_row(record, number) for number in range(len(record.runs))], "Runs")


def checks_table(record: Record) -> str:
    """Say what came of each check."""
    return html.facts(
        (f"check: {check.name}", f"{'kept' if check.ok else 'NOT KEPT'}: {plain(check.said)}")
        for check in record.checks
    )


RUN_HEADS = ("run", "creation", "its CPU", "commands", "its CPU", "complete", "steal", "idle")


def run_row(record: Record, number: int) -> tuple[str, ...]:
    """Give the cells of a run."""
    run = record.runs[number]
    times = (run.creation, run.creation_cpu, run.command, run.command_cpu, run.completion)
    return (
        run.folder,
        *(figure(each, "s") for each in times),
        *(figure(each, "share") for each in (run.steal, run.idle)),
    )


def runs(record: Record) -> Iterator[str]:
    """Give the table of runs as text."""
    for cells in (RUN_HEADS, *(run_row(record, number) for number in range(len(record.runs)))):
        yield in_columns(f"     {cells[0]}", 12, cells[1:], (9, 9, 9, 9, 9, 7, 7))


def columns(record: Record) -> dict[str, str]:
    """Name the columns: a benchmark has one phase."""
    if record.given.kind == "benchmark":
        return {"command": "from start to end"}
    return {"creation": "during process creation", "command": "during command sequence", "total": "total"}


def lines(rows: Sequence[FormRow], heads: dict[str, str]) -> Iterator[str]:
    """Give part a, b or c as text; today's word goes below 1969's where the column has no room for both."""
    short = {"creation": "creation", "command": "commands", "total": "total"} if len(heads) > 1 else heads
    widths = [max(CELL, len(short[at]) + 1) for at in heads]
    yield in_columns("", LABEL, (short[at] for at in heads), widths)
    for number, each in numbered(rows):
        fits = INDENT + len(number) + len(label(each)) <= LABEL
        name = f"{' ' * INDENT}{number}{label(each) if fits else each.name}"
        yield in_columns(name, LABEL, (figure(getattr(each, at), each.unit) for at in heads), widths)
        if not fits:
            yield f"{' ' * (INDENT + len(number))}({each.today})"
        if any(within := [interval(getattr(each, at), each.unit) for at in heads]):
            yield in_columns(INTERVAL, LABEL + sum(widths) - WIDE * len(within), within, [WIDE] * len(within))


def seen(record: Record) -> Iterator[str]:
    """Give part d as text."""
    for number, each in numbered(record.measurements.d):
        name = f"{' ' * INDENT}{number}{label(each)}"
        yield in_columns(name, LABEL + 2 * CELL, [figure(each.figure, each.unit)], [CELL])
        if within := interval(each.figure, each.unit):
            yield in_columns(INTERVAL, LABEL + 3 * CELL - WIDE, [within], [WIDE])


def numbered(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Number rows as the form of 1969 does: not the totals, and not what only says a row in other words."""
    number = 0
    for each in rows:
        own = is_numbered(each.key)
        number += own
        yield f"{f'{number}.' if own else '':<4}", each


def named_cell(number: str, row: FormRow | ProcessRow) -> html.Cell:
    """Give the cell of a row's name; one that only says another row in other words is indented."""
    return (label(row).strip(), "in") if row.key in RESTATED else f"{number}{label(row)}"


def label(row: FormRow | ProcessRow) -> str:
    """Give a row's name: 1969's, and today's beside it; of a ratio its interval."""
    if isinstance(row, ProcessRow):
        interval = row.interval
        return row.name + (f", 95 % interval {interval[0]:.3g} to {interval[1]:.3g}" if interval else "")
    if not row.today:
        return row.name
    name, colon, what = row.name.partition(": ")
    return f"{name} ({row.today}){colon}{what}"


BESIDE_HEADS = ("what", "published", "measured", "source")


def beside_rows(record: Record) -> Iterator[tuple[str, ...]]:
    """Give a row for each published figure: what, published, measured, where it was published."""
    for each in record.published:
        then = f"{each.bound} " if each.bound else ""
        then += figure(Figure(value=each.published), each.unit)
        yield plain(each.what), then, figure(each.measured, each.unit), plain(each.source)


def beside(record: Record) -> Iterator[str]:
    """Say each published figure in a sentence."""
    for what, then, now, source in beside_rows(record):
        yield f"{what}: {then}; here {now} ({source})"


def figure(figure: Figure, unit: str) -> str:
    """Write a figure in its unit; one that could not be had is a dash, and its reason stands below."""
    if figure.value is None:
        return ABSENT
    if figure.high is not None:
        return sampled(figure, unit)
    if unit == "s":
        return seconds(figure.value) if figure.value else "0 s"
    if unit == "share":
        return share(figure.value)
    return (
        f"{figure.value:.3g}"
        if unit == "ratio"
        else count(figure.value)
        if figure.value >= 10
        else digits(figure.value)
    )


def sampled(figure: Figure, unit: str) -> str:
    """Write a figure that rests on samples: as many digits as are known; of what no sample met the most it may be."""
    value, error, high = figure.value or 0.0, figure.standard_error or 0.0, figure.high or 0.0
    if not value:
        return f"under {seconds_within(high, high)}" if unit == "s" else f"under {share(high)}"
    if unit == "s":
        return seconds_within(value, error)
    if unit == "share":
        return f"{percent(100 * value, 100 * error)} %"
    return rounded(value, error, 2)


def interval(figure: Figure, unit: str) -> str:
    """Write the 95 % interval of a figure that rests on samples; nothing of others."""
    if figure.low is None or figure.high is None or not figure.value:
        return ""
    if unit == "s":
        return seconds_between(figure.low, figure.high)
    by, sign = (100, " %") if unit == "share" else (1, "")
    return between(by * figure.low, by * figure.high, 2) + sign


def with_interval(one: Figure, unit: str) -> str:
    """Write a figure, and behind it its interval if it has one."""
    within = interval(one, unit)
    return f"{figure(one, unit)} [{within}]" if within else figure(one, unit)


def absences(record: Record) -> dict[str, str]:
    """Give what is missing by reason: `why` → the rows that it is of."""
    reasons: dict[str, list[str]] = {}
    for part, each in lines_of(record):
        figures = [each.figure] if isinstance(each, ProcessRow) else [each.creation, each.command]
        for one in figures:
            if one.why and one.absence not in {Absence.NO_PHASE, Absence.NO_RUN}:
                reasons.setdefault(one.why, []).append(f"{part}: {each.name.strip()}")
    return {plain(why): "; ".join(dict.fromkeys(names)) for why, names in reasons.items()}


def named(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Give names and what they are, wrapped."""
    for name, value in rows:
        head = f"     {name}: "
        yield from textwrap.wrap(value, WIDTH, initial_indent=head, subsequent_indent=" " * 9) or [head.rstrip()]


def listed(rows: Iterable[str]) -> Iterator[str]:
    """Give sentences, wrapped."""
    for row in rows:
        yield from wrapped(row)


def wrapped(row: str, more: str = "") -> list[str]:
    """Wrap a sentence below the head of its part."""
    return textwrap.wrap(
        plain(row), WIDTH, initial_indent=" " * 5, subsequent_indent=" " * 5 + more, break_on_hyphens=False
    )
