"""MPL-17's certification form as text for a terminal of 80 columns; and its facts and rows, for `form_page` too.

The order is that of 1969. Additions of today (the grade, its reasons, the method, the runs) are before and after it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from rich.cells import cell_len

from cuesta.columns import in_columns, wrap_text
from cuesta.ledger.certification import CONTROL, LINKAGE, TRACED
from cuesta.ledger.record import Absence, Check, FormRow, ProcessRow, Record, RecordFigure, RunRow, is_numbered
from cuesta.plain_text import plain
from cuesta.units import (
    ABSENT,
    count,
    digits,
    interval,
    many,
    percent,
    seconds,
    seconds_between,
    seconds_within,
    share,
    write_rounded,
)

CAPTIONS = {
    "a": "CPU time breakdown",
    "b": "Breakdown of CPU times used by subject processes",
    "c": "Fault times and number",
    "d": "Average times seen by a process",
}
PUBLISHED = "Published, and the mean of these runs"
PURPOSE = {
    TRACED: "system calls traced, to count them",
    LINKAGE: "linkers asked what they bind, to count it",
    CONTROL: "no meters, as the control",
}

CHOICE = {"typewriter": "terminal (typewriter)", "FSIM": "pipes, no terminal (FSIM)", "line": "line"}

WIDTH = 80
INDENT = 5
LABEL = 41
CELL = 13
"""Columns of a figure: a space before the longest, `under 500 µs`."""
INTERVAL = " " * 11 + "95 % of samples"
WIDE = 15
"""Columns of an interval."""

AnyRow = TypeVar("AnyRow", FormRow, ProcessRow)


def text(record: Record, folder: Path) -> str:
    return "\n\n".join("\n".join(rows) for rows in parts(record, folder))


def parts(record: Record, folder: Path) -> Iterator[Sequence[str]]:
    word, sentence = verdict(record)
    yield [
        title(record).upper(),
        f"{record.given.started}, {plain(record.given.system)}",
        f"{word}: {sentence}",
    ] + [row for reason in record.because for row in wrap_sentence(f"- {reason}", "  ")]
    yield from (wrap_sentence(f"WARNING: {warning}", "  ") for warning in record.warnings)
    yield ["I    Variable settings: operating system", *wrap_facts(settings(record))]
    yield ["II   Hardware configuration", *wrap_facts(hardware(record))]
    yield ["III  Other factors expected to influence measurements", *wrap_sentences(factors(record))]
    yield from part_iv(record)
    yield ["V    Output of original run", *wrap_sentences([f"{folder}: {', '.join(list_folders(record))}"])]
    yield ["VI   Comments", *wrap_sentences(comments(record))]
    yield ["     How it was measured", *wrap_facts(method_facts(record))]
    yield ["     Runs", *runs(record)]
    yield ["     Checks", *(row for check in record.checks for row in check_rows(check))]
    if missing := list_absences(record):
        yield ["     —", *(row for why, names in missing.items() for row in wrap_sentence(f"{names}: {why}", "  "))]


def part_iv(record: Record) -> Iterator[Sequence[str]]:
    """Part IV; empty if no run counts."""
    if not record.runs:
        return
    yield ["IV   Measurements (means of the runs that counted)"]
    for part, caption in CAPTIONS.items():
        rows = process_rows(record) if part == "d" else form_rows(record, getattr(record.measurements, part))
        yield [f" {part}.  {caption}", *rows]
    if record.published:
        yield [f"     {PUBLISHED}", *(row for each in list_published(record) for row in wrap_sentence(each, "  "))]


def check_rows(check: Check) -> list[str]:
    return wrap_sentence(f"{'ok' if check.ok else 'NOT':<5}{check.name}: {plain(check.said)}", "     ")


def runs(record: Record) -> Iterator[str]:
    for cells in (RUN_HEADS, *map(run_row, record.runs)):
        yield in_columns(f"     {cells[0]}", 12, cells[1:], (9, 9, 9, 9, 9, 7, 7))


def form_rows(record: Record, rows: Sequence[FormRow]) -> Iterator[str]:
    """Part a, b or c. Today's name is below 1969's if the column is too narrow for both."""
    heads = columns(record)
    short = {"creation": "creation", "command": "commands", "total": "total"} if len(heads) > 1 else heads
    widths = [max(CELL, len(short[at]) + 1) for at in heads]
    yield in_columns("", LABEL, (short[at] for at in heads), widths)
    for number, each in number_rows(rows):
        fits = INDENT + len(number) + cell_len(label(each)) <= LABEL
        name = f"{' ' * INDENT}{number}{label(each) if fits else each.name}"
        yield in_columns(name, LABEL, (write_figure(getattr(each, at), each.unit) for at in heads), widths)
        if not fits:
            yield f"{' ' * (INDENT + len(number))}({each.today})"
        if any(within := [write_interval(getattr(each, at), each.unit) for at in heads]):
            yield in_columns(INTERVAL, LABEL + sum(widths) - WIDE * len(within), within, [WIDE] * len(within))


def process_rows(record: Record) -> Iterator[str]:
    """Part d."""
    for number, each in number_rows(record.measurements.d):
        name = f"{' ' * INDENT}{number}{label(each)}"
        yield in_columns(name, LABEL + 2 * CELL, [write_figure(each.figure, each.unit)], [CELL])
        if within := write_interval(each.figure, each.unit):
            yield in_columns(INTERVAL, LABEL + 3 * CELL - WIDE, [within], [WIDE])


def list_published(record: Record) -> Iterator[str]:
    for what, then, now, source in published_rows(record):
        yield f"{what}: {then}; here {now} ({source})"


def wrap_facts(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, value in rows:
        head = f"     {name}: "
        yield from list(wrap_text(value, WIDTH, head, " " * 9)) or [head.rstrip()]


def wrap_sentences(rows: Iterable[str]) -> Iterator[str]:
    for row in rows:
        yield from wrap_sentence(row)


def wrap_sentence(row: str, more: str = "") -> list[str]:
    """Wrap a sentence below the head of its part."""
    return list(wrap_text(plain(row), WIDTH, " " * INDENT, " " * INDENT + more))


def title(record: Record) -> str:
    kind = "System Performance Certification Record"
    return kind if record.given.kind == "certification" else "Absentee Benchmark Record"


def verdict(record: Record) -> tuple[str, str]:
    counted = f"{many(record.method.runs, 'run')} counted, {len(record.method.excluded)} did not"
    return record.grade.upper(), f"{counted}; {record.method.settling} before them warmed up"


def settings(record: Record) -> list[tuple[str, str]]:
    """Part I."""
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
    """Part II."""
    given = record.given
    return [*((name, plain(value)) for name, value in given.hardware.items()), ("date and time", given.started)]


def factors(record: Record) -> list[str]:
    """Part III."""
    return [plain(each) for each in record.given.factors]


def comments(record: Record) -> list[str]:
    """Part VI."""
    return [plain(" ".join(each.split())) for each in record.given.comments] or ["none"]


def method_facts(record: Record) -> list[tuple[str, str]]:
    how, driver = record.method, record.driver
    late = f"lateness p50 {write_figure(driver.lateness_p50, 's')}, p99 {write_figure(driver.lateness_p99, 's')}"
    return [
        ("metered", plain(how.metered)),
        *([("worth", plain(how.honesty))] if how.honesty else []),
        ("phases", how.cut),
        ("settled", how.settled),
        *(("extra runs", extra) for extra in extra_runs(record)),
        ("driver", f"{late}; CPU {share(driver.cpu)}, run-wait {share(driver.run_wait)} of a core a thread"),
        *(("excluded", plain(f"{name}: {'; '.join(why)}")) for name, why in how.excluded.items()),
        ("id", record.id),
    ]


def extra_runs(record: Record) -> Iterator[str]:
    """The extra runs, and the cost of metering."""
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


def list_folders(record: Record) -> list[str]:
    return [*(run.folder for run in record.runs), *(run for made in record.method.apart.values() for run in made)]


def all_rows(record: Record) -> Iterator[tuple[str, FormRow | ProcessRow]]:
    """Every row of part IV, with its part."""
    for part in CAPTIONS:
        yield from ((part, each) for each in getattr(record.measurements, part))


RUN_HEADS = ("run", "creation", "its CPU", "commands", "its CPU", "complete", "steal", "idle")


def run_row(run: RunRow) -> tuple[str, ...]:
    times = (run.creation, run.creation_cpu, run.command, run.command_cpu, run.completion)
    return (
        run.folder,
        *(write_figure(each, "s") for each in times),
        *(write_figure(each, "share") for each in (run.steal, run.idle)),
    )


def columns(record: Record) -> dict[str, str]:
    """Heads of the columns; a benchmark has one phase."""
    if record.given.kind == "benchmark":
        return {"command": "from start to end"}
    return {"creation": "during process creation", "command": "during command sequence", "total": "total"}


def number_rows(rows: Sequence[AnyRow]) -> Iterator[tuple[str, AnyRow]]:
    """Rows with the numbers of the form of 1969: totals and restated rows have none."""
    number = 0
    for each in rows:
        own = is_numbered(each.key)
        number += own
        yield f"{f'{number}.' if own else '':<4}", each


def label(row: FormRow | ProcessRow) -> str:
    """A row's name: 1969's, then today's; for a ratio its interval."""
    if isinstance(row, ProcessRow):
        ends = row.interval
        return row.name + (f", 95 % interval {ends[0]:.3g} to {ends[1]:.3g}" if ends else "")
    return row.label


