"""HTML pages and their elements: verdicts, sections, tables, facts, folded parts.

A page loads nothing from elsewhere, so that it can be mailed and archived. Every function returns HTML and escapes its
arguments, except `parts`, which are HTML from these functions. For example:

    page("Release 8.1", [verdict("equivalent", "0.99 to 1.02"), section("Runs", [table(("", "p50"), rows)])])
"""

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import quote

from cuesta.errors import CuestaError
from cuesta.report.model import Plot

PLOT = "plot"
"""The class of a figure that a script draws."""

Cell = str | tuple[str, str] | tuple[str, str, str]
"""A text; the class of its cell: `kept`, `crossed`, `in` (indented), `wraps` (over several rows); and its meaning."""


def write(file: Path, text: str) -> None:
    """Write a page atomically."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page with its style and scripts: light and dark, for a screen, a telephone and paper."""
    style = _own("page.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"/>\n<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(title)} – Cuesta</title>\n<style>\n{style}</style>\n"
    )
    body = f"<h1>{escape(title)}</h1>\n{''.join(parts)}"
    if f'<figure class="{PLOT}">' in body:
        body += _drawing()
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}</head>\n<body>\n{body}</body>\n</html>\n'


def verdict(word: str, text: str, reasons: Iterable[tuple[str, str]] = (), good: bool = True) -> str:
    """A verdict with its reasons, each with its advice, which may be empty."""
    items = "".join(f"<li>{escape(reason)}{_advice(advice)}</li>\n" for reason, advice in reasons)
    rows = f"\n<ul>\n{items}</ul>" if items else ""
    kind = "verdict" if good else "verdict bad"
    return f'<div class="{kind}"><strong>{escape(word)}</strong> <span>{escape(text)}</span>{rows}</div>\n'


def _advice(text: str) -> str:
    return f' <span class="faint">→ {escape(text)}</span>' if text else ""


def section(title: str, parts: Iterable[str]) -> str:
    """A section; nothing if it has no parts."""
    body = "".join(parts)
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}</section>\n" if body else ""


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text. Kinds are `faint`, `notice` and `title` (of the table below it)."""
    return f'<p class="{kind}">{escape(text)}</p>\n' if kind else f"<p>{escape(text)}</p>\n"


def table(heads: Sequence[Cell], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """A table, with its caption below; a row of one cell is a heading over the rows after it."""
    names = "".join(_cell(head, 'th scope="col"') for head in heads)
    body = "".join(_row(row, len(heads)) for row in rows)
    whole = f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}</tbody></table>"
    about = paragraph(caption, "faint") if caption else ""  # outside of the part that scrolls on narrow screens
    return f'<div class="wide">{whole}</div>\n{about}'


def _row(row: Sequence[Cell], columns: int) -> str:
    if len(row) == 1:
        text = row[0] if isinstance(row[0], str) else row[0][0]
        return f'<tr class="group"><th scope="rowgroup" colspan="{columns}">{escape(text)}</th></tr>\n'
    return f"<tr>{''.join(map(_cell, row))}</tr>\n"


def _cell(content: Cell, element: str = "td") -> str:
    text, kind, meaning = (*((content,) if isinstance(content, str) else content), "", "")[:3]
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' title="{escape(meaning)}"' if meaning else ""
    return f"<{element}{attributes}>{escape(text)}</{element.partition(' ')[0]}>"


def facts(rows: Iterable[tuple[str, str] | tuple[str, str, str, str]]) -> str:
    """A table of names and values, perhaps with the meaning and the class of each value; empty values are left out."""
    names = ""
    for name, value, meaning, kind in ((*row, "", "")[:4] for row in rows):
        if value:
            title = f' title="{escape(meaning)}"' if meaning else ""
            cell = f'<td class="{kind}">' if kind else "<td>"
            names += f'<tr{title}><th scope="row">{escape(name)}</th>{cell}{escape(value)}</td></tr>\n'
    return f'<table class="facts">\n{names}</table>\n' if names else ""


def plots(drawn: Iterable[Plot]) -> str:
    """Plots side by side, each under its title; `page` adds the script that draws them."""
    elements = "".join(map(_plot, drawn))
    return f'<div class="plots">\n{elements}</div>\n' if elements else ""


def _plot(plot: Plot) -> str:
    spec = json.dumps(plot.spec, separators=(",", ":"), ensure_ascii=False)
    safe = spec.replace("<", "\\u003c").replace("&", "\\u0026").replace(">", "\\u003e")
    data = f'<script type="application/json">{safe}</script>'
    title = escape(plot.title)
    note = f'\n<p class="faint">{escape(plot.note)}</p>' if plot.note else ""
    place = f'<div role="img" aria-label="{title}"></div>'
    return f'<figure class="{PLOT}">\n<figcaption>{title}</figcaption>\n{place}\n{data}{note}\n</figure>\n'


def _drawing() -> str:
    """The code that draws the plots: Vega, compressed, and the script that unpacks it."""
    try:
        packed = b64encode(_own("vega.js.gz").read_bytes()).decode()
    except FileNotFoundError:
        remedy = "./scripts/plots makes it, from the package vl-convert-python (constraints.txt)"
        raise CuestaError("the report's plots cannot be drawn: render/vega.js.gz is missing", remedy) from None
    script = _own("plots.js").read_text(encoding="utf-8")
    return (
        "<noscript><p>The plots of this page are drawn by a script that is in it; it runs none here.</p></noscript>\n"
        f"<!-- {_own('vega.LICENSE').read_text(encoding='utf-8')}-->\n"
        f'<script type="application/gzip" id="vega">{packed}</script>\n<script>//<![CDATA[\n{script}//]]></script>\n'
    )


def _own(name: str) -> Traversable:
    return files("cuesta.report").joinpath("render", name)


def listing(text: str) -> str:
    """Preformatted text."""
    return f'<div class="wide"><pre><code>{escape(text)}</code></pre></div>\n'


def folded(title: str, parts: Iterable[str], kind: str = "") -> str:
    """Parts that are shown when their title is clicked; with the kind `section` the title looks like a section's."""
    start = f'<details class="{kind}">' if kind else "<details>"
    return f"{start}<summary>{escape(title)}</summary>\n{''.join(parts)}</details>\n"


def links(targets: Iterable[Path], start: Path) -> str:
    """A list of links to files, relative to the folder `start` of the page."""
    items = "".join(
        f'<li><a href="{escape(quote(name))}">{escape(name)}</a></li>\n'
        for target in targets
        for name in [os.path.relpath(target.absolute(), start.absolute())]
    )
    return f'<ul class="files">\n{items}</ul>\n' if items else ""
