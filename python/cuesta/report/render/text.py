"""A report for a terminal: titles in the margin with rows beside them, and the headline last, above the prompt.

It takes 80 columns, or fewer in a narrower terminal. Below STACKED columns titles stand above their rows. Without
`verbose` it takes a screen of 24 rows if it can, the prompt included.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cuesta.columns import align_left, align_right, words, wrap_text
from cuesta.report.model import (
    Cell,
    Facts,
    Folded,
    Part,
    Remark,
    Report,
    Screen,
    Section,
    Table,
    Verdict,
    Words,
    as_words,
)
from cuesta.report.render.plain import make_plain
from cuesta.terminal import Styled
from cuesta.units import ABSENT

MARGIN, WIDTH = 11, 80
LEAST = 20
"""The least width in columns that is written for, even if the terminal is narrower."""
STACKED = 60
"""The least width in columns that has room for titles in a margin."""
INDENT = "  "
NARROWEST = 16
"""The least width of a column whose text is broken."""
GOOD, BAD, FAINT, NOTICE, HEADING = "bold green", "bold red", "dim", "yellow", "cyan"
VERDICTS = {True: GOOD, False: BAD, None: NOTICE}
STYLES = {"good": GOOD, "bad": BAD, "notice": NOTICE, "faint": FAINT, "title": HEADING, "": ""}

SCREEN = 23
"""Rows of a first screen: those of a terminal of 24, without the prompt's."""
BLANK = 1
"""Rows that are saved where the headline follows without one."""
LEAST_ROWS = 4
"""Rows of a table that a first screen always shows."""

Rows = Iterator[Text]


@dataclass(frozen=True, slots=True)
class Layout:
    """What a document has room for."""

    width: int
    verbose: bool = False
    """Whether all that a terminal can show is shown."""
    excess: int = 0
    """Rows that are too many for a first screen."""


def text(report: Report, colour: bool | None = None, *, verbose: bool = False) -> Styled:
    """Write a report; coloured if `colour` says so, or if standard output is a terminal and NO_COLOR is not set.

    The first screen answers; with `verbose` all that a terminal can show follows in each section.
    """
    if colour is None:
        terminal = Console()
        colour = terminal.is_terminal and not terminal.no_color
    width = min(max(shutil.get_terminal_size((WIDTH, 0)).columns, LEAST), WIDTH)
    out = StringIO()
    console = Console(file=out, force_terminal=colour, color_system="standard" if colour else None, highlight=False)
    for row in _rows(make_plain(report), verbose, width):
        row.rstrip()
        console.print(row, soft_wrap=True)
    return Styled(out.getvalue().rstrip("\n"))


def _rows(report: Report, verbose: bool, width: int) -> Rows:
    if verbose:
        sections = [replace(section, parts=(*section.parts, *section.more)) for section in report.sections]
        return _document(replace(report, sections=sections), Layout(width, verbose=True))
    return _first_screen(report, width)


def _first_screen(report: Report, width: int) -> Rows:
    """Leave out spare parts, from the last on, and then rows of tables, until the screen has room for the rest."""
    ranks = sorted({0, *(spare.rank for section in report.sections for spare in section.spare)}, reverse=True)
    for rank in ranks:
        brief = replace(report, sections=[_shorten(section, rank) for section in report.sections])
        rows = list(_document(brief, Layout(width)))
        if len(rows) <= SCREEN:
            return iter(rows)
    return _document(brief, Layout(width, excess=len(rows) - SCREEN))


def _shorten(section: Section, rank: int) -> Section:
    """A section with its spare parts up to a rank."""
    parts = section.parts if section.brief is None else section.brief
    return replace(section, parts=[*parts, *(spare.part for spare in section.spare if spare.rank <= rank)])


