"""A report as one page: the headline, the big figures, what is unusual, then each section in turn.

A page loads nothing from elsewhere, so that it can be mailed and archived. A site that serves reports has the style
and the scripts as files of its own, and takes only the body: there is no style and no script in it. HTML is `Markup`;
text is `str`, and `Markup` escapes it wherever it becomes a part of HTML.
"""

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from cuesta.errors import CuestaError
from cuesta.json_text import json_text
from cuesta.plain_text import plain
from cuesta.report.model import (
    BigFigure,
    Cell,
    Fact,
    Facts,
    Folded,
    Links,
    Listing,
    Part,
    Picture,
    Plot,
    Plots,
    Remark,
    Report,
    Screen,
    Section,
    Table,
    Verdict,
    as_words,
)
from cuesta.report.render.plain import make_plain

VERDICTS = {True: "verdict", False: "verdict bad", None: "verdict open"}
CLASSES = {"good": "kept", "bad": "crossed", "notice": "notice", "faint": "faint", "title": "title", "": ""}
"""The classes of page.css, by tone."""
PLOT = Markup('<figure class="plot">')
"""The start of a figure that a script draws."""
NOTHING = Markup()
DATA, HEAD = Markup("<td{}>{}</td>"), Markup('<th scope="col"{}>{}</th>')
"""Elements of a table: their attributes and their text."""
PAGE = Markup(
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<title>{title} – Cuesta</title>\n'
    "<style>\n{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
)


Address = Callable[[Path], tuple[str, str]]
"""Where a file that belongs to a report is linked, and its name; an empty address is no link."""


def html(report: Report, place: Path) -> Markup:
    """Write a report as a page with its style and scripts: light and dark, for a screen, a telephone and paper.

    `place` is the folder that the page is for, where its links begin.
    """
    return _page(report, lambda file: _relative(file, place))


def html_alone(report: Report) -> Markup:
    """The same without links, for who gets the page alone."""
    return _page(report, lambda file: ("", file.name))


def _page(report: Report, address: Address) -> Markup:
    inside = body(report, address)
    title, style = make_plain(report).title, _own_text("page.css")
    return PAGE.format(title=title, style=style, body=inside + (_drawing() if has_plots(inside) else ""))


def body(report: Report, address: Address) -> Markup:
    """What stands below the title of a report's page."""
    return NOTHING.join(_parts(make_plain(report), address))


def write_sections(sections: Iterable[Section], address: Address) -> Markup:
    """Sections alone, without the verdict of a report."""
    report = make_plain(Report("", "", Verdict("", "", None), sections=list(sections)))
    return NOTHING.join(_section(section, address) for section in report.sections)


def has_plots(body: Markup) -> bool:
    """Whether a script has plots to draw in a body."""
    return PLOT in body


def _relative(file: Path, place: Path) -> tuple[str, str]:
    name = os.path.relpath(file.absolute(), place.absolute())
    return quote(name), name


def _parts(report: Report, address: Address) -> Iterator[Markup]:
    if report.headline:
        yield _paragraph(report.headline, "headline")
    if report.conclusion:
        yield _part(Remark(f"What limits the host: {report.conclusion.text}", report.conclusion.tone), address)
    yield _verdict(report.verdict)
    if report.figures:
        yield Markup('<div class="figures">\n{}</div>\n').format(NOTHING.join(map(_figure, report.figures)))
    for section in report.sections:
        yield _section(section, address)


def _section(section: Section, address: Address) -> Markup:
    """A section's parts and plots. Its further parts are folded, and so is a section that has only such parts."""
    plots = [part for part in section.more if isinstance(part, Plots)]
    rest = [_part(part, address) for part in section.more if not isinstance(part, Plots)]
    body = NOTHING.join(_part(part, address) for part in (*section.parts, *plots))
    if not body:
        return _fold(section.title, rest, "section") if rest else NOTHING
    more = _fold(f"More: {section.title.lower()}", rest) if rest else NOTHING
    return Markup("<section>\n<h2>{}</h2>\n{}{}</section>\n").format(section.title, body, more)


def _verdict(verdict: Verdict) -> Markup:
    """A verdict with its reasons, each with its advice, which may be empty."""
    advice = Markup(' <span class="faint">→ {}</span>')
    items = NOTHING.join(
        Markup("<li>{}{}</li>\n").format(reason, advice.format(what_to_do) if what_to_do else NOTHING)
        for reason, what_to_do in verdict.reasons
    )
    reasons = Markup("\n<ul>\n{}</ul>").format(items) if items else NOTHING
    notices = NOTHING.join(_paragraph(each, "notice") for each in verdict.notices)
    return Markup('<div class="{}"><strong>{}</strong> <span>{}</span>{}</div>\n{}').format(
        VERDICTS[verdict.good], verdict.word, verdict.text, reasons, notices
    )


def _figure(figure: BigFigure) -> Markup:
    return Markup('<div class="figure"{}><span class="label">{}</span><span class="{}">{}</span>{}</div>\n').format(
        _attribute("title", figure.meaning),
        figure.label,
        f"value {CLASSES[figure.tone]}".strip(),
        figure.value,
        Markup('<span class="faint">{}</span>').format(figure.detail) if figure.detail else NOTHING,
    )


