"""Two versions of a program: the share of keys that each has echoed within a time, and the differences of the pairs."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from cuesta.analysis.compare.paired_figure import PairedFigure
from cuesta.analysis.waits import Waits
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    COLOURS,
    INK,
    SECONDS,
    Across,
    Series,
    draw,
    draw_lines,
    encode_position,
    linear_scale,
    log_scale,
    make_plot,
    shade_span,
    show_field,
)

DOT = 8
"""Pixels beside the first and the last pair, so that their dots are whole."""
POINTS = 160
"""Points of a curve: those of all curves stand at the same times."""


def plot_shares(named: Mapping[str, Waits], what: str) -> Iterator[Plot]:
    """The empirical distribution functions of all values, which are `keys` or `answers`."""
    steps = {name: _count_within(waits) for name, waits in named.items() if waits.count}
    times = [time for each in steps.values() for time, _ in each]
    if not times:
        return
    low, high = min(times), max(times)
    grid = [low * (high / low) ** (number / POINTS) for number in range(POINTS)] + [high]
    series = [Series(name, [(time, _share_at(each, time)) for time in grid]) for name, each in steps.items()]
    across = Across(log_scale("time since due", times), {"title": "within", **WITHIN})
    y = linear_scale(f"% of {what}", zero=True)
    yield make_plot(
        f"All {what}: how many took at most a time", draw_lines(series, across, y, "number"), labels=list(steps)
    )


WITHIN = {"formatType": "duration", "type": "quantitative"}


def plot_differences(figure: PairedFigure, names: tuple[str, str]) -> Iterator[Plot]:
    """By how much each pair differs, with the interval and the margin."""
    if figure.missing or not figure.pairs or figure.ratio is None:
        return
    rows = [
        {"x": number, "y": 100 * (new / base - 1), "base": base, "new": new}
        for number, (base, new) in enumerate(zip(figure.base, figure.new, strict=True), 1)
    ]
    tip = [show_field("x", "pair"), show_field("y", "change in %"), *_both(names)]
    y = linear_scale(f"{figure.metric.label}: change in %", zero=True)
    x = linear_scale("pair", zero=False, tickMinStep=1, format="d")
    x["scale"]["padding"] = DOT
    axes = encode_position(x, y)
    dots = draw(rows, {"type": "point", "filled": True, "size": 50, "color": COLOURS[1]}, axes | {"tooltip": tip})
    layers = [draw([{}], {"type": "rule", "color": INK, "strokeWidth": 1}, {"y": {"datum": 0}})]
    ratio = figure.ratio
    if ratio.low is not None and ratio.high is not None:
        layers.insert(0, shade_span(100 * (ratio.low - 1), 100 * (ratio.high - 1), "y"))
    if figure.margin.share is not None:
        mark = {"type": "rule", "color": INK, "strokeWidth": 1, "strokeDash": [3, 3]}
        layers.append(draw([{}], mark, {"y": {"datum": 100 * figure.margin.share}}))
    yield make_plot("Pairs: shaded is the interval, dashed the margin", [*layers, dots])


def _both(names: tuple[str, str]) -> list[dict[str, object]]:
    return [show_field(side, name, SECONDS) for side, name in zip(("base", "new"), names, strict=True)]


def _count_within(waits: Waits) -> list[tuple[float, float]]:
    """Points (seconds, percent of keys that were echoed within them)."""
    if waits.unanswered:
        return [(time, 100 * share) for time, share in waits.answered_within]
    total, points = 0, list[tuple[float, float]]()
    for time, count in waits.answered.buckets() if waits.answered else []:
        total += count
        points.append((time, 100 * total / waits.count))
    return points


def _share_at(points: list[tuple[float, float]], time: float) -> float:
    number = bisect_right(points, (time * (1 + 1e-9), math.inf))
    return points[number - 1][1] if number else 0.0