BESIDE_HEADS = ("what", "published", "measured", "source")


def published_rows(record: Record) -> Iterator[tuple[str, ...]]:
    for each in record.published:
        then = f"{each.bound} " if each.bound else ""
        then += write_figure(RecordFigure(value=each.published), each.unit)
        yield plain(each.what), then, write_figure(each.measured, each.unit), plain(each.source)


def write_figure(figure: RecordFigure, unit: str) -> str:
    if figure.value is None:
        return ABSENT
    if figure.high is not None:
        return write_sampled(figure, unit)
    if unit == "s":
        return seconds(figure.value) if figure.value else "0 s"
    if unit == "share":
        return share(figure.value)
    if unit == "ratio":
        return f"{figure.value:.3g}"
    return count(figure.value) if figure.value >= 10 else digits(figure.value)


def write_sampled(figure: RecordFigure, unit: str) -> str:
    """A sampled figure with the digits that its error supports; without samples, its upper limit."""
    value, error, high = figure.value or 0.0, figure.standard_error or 0.0, figure.high or 0.0
    if not value:
        return f"under {seconds_within(high, high)}" if unit == "s" else f"under {share(high)}"
    if unit == "s":
        return seconds_within(value, error)
    if unit == "share":
        return f"{percent(100 * value, 100 * error)} %"
    return write_rounded(value, error, 2)


def write_interval(figure: RecordFigure, unit: str) -> str:
    """The 95 % interval of a sampled figure; empty for others."""
    if figure.low is None or figure.high is None or not figure.value:
        return ""
    if unit == "s":
        return seconds_between(figure.low, figure.high)
    by, sign = (100, " %") if unit == "share" else (1, "")
    return interval(by * figure.low, by * figure.high, 2) + sign


def list_absences(record: Record) -> dict[str, str]:
    """Reasons of missing figures, with their rows."""
    reasons: dict[str, list[str]] = {}
    for part, each in all_rows(record):
        figures = [each.figure] if isinstance(each, ProcessRow) else [each.creation, each.command]
        for one in figures:
            if one.why and one.absence not in {Absence.NO_PHASE, Absence.NO_RUN}:
                reasons.setdefault(one.why, []).append(f"{part}: {each.name.strip()}")
    return {plain(why): "; ".join(dict.fromkeys(names)) for why, names in reasons.items()}