def _part(part: Part, address: Address) -> Markup:  # noqa: PLR0911, one return for each kind
    match part:
        case Remark(text, tone):
            return _paragraph(text, CLASSES[tone])
        case Facts(rows):
            names = NOTHING.join(_fact(row) for row in rows if row.value)
            return Markup('<table class="facts">\n{}</table>\n').format(names) if names else NOTHING
        case Table():
            return _table(part)
        case Plots(plots):
            return (
                Markup('<div class="plots">\n{}</div>\n').format(NOTHING.join(map(_plot, plots))) if plots else NOTHING
            )
        case Listing(text):
            return _listing(text)
        case Screen(rows):
            return _listing("\n".join(rows))
        case Links(targets):
            return _links(targets, address)
        case Picture(title, file):
            data = b64encode(file.read_bytes()).decode()
            image = Markup('<img class="picture" alt="{}" src="data:image/svg+xml;base64,{}"/>\n')
            return image.format(title, data)
        case Folded(title, parts):
            return _fold(title, (_part(each, address) for each in parts))


def _attribute(name: str, value: str) -> Markup:
    """An attribute, after a space; nothing if it has no value."""
    return Markup(' {}="{}"').format(name, value) if value else NOTHING


def _paragraph(text: str, kind: str = "") -> Markup:
    return Markup("<p{}>{}</p>\n").format(_attribute("class", kind), text)


def _fact(row: Fact) -> Markup:
    return Markup('<tr{}><th scope="row">{}</th><td{}>{}</td></tr>\n').format(
        _attribute("title", row.meaning), row.label, _attribute("class", CLASSES[row.tone]), row.value
    )


def _table(table: Table) -> Markup:
    """A table, with its caption below, outside of the part that scrolls on narrow screens."""
    names = NOTHING.join(_cells(HEAD, table.heads, table.wraps))
    is_grouped = any(len(row) == 1 for row in table.rows)
    body = NOTHING.join(
        _row(row, table, indents=is_grouped or number in table.indented) for number, row in enumerate(table.rows)
    )
    return Markup(
        '<div class="wide"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}'
    ).format(names, body, _paragraph(table.caption, "faint") if table.caption else NOTHING)


def _row(row: Sequence[Cell], table: Table, *, indents: bool) -> Markup:
    if len(row) == 1:
        heading = Markup('<tr class="group"><th scope="rowgroup" colspan="{}">{}</th></tr>\n')
        return heading.format(len(table.heads), as_words(row[0]).text)
    return Markup("<tr>{}</tr>\n").format(NOTHING.join(_cells(DATA, row, table.wraps, indents=indents)))


def _cells(element: Markup, cells: Sequence[Cell], wraps: int | None, *, indents: bool = False) -> Iterator[Markup]:
    for number, words in enumerate(map(as_words, cells)):
        kind = "wraps text" if number == wraps else "in" if indents and number == 0 else CLASSES[words.tone]
        yield element.format(_attribute("class", kind) + _attribute("title", words.meaning), words.text)


def _listing(text: str) -> Markup:
    return Markup('<div class="wide"><pre><code>{}</code></pre></div>\n').format(text)


def _fold(title: str, parts: Iterable[Markup], kind: str = "") -> Markup:
    """Parts that are shown when their title is clicked; with the kind `section` the title looks like a section's."""
    return Markup("<details{}><summary>{}</summary>\n{}</details>\n").format(
        _attribute("class", kind), title, NOTHING.join(parts)
    )


def _links(targets: Iterable[Path], address: Address) -> Markup:
    """A list of links to files."""
    link, item = Markup('<a href="{}">{}</a>'), Markup("<li>{}</li>\n")
    items = NOTHING.join(
        item.format(link.format(where, plain(name)) if where else plain(name)) for where, name in map(address, targets)
    )
    return Markup('<ul class="files">\n{}</ul>\n').format(items) if items else NOTHING


def _plot(plot: Plot) -> Markup:
    note = Markup('\n<p class="faint">{}</p>').format(plot.note) if plot.note else NOTHING
    return PLOT + Markup(
        '\n<figcaption>{title}</figcaption>\n<div role="img" aria-label="{title}"></div>\n'
        '<script type="application/json">{spec}</script>{note}\n</figure>\n'
    ).format(title=plot.title, spec=_json(plot.spec), note=note)


def _json(value: object) -> Markup:
    """JSON for a script element, where HTML's entities are not read: it escapes these characters in its own way."""
    text = json_text(value, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace("&", "\\u0026").replace(">", "\\u003e")
    return Markup(safe)  # noqa: S704


def _drawing() -> Markup:
    """The code that draws the plots: Vega, compressed, and the script that unpacks it."""
    try:
        packed = b64encode(_own("vega.js.gz").read_bytes()).decode()
    except FileNotFoundError:
        remedy = "./scripts/plots makes it, from the package vl-convert-python (constraints.txt)"
        raise CuestaError("the report's plots cannot be drawn: render/vega.js.gz is missing", remedy) from None
    return Markup(
        "<noscript><p>The plots of this page are drawn by a script that is in it; it runs none here.</p></noscript>\n"
        "<!-- {}-->\n"
        '<script type="application/gzip" id="vega">{}</script>\n<script>//<![CDATA[\n{}//]]></script>\n'
    ).format(_own_text("vega.LICENSE"), packed, _own_text("plots.js"))


def _own_text(name: str) -> Markup:
    return Markup(_own(name).read_text(encoding="utf-8"))  # noqa: S704, a file of this package


def _own(name: str) -> Traversable:
    return files("cuesta.report").joinpath("render", name)
