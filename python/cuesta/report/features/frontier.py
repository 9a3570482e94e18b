"""Mean response against host CPU per key, a point for each setting of a sweep of `tmux`, `defer` or `align`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cuesta.analysis.features.batching import ALIGN, Effect, SettingValues, Spread, list_points
from cuesta.columns import cut
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    DURATION,
    INK,
    SECONDS,
    Series,
    Spec,
    colour_scale,
    draw,
    encode_position,
    linear_scale,
    make_plot,
    show_field,
)
from cuesta.units import count

LONGEST_VALUE = 24
"""Columns of a setting's value that are shown: a service may have a long command."""
NONE = "none of them"
WITH_WAIT = "align with half the grid"
GRID = "points of align: half the grid, the mean wait of keys for it, is added to the response: computed, not measured"
MOST = 3
"""Numbers of users that have a plot each: those with the most settings, the largest first."""


def plot_frontier(effects: Sequence[Effect]) -> Iterator[Plot]:
    """A plot for each of a few numbers of users; none where there are less than two points."""
    settings = Counter(load.users for effect in effects for load in effect.loads if load.cpu and load.response)
    users = sorted(settings, key=lambda users: (-settings[users], -users))[:MOST]
    for number in sorted(users):
        points = list_points(effects, number)
        if len(points) > 1:
            made = draw_frontier(f"Response against host CPU per key, {count(number)} users", list(points.items()))
            is_aligned = any(name == ALIGN for _, setting in points for name, _ in setting)
            yield replace(made, note=GRID) if is_aligned else made


ROOM = 1.12
"""How far beyond the highest value an axis reaches."""
Point = tuple[tuple[SettingValues, SettingValues], tuple[Spread, Spread]]


def draw_frontier(title: str, points: Sequence[Point]) -> Plot:
    rows = list(map(make_row, points))
    names = list(dict.fromkeys(row["s"] for row in rows))
    x = scale_axis("host CPU per key", [row["x2"] for row in rows])
    y = scale_axis("mean response", [row["y2"] for row in rows])
    colour = colour_scale([Series(name, []) for name in names], "circle")
    whisker, at = {"type": "rule", "strokeWidth": 1.2}, encode_position(x, y) | {"color": colour}
    layers = [
        draw(rows, whisker, at | {"x": {"field": "x1", **x}, "x2": {"field": "x2"}}),
        draw(rows, whisker, at | {"y": {"field": "y1", **y}, "y2": {"field": "y2"}}),
        draw_dots(rows, x, y, colour),
        draw_names(rows, x, y),
    ]
    return make_plot(title, layers, labels=names)


def scale_axis(title: str, highest: Sequence[float]) -> Spec:
    """An axis of seconds from 0, with room for the name of the last point."""
    return linear_scale(title, **DURATION) | {"scale": {"domain": [0, ROOM * max(highest)], "nice": False}}


def make_row(point: Point) -> Spec:
    (configuration, setting), (response, cpu) = point
    names = " and ".join(name for name, _ in setting) or NONE
    return {
        "x": cpu.median,
        "x1": cpu.low,
        "x2": cpu.high,
        "y": response.median,
        "y1": response.low,
        "y2": response.high,
        "s": ", ".join(filter(None, (names.replace(ALIGN, WITH_WAIT), list_settings(configuration)))),
        "l": ", ".join(value for _, value in setting) or "off",
    }


def draw_dots(rows: list[Spec], x: Spec, y: Spec, colour: Spec) -> Spec:
    tooltip = [
        {"field": "s", "title": "what"},
        {"field": "l", "title": "set to"},
        show_field("x", "host CPU per key", SECONDS),
        show_field("y", "mean response", SECONDS),
    ]
    mark = {"type": "point", "size": 55, "filled": True, "opacity": 1}
    return draw(rows, mark, encode_position(x, y) | {"color": colour, "tooltip": tooltip})


def draw_names(rows: list[Spec], x: Spec, y: Spec) -> Spec:
    mark = {"type": "text", "align": "left", "dx": 7, "dy": -7, "color": INK}
    return draw(rows, mark, encode_position(x, y) | {"text": {"field": "l", "type": "nominal"}})


def list_settings(settings: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name.removeprefix('host.')} {cut(value, LONGEST_VALUE)}" for name, value in settings)
