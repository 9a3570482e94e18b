"""HTML pages and their elements: verdicts, sections, tables, facts, folded parts.

A page loads nothing from elsewhere, so that it can be mailed and archived. HTML is `Markup`; text is `str`, and
`Markup` escapes it wherever it becomes a part of HTML. For example:

    page("Release 8.1", [verdict("equivalent", "0.99 to 1.02"), section("Runs", [table(("", "p50"), rows)])])
"""

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from cuesta.errors import CuestaError
from cuesta.json_text import json_text
from cuesta.plain_text import plain
from cuesta.private_files import replace_private
from cuesta.report.model import Plot

PLOT = Markup('<figure class="plot">')
"""The start of a figure that a script draws."""
NOTHING = Markup()
DATA, HEAD = Markup("<td{}>{}</td>"), Markup('<th scope="col"{}>{}</th>')
"""Elements of a table: their attributes and their text."""

Cell = str | tuple[str, str] | tuple[str, str, str]
"""A text; the class of its cell: `kept`, `crossed`, `in` (indented), `wraps` (over several rows); and its meaning."""


def write(file: Path, html: Markup) -> None:
    """Write a page atomically."""
    replace_private(file, html)


def page(title: str, parts: Iterable[Markup]) -> Markup:
    """A whole page with its style and scripts: light and dark, for a screen, a telephone and paper."""
    body = Markup("<h1>{}</h1>\n{}").format(title, NOTHING.join(parts))
    if PLOT in body:
        body += _drawing()
    head = Markup(
        '<meta charset="utf-8"/>\n<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        "<title>{} – Cuesta</title>\n<style>\n{}</style>\n"
    ).format(title, _own_text("page.css"))
    return Markup('<!DOCTYPE html>\n<html lang="en">\n<head>\n{}</head>\n<body>\n{}</body>\n</html>\n').format(
        head, body
    )


def attribute(name: str, value: str) -> Markup:
    """An attribute, after a space; nothing if it has no value."""
    return Markup(' {}="{}"').format(name, value) if value else NOTHING


def verdict(word: str, text: str, reasons: Iterable[tuple[str, str]] = (), good: bool = True) -> Markup:
    """A verdict with its reasons, each with its advice, which may be empty."""
    items = NOTHING.join(Markup("<li>{}{}</li>\n").format(reason, _advice(advice)) for reason, advice in reasons)
    rows = Markup("\n<ul>\n{}</ul>").format(items) if items else NOTHING
    kind = "verdict" if good else "verdict bad"
    return Markup('<div class="{}"><strong>{}</strong> <span>{}</span>{}</div>\n').format(kind, word, text, rows)


def _advice(text: str) -> Markup:
    return Markup(' <span class="faint">→ {}</span>').format(text) if text else NOTHING


def section(title: str, parts: Iterable[Markup]) -> Markup:
    """A section; nothing if it has no parts."""
    body = NOTHING.join(parts)
    return Markup("<section>\n<h2>{}</h2>\n{}</section>\n").format(title, body) if body else NOTHING


def paragraph(text: str, kind: str = "") -> Markup:
    """A paragraph of plain text. Kinds are `headline`, `faint`, `notice` and `title` (of the table below it)."""
    return Markup("<p{}>{}</p>\n").format(attribute("class", kind), text)


def table(heads: Sequence[Cell], rows: Iterable[Sequence[Cell]], caption: str = "") -> Markup:
    """A table, with its caption below; a row of one cell is a heading over the rows after it."""
    names = NOTHING.join(_cell(head, HEAD) for head in heads)
    body = NOTHING.join(_row(row, len(heads)) for row in rows)
    about = paragraph(caption, "faint") if caption else NOTHING  # outside of the part that scrolls on narrow screens
    return Markup(
        '<div class="wide"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}'
    ).format(names, body, about)


def _row(row: Sequence[Cell], columns: int) -> Markup:
    if len(row) == 1:
        text = row[0] if isinstance(row[0], str) else row[0][0]
        heading = Markup('<tr class="group"><th scope="rowgroup" colspan="{}">{}</th></tr>\n')
        return heading.format(columns, text)
    return Markup("<tr>{}</tr>\n").format(NOTHING.join(map(_cell, row)))


def _cell(content: Cell, element: Markup = DATA) -> Markup:
    text, kind, meaning = (*((content,) if isinstance(content, str) else content), "", "")[:3]
    return element.format(attribute("class", kind) + attribute("title", meaning), text)


def facts(rows: Iterable[tuple[str, str] | tuple[str, str, str, str]]) -> Markup:
    """A table of names and values, perhaps with the meaning and the class of each value; empty values are left out."""
    row = Markup('<tr{}><th scope="row">{}</th><td{}>{}</td></tr>\n')
    names = NOTHING.join(
        row.format(attribute("title", meaning), name, attribute("class", kind), value)
        for name, value, meaning, kind in ((*row, "", "")[:4] for row in rows)
        if value
    )
    return Markup('<table class="facts">\n{}</table>\n').format(names) if names else NOTHING


def plots(drawn: Iterable[Plot]) -> Markup:
    """Plots side by side, each under its title; `page` adds the script that draws them."""
    elements = NOTHING.join(map(_plot, drawn))
    return Markup('<div class="plots">\n{}</div>\n').format(elements) if elements else NOTHING


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


def listing(text: str) -> Markup:
    return Markup('<div class="wide"><pre><code>{}</code></pre></div>\n').format(text)


def folded(title: str, parts: Iterable[Markup], kind: str = "") -> Markup:
    """Parts that are shown when their title is clicked; with the kind `section` the title looks like a section's."""
    return Markup("<details{}><summary>{}</summary>\n{}</details>\n").format(
        attribute("class", kind), title, NOTHING.join(parts)
    )


def links(targets: Iterable[Path], start: Path) -> Markup:
    """A list of links to files, relative to the folder `start` of the page."""
    names = (os.path.relpath(target.absolute(), start.absolute()) for target in targets)
    items = NOTHING.join(Markup('<li><a href="{}">{}</a></li>\n').format(quote(name), plain(name)) for name in names)
    return Markup('<ul class="files">\n{}</ul>\n').format(items) if items else NOTHING
