"""Pieces of Vega-Lite specifications that the plots share.

Colours are the page's own variables, so that a plot is light, dark or on paper as the page is. A series has a colour
for its name and a key (`s0`, `s1` …) for the table of values at the cursor, because a name may hold any character. The
functions `duration` and `percentile` in the expressions are `plots.js`'s.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuesta.report.model import Plot

Spec = dict[str, Any]

COLOURS = tuple(f"var(--series-{number})" for number in range(8))
REST = "var(--rest)"
SHADE = "var(--shade)"
INK = "currentColor"
HEIGHT = 210
"""Pixels."""

DURATION: Spec = {"labelExpr": "duration(datum.value)", "tickCount": 5}
"""The labels of an axis of seconds."""
SECONDS, NUMBER = "duration", "number"
"""How a value is written at the cursor."""
WRITTEN = {SECONDS: {"formatType": "duration", "type": "quantitative"}, NUMBER: {"format": ",.3~r"}}
MOUSE = "[pointerdown[event.pointerType == 'mouse'], window:pointerup] > window:pointermove!"
WHEEL = "wheel![event.ctrlKey || event.shiftKey]"
"""The bare wheel scrolls the page, and so does a finger."""
ZOOM = {"name": "zoom", "select": {"type": "interval", "translate": MOUSE, "zoom": WHEEL}, "bind": "scales"}
ZOOM_X = {"name": "zoom", "bind": "scales"} | {
    "select": {"type": "interval", "encodings": ["x"], "translate": MOUSE, "zoom": WHEEL}
}
CHOSEN = {
    "name": "chosen",
    "select": {"type": "point", "fields": ["s"], "toggle": "true"},
    "bind": "legend",
}
FADED = {"condition": {"param": "chosen", "value": 1}, "value": 0.07}


@dataclass(frozen=True, slots=True)
class Across:
    """The horizontal axis, and how a place on it is written at the cursor."""

    axis: Spec
    at: Spec


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its points from left to right, with None where it is broken."""

    label: str
    points: Sequence[tuple[float, float | None]]
    colour: str = ""
    dash: Sequence[int] = ()


def make_plot(title: str, layers: Iterable[Spec], *, labels: Iterable[str] = (), left: int = 50, **more: Any) -> Plot:
    """Put layers into a plot. The longest of the legend's `labels` says how many fit into a row beside the vertical
    axis, whose own labels take `left` pixels.
    """
    spec: Spec = {"height": HEIGHT, "layer": list(layers), **more}
    if names := list(labels):
        spec["usermeta"] = {"labels": len(names), "longest": max(map(len, names)), "left": left}
    return Plot(title, spec)


def draw(rows: Sequence[Spec], mark: Spec, encoding: Spec, **more: Any) -> Spec:
    """One layer of a plot: a mark for each row."""
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding, **more}


def encode_position(x: Spec, y: Spec) -> Spec:
    """The encoding of a row by its `x` and `y`."""
    return {"x": {"field": "x", **x}, "y": {"field": "y", **y}}


def show_field(field: str, title: str, unit: str = NUMBER) -> Spec:
    """A value of the row under the cursor."""
    return {"field": field, "title": title, **WRITTEN[unit]}


def linear_scale(title: str, *, zero: bool = False, **axis: Any) -> Spec:
    return {"type": "quantitative", "title": title, "scale": {"zero": zero}, "axis": {"tickCount": 5, **axis}}


def log_scale(title: str, values: Iterable[float | None]) -> Spec:
    """An axis of seconds, at least a factor of two long, with a margin at both ends."""
    known = [value for value in values if value is not None and value > 0] or [1.0]
    middle = math.sqrt(min(known) * max(known))
    low, high = min(*known, middle / math.sqrt(2)), max(*known, middle * math.sqrt(2))
    room = (high / low) ** 0.04
    scale = {"type": "log", "domain": [low / room, high * room], "nice": False}
    axis = DURATION if high < FEW_DECADES[0] * low else DURATION | {"values": _ticks(low, high)}
    return {"type": "quantitative", "title": title, "scale": scale, "axis": axis}


FEW_DECADES = (8, 1000)
"""Ratios of the ends of an axis, from which on ticks stand at 1, 2, 5 of each decade, and at 1 alone."""


