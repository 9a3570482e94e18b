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
from matplotlib.ticker import FuncFormatter

from cuesta.analysis.units import seconds

INK, GRID, SHADE = "#010101", "#020202", "#030303"
SERIES = ("#040404", "#050505", "#060606", "#070707", "#080808", "#090909")
COLOURS = {
    INK: "currentColor",
    GRID: "var(--grid)",
    SHADE: "var(--shade)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES)},
}

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cuesta",
    "font.size": 9.5,
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
    "lines.linewidth": 1.6,
    "path.simplify": True,
}

WIDTH, HEIGHT = 6.6, 2.6
"""Inches, of a plot in a column of the page."""


class Plot:
    """A plot under construction: draw on `axes`, then take `svg`."""

    def __init__(self, title: str) -> None:
        self.title = title
        with rc_context(SETTINGS):
            self.figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
            self.axes: Axes = self.figure.add_subplot()

    def svg(self) -> str:
        """Give the plot as an element of a page."""
        out = StringIO()
        with rc_context(SETTINGS):
            if len(self.axes.get_legend_handles_labels()[0]) > 1:
                self.axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0, handlelength=1.4)
            self.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        return inline(out.getvalue(), self.title)


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


def in_seconds(axes: Axes) -> None:
    """Write the values of the vertical axis as durations."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value) if value else "0"))
