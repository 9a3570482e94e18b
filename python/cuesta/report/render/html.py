"""A report as one page: the headline, the big figures, what is unusual, then each section in turn."""

from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path

from cuesta.report import page
from cuesta.report.model import (
    BigFigure,
    Cell,
    Facts,
    Folded,
    Links,
    Listing,
    Part,
    Picture,
    Plots,
    Remark,
    Report,
    Section,
    Table,
    Verdict,
    Words,
)

CLASSES = {"good": "kept", "bad": "crossed", "notice": "notice", "faint": "faint", "": ""}
"""The classes of page.css, by tone."""


def html(report: Report, place: Path) -> str:
    """Write a report as a page; `place` is the folder that the page is for, where its links begin."""
    return page.page(report.title, _parts(report, place))


def _parts(report: Report, place: Path) -> Iterator[str]:
    yield f'<p class="headline">{escape(report.headline)}</p>\n'
    if report.conclusion:
        yield _part(Remark(f"What limits the host: {report.conclusion.text}", report.conclusion.tone), place)
    yield _verdict(report.verdict)
    if report.figures:
        yield f'<div class="figures">\n{"".join(map(_figure, report.figures))}</div>\n'
    for section in report.sections:
        yield _section(section, place)


def _section(section: Section, place: Path) -> str:
    """A section's parts and plots. Its further parts are folded, and so is a section that has only such parts."""
    plots = [part for part in section.more if isinstance(part, Plots)]
    rest = [part for part in section.more if not isinstance(part, Plots)]
    open_parts = [_part(part, place) for part in (*section.parts, *plots)]
    if not any(open_parts):
        return page.folded(section.title, (_part(part, place) for part in rest), "section") if rest else ""
    more = page.folded(f"More: {section.title.lower()}", (_part(part, place) for part in rest)) if rest else ""
    return page.section(section.title, [*open_parts, more])


def _verdict(verdict: Verdict) -> str:
    notices = "".join(page.paragraph(each, "notice") for each in verdict.notices)
    return page.verdict(verdict.word, verdict.text, verdict.reasons, verdict.good) + notices


def _figure(of: BigFigure) -> str:
    kind = f"value {CLASSES[of.tone]}".strip()
    detail = f'<span class="faint">{escape(of.detail)}</span>' if of.detail else ""
    said = f'<span class="label">{escape(of.label)}</span><span class="{kind}">{escape(of.value)}</span>{detail}'
    return f'<div class="figure"{_title(of.meaning)}>{said}</div>\n'


def _part(part: Part, place: Path) -> str:  # noqa: PLR0911, one return for each kind
    match part:
        case Remark(text, tone):
            return page.paragraph(text, CLASSES[tone])
        case Facts(rows):
            return page.facts((row.label, row.value, row.meaning, CLASSES[row.tone]) for row in rows)
        case Table():
            return _table(part)
        case Plots(plots):
            return page.plots(plots)
        case Listing(text):
            return page.listing(text)
        case Links(files):
            return page.links(files, place)
        case Picture(title, file):
            data = b64encode(file.read_bytes()).decode()
            return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}" style="width:100%"/>\n'
        case Folded(title, parts):
            return page.folded(title, (_part(each, place) for each in parts))


def _table(table: Table) -> str:
    rows = [[_cell(cell, wraps=number == table.wraps) for number, cell in enumerate(row)] for row in table.rows]
    if any(len(row) == 1 for row in rows):
        rows = [row if len(row) == 1 else [(row[0][0], "in", row[0][2]), *row[1:]] for row in rows]
    heads = [_cell(head, wraps=number == table.wraps) for number, head in enumerate(table.heads)]
    return page.table(heads, rows, table.caption)


def _cell(cell: Cell, *, wraps: bool = False) -> tuple[str, str, str]:
    words = cell if isinstance(cell, Words) else Words(cell)
    return words.text, "wraps text" if wraps else CLASSES[words.tone], words.meaning


def _title(meaning: str) -> str:
    return f' title="{escape(meaning)}"' if meaning else ""