def _ticks(low: float, high: float) -> list[float]:
    digits = (1, 2, 5) if high < FEW_DECADES[1] * low else (1,)
    places = (digit * 10.0**power for power in range(-9, 6) for digit in digits)
    return [encode_position for encode_position in places if low * 0.9 <= encode_position <= high * 1.1]


def duration_scale(title: str, values: Sequence[float | None]) -> Spec:
    """An axis of seconds: logarithmic if the values spread by more than a decade."""
    known = [value for value in values if value is not None and value > 0]
    if known and max(known) > 12 * min(known):
        return log_scale(title, known)
    return linear_scale(title, zero=True, **DURATION)


def colour_scale(series: Sequence[Series], symbol: str = "square") -> Spec:
    """A colour for each series; several series have a legend, whose entries can be clicked."""
    given = [each.colour or COLOURS[number % len(COLOURS)] for number, each in enumerate(series)]
    scale = {"domain": [each.label for each in series], "range": given}
    legend = {"title": None, "symbolType": symbol} if len(series) > 1 else None
    return {"field": "s", "type": "nominal", "scale": scale, "legend": legend, "sort": None}


def draw_lines(series: Sequence[Series], x: Across, y: Spec, unit: str, *, dots: bool = False) -> list[Spec]:
    """Lines, with the values of all of them at the cursor."""
    values = [
        {"x": encode_position, "y": value, "s": each.label, "k": f"s{number}"}
        for number, each in enumerate(series)
        for encode_position, value in each.points
    ]
    few = dots or max((len(each.points) for each in series), default=0) < 2
    mark: Spec = {"type": "line", "point": {"size": 30} if few else False, "strokeWidth": 1.7}
    encoding = encode_position(x.axis, y) | {"color": colour_scale(series, "stroke"), "opacity": FADED}
    if dashed := [(f"s{number}", each.dash) for number, each in enumerate(series) if each.dash]:
        tests = [{"test": f"datum.k == '{key}'", "value": list(dash)} for key, dash in dashed]
        encoding["strokeDash"] = {"condition": tests, "value": [1, 0]}
    lines = draw(values, mark, encoding, params=[ZOOM, CHOSEN])
    return [lines, draw_cursor(values, [each.label for each in series], x, unit)]


def draw_cursor(values: Sequence[Spec], labels: Sequence[str], x: Across, unit: str) -> Spec:
    rows = [show_field(f"s{number}", label, unit) for number, label in enumerate(labels)]
    pointed = {"type": "point", "fields": ["x"], "nearest": True, "on": "pointermove", "clear": "pointerout"}
    pivot = [{"filter": "isValid(datum.y)"}, {"pivot": "k", "value": "y", "groupby": ["x"], "op": "max"}]
    encoding = {
        "x": {"field": "x", **x.axis},
        "opacity": {"condition": {"param": "at", "empty": False, "value": 0.45}, "value": 0},
        "tooltip": [{"field": "x", **x.at}, *rows],
    }
    mark = {"type": "rule", "color": INK, "strokeWidth": 1}
    return draw(values, mark, encoding, transform=pivot, params=[{"name": "at", "select": pointed}])


def shade_span(low: float, high: float, channel: str) -> Spec:
    encoding = {channel: {"datum": low}, f"{channel}2": {"datum": high}}
    return draw([{}], {"type": "rect", "color": SHADE}, encoding)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a stack: its value in each row."""

    label: str
    values: Sequence[float]
    colour: str


def stack_shares(rows: Sequence[Mapping[str, float]], order: Sequence[str] | None, most: int) -> list[Layer]:
    """Turn rows of shares into layers, in `order` or the largest first; the rest beyond `most` is one neutral layer."""
    sums: dict[str, float] = {}
    for name, value in (each for row in rows for each in row.items()):
        sums[name] = sums.get(name, 0.0) + value
    names = list(order or sorted((name for name in sums if sums[name] > 0), key=lambda name: -sums[name]))
    own = names if len(names) <= most + 1 else names[:most]
    layers = [
        Layer(name.replace("_", " "), [row.get(name, 0.0) for row in rows], COLOURS[number % len(COLOURS)])
        for number, name in enumerate(own)
    ]
    if rest := names[len(own) :]:
        layers.append(Layer(f"{len(rest)} others", [sum(row.get(name, 0.0) for name in rest) for row in rows], REST))
    return layers
