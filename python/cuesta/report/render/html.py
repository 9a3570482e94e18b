"""A report as one page: the headline, the big figures, what is unusual, then each section in turn."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

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
    Screen,
    Section,
    Table,
    Verdict,
    Words,
)
from cuesta.report.render.plain import of_plain_text

CLASSES = {"good": "kept", "bad": "crossed", "notice": "notice", "faint": "faint", "": ""}
"""The classes of page.css, by tone."""


def html(report: Report, place: Path) -> Markup:
    """Write a report as a page; `place` is the folder that the page is for, where its links begin."""
    report = of_plain_text(report)
    return page.page(report.title, _parts(report, place))


def _parts(report: Report, place: Path) -> Iterator[Markup]:
    yield page.paragraph(report.headline, "headline")
    if report.conclusion:
        yield _part(Remark(f"What limits the host: {report.conclusion.text}", report.conclusion.tone), place)
    yield _verdict(report.verdict)
    if report.figures:
        yield Markup('<div class="figures">\n{}</div>\n').format(Markup().join(map(_figure, report.figures)))
    for section in report.sections:
        yield _section(section, place)


def _section(section: Section, place: Path) -> Markup:
    """A section's parts and plots. Its further parts are folded, and so is a section that has only such parts."""
    plots = [part for part in section.more if isinstance(part, Plots)]
    rest = [part for part in section.more if not isinstance(part, Plots)]
    open_parts = [_part(part, place) for part in (*section.parts, *plots)]
    if not any(open_parts):
        return page.folded(section.title, (_part(part, place) for part in rest), "section") if rest else Markup()
    more = page.folded(f"More: {section.title.lower()}", (_part(part, place) for part in rest)) if rest else Markup()
    return page.section(section.title, [*open_parts, more])


def _verdict(verdict: Verdict) -> Markup:
    notices = Markup().join(page.paragraph(each, "notice") for each in verdict.notices)
    return page.verdict(verdict.word, verdict.text, verdict.reasons, verdict.good) + notices


def _figure(figure: BigFigure) -> Markup:
    return Markup('<div class="figure"{}><span class="label">{}</span><span class="{}">{}</span>{}</div>\n').format(
        page.attribute("title", figure.meaning),
        figure.label,
        f"value {CLASSES[figure.tone]}".strip(),
        figure.value,
        Markup('<span class="faint">{}</span>').format(figure.detail) if figure.detail else Markup(),
    )


def _part(part: Part, place: Path) -> Markup:  # noqa: PLR0911, one return for each kind
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
        case Screen(rows):
            return page.listing("\n".join(rows))
        case Links(files):
            return page.links(files, place)
        case Picture(title, file):
            data = b64encode(file.read_bytes()).decode()
            image = Markup('<img alt="{}" src="data:image/svg+xml;base64,{}" style="width:100%"/>\n')
            return image.format(title, data)
        case Folded(title, parts):
            return page.folded(title, (_part(each, place) for each in parts))


def _table(table: Table) -> Markup:
    rows = [[_cell(cell, wraps=number == table.wraps) for number, cell in enumerate(row)] for row in table.rows]
    if any(len(row) == 1 for row in rows):
        rows = [row if len(row) == 1 else [(row[0][0], "in", row[0][2]), *row[1:]] for row in rows]
    heads = [_cell(head, wraps=number == table.wraps) for number, head in enumerate(table.heads)]
    return page.table(heads, rows, table.caption)


def _cell(cell: Cell, *, wraps: bool = False) -> tuple[str, str, str]:
    words = cell if isinstance(cell, Words) else Words(cell)
    return words.text, "wraps text" if wraps else CLASSES[words.tone], words.meaning
