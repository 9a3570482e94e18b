"""Figures of matplotlib as SVG that lives inside a page: small, in the page's own fonts and colours, light or dark.

Matplotlib knows only fixed colours, so a plot is drawn in stand-ins, which become the page's variables afterwards.
"""

import re
from html import escape
from io import StringIO
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, GRID, SHADE = "#010101", "#020202", "#030303"
SERIES = ("#040404", "#050505", "#060606", "#070707", "#080808", "#090909", "#0a0a0a", "#0b0b0b")
REST = "#0c0c0c"
"""What has no colour of its own: what is left over, and what was not measured."""
DASHES = ("-", "--", ":", "-.")
"""Styles of lines, when the colours begin again."""
COLOURS = {
    INK: "currentColor",
    GRID: "var(--grid)",
    SHADE: "var(--shade)",
    REST: "var(--rest)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES)},
}

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cuesta",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.markersize": 4,
    "lines.linewidth": 1.6,
    "path.simplify": True,
}

WIDTH, HEIGHT = 5.2, 2.5
"""Inches, of a plot in a column of the page; so narrow that it can still be read on a telephone."""
ROW = 0.19
"""Inches of height that a row of the legend takes."""
CHARACTERS = 62
"""Characters of a row of the legend, of which each mark takes MARK."""
MARK = 6


class Plot:
    """A plot under construction: draw on `axes`, then take `svg`."""

    def __init__(self, title: str, height: float = HEIGHT) -> None:
        self.title = title
        with rc_context(SETTINGS):
            self.figure = Figure(figsize=(WIDTH, height), layout="constrained")
            self.axes: Axes = self.figure.add_subplot()

    def svg(self) -> str:
        """Give the plot as an element of a page."""
        out = StringIO()
        with rc_context(SETTINGS):
            self._legend()
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        return inline(out.getvalue(), self.title)

    def _legend(self) -> None:
        """Name the lines above the plot, if there are several, in columns that hold the longest name."""
        labels = self.axes.get_legend_handles_labels()[1]
        if len(labels) < 2:
            return
        columns = max(1, min(len(labels), CHARACTERS // (max(map(len, labels)) + MARK)))
        rows = -(-len(labels) // columns)
        self.figure.set_figheight(self.figure.get_figheight() + ROW * (rows - 1))
        self.figure.legend(loc="outside upper left", ncols=columns, borderaxespad=0, handlelength=1.4, columnspacing=1)


def inline(svg: str, title: str) -> str:
    """Turn a file into an element: no namespaces, no metadata, names of its own, colours of the page."""
    name = re.sub(r"\W+", "-", title.lower())
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r' (xmlns(:\w+)?|width|height|version)="[^"]*"', "", svg.split(">", 1)[0]) + ">" + svg.split(">", 1)[1]
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\1{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?|\n *(?=\n)", "", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
    return f"<figure>\n<figcaption>{escape(title)}</figcaption>\n{svg}\n</figure>\n"