def _document(report: Report, layout: Layout) -> Rows:
    width = layout.width
    yield from _section(report.verdict.name, _verdict(report.verdict, width), width)
    for section in report.sections:
        if rows := [row for part in section.parts for row in _part(part, layout)]:
            yield from [Text()] if layout.verbose else []
            yield from _section(section.name or section.title.upper(), rows, width)
    if report.conclusion:
        yield from [Text()] if layout.verbose else []
        yield from _section("LIMITED BY", _part(report.conclusion, layout), width)
    if report.verdict.reasons_last:
        yield from [Text()] if layout.verbose else []
        yield from _section(report.verdict.word, _reasons(report.verdict, width), width)
    yield from [Text()] if report.headline and not layout.excess else []
    yield from (
        Text(row, "bold" if report.verdict.good else VERDICTS[report.verdict.good])
        for row in wrap_text(report.headline, width)
    )


def _room(width: int) -> int:
    """Columns for the rows of a section."""
    return width - (MARGIN if width >= STACKED else len(INDENT))


def _section(title: str, rows: Iterable[Text], width: int) -> Rows:
    for number, row in enumerate(rows):
        if isinstance(row, Wide) or width < STACKED:
            yield from [Text(title, "bold")] if title and number == 0 else []
            yield Text(INDENT).append(row)
            continue
        yield Text(align_left(title if number == 0 else "", MARGIN), "bold").append(row)


def _verdict(verdict: Verdict, width: int) -> Rows:
    room = _room(width)
    first, *others = wrap_text(f"{verdict.word}: {verdict.text}", room)
    word = Text(verdict.word, VERDICTS[verdict.good])
    yield word.append(Text(first.removeprefix(verdict.word), "default"))
    yield from map(Text, others)
    if not verdict.reasons_last:
        yield from _reasons(verdict, width)
    yield from (Text(row, NOTICE) for notice in verdict.notices for row in wrap_text(notice, room))


def _reasons(verdict: Verdict, width: int) -> Rows:
    room = _room(width)
    for reason, advice in verdict.reasons:
        yield from map(Text, wrap_text(f"- {reason}", room, then="  "))
        yield from (Text(row, FAINT) for row in wrap_text(f"→ {advice}", room, "  ", "    ") if advice)


def _part(part: Part, layout: Layout) -> Rows:
    room = _room(layout.width)
    match part:
        case Remark(sentence, tone):
            yield from (Text(row, STYLES[tone]) for row in wrap_text(sentence, room, then="  "))
        case Facts():
            yield from write_facts(part, room)
        case Table():
            yield from write_table(part, layout)
        case Screen(shown):
            yield from (Text(row[:room], FAINT) for row in map("│ ".__add__, shown))
        case Folded(title, parts):
            rows = [row for each in parts for row in _part(each, layout)]
            heading = (Text(row, HEADING) for row in wrap_text(title, room, then="  "))
            yield from [*heading, *rows] if rows else []


def write_facts(facts: Facts, room: int) -> Rows:
    """Write names and what they are one after another, as many as a row holds."""
    known = [row for row in facts.rows if row.value]
    texts = [f"{row.label} {row.value}" for row in known]
    together = [each.replace(" ", "\u00a0") if cell_len(each) < room - 4 else each for each in texts]
    yield from (Text(row.replace("\u00a0", " ")) for row in wrap_text("; ".join(together), room, then="  "))


class Wide(Text):
    """A row that needs the margin too."""


