"""MPL-17's certification form as text for a terminal of 80 columns."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cuesta.ledger.record import Check, FormRow, Record
from cuesta.report import form
from cuesta.report.layout import in_columns
from cuesta.report.phrases import plain

WIDTH = 80
INDENT = 5
LABEL = 44
CELL = 12
INTERVAL = " " * 11 + "95 % of samples"
WIDE = 15
"""Columns of an interval."""


def text(record: Record, folder: Path) -> str:
    return "\n\n".join("\n".join(rows) for rows in parts(record, folder))


def parts(record: Record, folder: Path) -> Iterator[Sequence[str]]:
    word, sentence = form.verdict(record)
    yield [
        form.title(record).upper(),
        f"{record.given.started}, {plain(record.given.system)}",
        f"{word}: {sentence}",
    ] + [row for reason in record.because for row in wrapped(f"- {reason}", "  ")]
    yield from (wrapped(f"WARNING: {warning}", "  ") for warning in record.warnings)
    yield ["I    Variable settings: operating system", *named(form.settings(record))]
    yield ["II   Hardware configuration", *named(form.hardware(record))]
    yield ["III  Other factors expected to influence measurements", *listed(form.factors(record))]
    yield from measured(record)
    yield ["V    Output of original run", *listed([f"{folder}: {', '.join(form.folders(record))}"])]
    yield ["VI   Comments", *listed(form.comments(record))]
    yield ["     How it was measured", *named(form.method(record))]
    yield ["     Runs", *runs(record)]
    yield ["     Checks", *(row for check in record.checks for row in check_result(check))]
    if missing := form.absences(record):
        yield ["     —", *(row for why, names in missing.items() for row in wrapped(f"{names}: {why}", "  "))]


def measured(record: Record) -> Iterator[Sequence[str]]:
    """Part IV; empty if no run counts."""
    if not record.runs:
        return
    yield ["IV   Measurements (means of the runs that counted)"]
    for part, caption in form.CAPTIONS.items():
        rows = process_rows(record) if part == "d" else form_rows(record, getattr(record.measurements, part))
        yield [f" {part}.  {caption}", *rows]
    if record.published:
        yield [f"     {form.PUBLISHED}", *(row for each in published(record) for row in wrapped(each, "  "))]


def check_result(check: Check) -> list[str]:
    return wrapped(f"{'ok' if check.ok else 'NOT':<5}{check.name}: {plain(check.said)}", "     ")


def runs(record: Record) -> Iterator[str]:
    for cells in (form.RUN_HEADS, *map(form.run_row, record.runs)):
        yield in_columns(f"     {cells[0]}", 12, cells[1:], (9, 9, 9, 9, 9, 7, 7))


def form_rows(record: Record, rows: Sequence[FormRow]) -> Iterator[str]:
    """Part a, b or c. Today's name is below 1969's if the column is too narrow for both."""
    heads = form.columns(record)
    short = {"creation": "creation", "command": "commands", "total": "total"} if len(heads) > 1 else heads
    widths = [max(CELL, len(short[at]) + 1) for at in heads]
    yield in_columns("", LABEL, (short[at] for at in heads), widths)
    for number, each in form.numbered(rows):
        fits = INDENT + len(number) + len(form.label(each)) <= LABEL
        name = f"{' ' * INDENT}{number}{form.label(each) if fits else each.name}"
        yield in_columns(name, LABEL, (form.figure(getattr(each, at), each.unit) for at in heads), widths)
        if not fits:
            yield f"{' ' * (INDENT + len(number))}({each.today})"
        if any(within := [form.interval(getattr(each, at), each.unit) for at in heads]):
            yield in_columns(INTERVAL, LABEL + sum(widths) - WIDE * len(within), within, [WIDE] * len(within))


def process_rows(record: Record) -> Iterator[str]:
    """Part d."""
    for number, each in form.numbered(record.measurements.d):
        name = f"{' ' * INDENT}{number}{form.label(each)}"
        yield in_columns(name, LABEL + 2 * CELL, [form.figure(each.figure, each.unit)], [CELL])
        if within := form.interval(each.figure, each.unit):
            yield in_columns(INTERVAL, LABEL + 3 * CELL - WIDE, [within], [WIDE])


def published(record: Record) -> Iterator[str]:
    for what, then, now, source in form.beside_rows(record):
        yield f"{what}: {then}; here {now} ({source})"


def named(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Wrap facts."""
    for name, value in rows:
        head = f"     {name}: "
        yield from textwrap.wrap(value, WIDTH, initial_indent=head, subsequent_indent=" " * 9) or [head.rstrip()]


def listed(rows: Iterable[str]) -> Iterator[str]:
    """Wrap sentences."""
    for row in rows:
        yield from wrapped(row)


def wrapped(row: str, more: str = "") -> list[str]:
    """Wrap a sentence below the head of its part."""
    return textwrap.wrap(
        plain(row), WIDTH, initial_indent=" " * 5, subsequent_indent=" " * 5 + more, break_on_hyphens=False
    )