def write_table(table: Table, layout: Layout) -> Rows:
    """Write a table; one that is too wide for its section takes the margin too, or else becomes rows of words."""
    width = layout.width
    columns = [number for number in range(len(table.heads)) if number not in table.wide]
    heads = [as_words(table.heads[number]).text for number in columns]
    shown, hidden = _choose_rows(table, layout)
    rows = [[as_words(row[at]) for at in (columns if len(row) > 1 else [0])] for row in shown]
    if table.wraps in columns:
        rows = list(narrow_column(heads, rows, columns.index(table.wraps), width))
    cells = [row for row in rows if len(row) > 1]
    widths = _widths(heads, cells)
    needs = [(gap, sum(widths) + gap * (len(widths) - 1)) for gap in (2, 1)]
    gap = next((gap for gap, needed in needs if needed <= width - len(INDENT)), None)
    if gap is None:
        for first, *others in rows:
            if not others:
                yield Text(first.text, HEADING)
                continue
            named = [f"{head} {cell.text}".strip() for head, cell in zip(heads[1:], others, strict=True) if cell.text]
            yield from map(Text, wrap_text(f"{first.text}: {'; '.join(named)}", _room(width), then="  "))
    else:
        kind = Text if dict(needs)[gap] <= _room(width) else Wide
        columns_of = [Column(own, _is_of_numbers([row[at].text for row in cells])) for at, own in enumerate(widths)]
        yield from (kind(row, "bold") for row in _heads(heads, columns_of, gap))
        for row in rows:
            yield kind().append(Text(row[0].text, HEADING) if len(row) == 1 else _row(row, columns_of, gap))
    yield from (Text(row, FAINT) for sentence in (hidden, table.caption) for row in wrap_text(sentence, _room(width)))


def _choose_rows(table: Table, layout: Layout) -> tuple[list[Sequence[Cell]], str]:
    """The rows that are shown, and a sentence that stands for the others."""
    if layout.verbose:
        return list(table.rows), ""
    shown = [row for number, row in enumerate(table.rows) if number not in table.details]
    if not table.may_end_early or layout.excess <= BLANK or len(shown) <= LEAST_ROWS:
        return shown, table.instead if table.details else ""
    left_out = min(layout.excess, len(shown) - LEAST_ROWS)
    return shown[:-left_out], f"and {left_out} more: --verbose"


def _widths(heads: Sequence[str], cells: Sequence[Sequence[Words]]) -> list[int]:
    return [max(map(cell_len, [*words(head), *(row[at].text for row in cells), ""])) for at, head in enumerate(heads)]


def narrow_column(heads: Sequence[str], rows: Sequence[list[Words]], at: int, width: int) -> Iterator[list[Words]]:
    """The rows of a table, with one column broken into several rows if the table is too wide with it."""
    widths = _widths(heads, [row for row in rows if len(row) > 1])
    room = width - len(INDENT) - sum(widths) - 2 * (len(widths) - 1) + widths[at]
    for row in rows:
        if len(row) == 1 or not NARROWEST <= room < widths[at]:
            yield row
            continue
        *above, last = list(wrap_text(row[at].text, room, then=INDENT)) or [""]
        yield from ([Words(each if number == at else "") for number in range(len(row))] for each in above)
        yield [Words(last, cell.meaning, cell.tone) if number == at else cell for number, cell in enumerate(row)]


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is laid out."""

    width: int
    right: bool

    def laid(self, text: str) -> str:
        return (align_right if self.right else align_left)(text, self.width)


def _is_of_numbers(cells: Sequence[str]) -> bool:
    return all(re.match(rf"[-−+×]?[\d{ABSENT}]|$", cell) for cell in cells)


def _heads(heads: Sequence[str], columns: Sequence[Column], gap: int) -> Iterator[str]:
    """Lay heads out over their columns, each in as many rows as it needs, with its foot at the same height."""
    folded = [list(wrap_text(head, column.width)) for head, column in zip(heads, columns, strict=True)]
    for number in range(-max(map(len, folded), default=0), 0):
        texts = [head[number] if len(head) >= -number else "" for head in folded]
        yield (" " * gap).join(column.laid(word) for column, word in zip(columns, texts, strict=True))


def _row(row: Sequence[Words], columns: Sequence[Column], gap: int) -> Text:
    laid = [Text(column.laid(cell.text), STYLES[cell.tone]) for cell, column in zip(row, columns, strict=True)]
    return Text(" " * gap).join(laid)
