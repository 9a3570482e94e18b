"""Plots of a run over time, second by second; the measurement interval is shaded."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cuesta.analysis import causes
from cuesta.analysis.causes import Stretch
from cuesta.analysis.host_figures import read_cpu_use
from cuesta.analysis.over_time import Point, density_over_time, over_time
from cuesta.ledger import Recorded
from cuesta.report.cells import bracket_tiers
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    CHOSEN,
    COLOURS,
    FADED,
    INK,
    NUMBER,
    SECONDS,
    ZOOM,
    ZOOM_X,
    Across,
    Series,
    Spec,
    colour_scale,
    draw,
    draw_cursor,
    draw_lines,
    duration_scale,
    encode_position,
    linear_scale,
    log_scale,
    make_plot,
    shade_span,
    show_field,
    stack_shares,
)
from cuesta.units import write_rounded

MOST_MARKS = 100
"""Marks that a plot shows."""
ROOM_OF_NOTE = 0.04
"""The part of a plot's width that a note takes; one that is nearer to the note before it is left out."""
LONGEST_NOTE = 120
"""Pixels of a note that a plot shows."""
MOST_LAYERS = 7
"""The largest layers have colours of their own; the others are combined."""
_CPUS = linear_scale("% of the host's CPUs", zero=True)
AT = {"title": "second", "format": ".1f"}
INSTANT = "seconds from the start of the run"


def plot_course(recorded: Recorded) -> Iterator[Plot]:
    points = over_time(recorded)
    if not points:
        return
    yield from plot_density(recorded, "response", "Response over time")
    yield from plot_quantiles(recorded, points, "response", "Median and p99 response over time")
    yield plot_throughput(recorded, points)
    for metered in recorded.hosts.values() or [recorded.metered]:
        of_host = replace(recorded, metered=metered)
        yield from plot_host_uses(of_host)
        yield from plot_host_causes(of_host)
    yield from plot_quantiles(recorded, points, "echo", "Keystroke echo over time")
    yield plot_users(recorded, points)


def plot_density(recorded: Recorded, series: str, title: str) -> Iterator[Plot]:
    """The number of values by size and time, as darkness."""
    cells = density_over_time(recorded, series)
    if not cells:
        return
    rows = [
        {"x": round(each.begin, 3), "x2": round(each.end, 3), "y": each.low, "y2": each.high, "n": each.count}
        for each in cells
    ]
    tip = [
        {"field": "x", **AT},
        show_field("y", "from", SECONDS),
        show_field("y2", "to", SECONDS),
        {"field": "n", "title": "transactions", "format": ","},
    ]
    y = log_scale(series, [edge for each in cells for edge in (each.low, each.high)])
    darkness = {"field": "n", "type": "quantitative", "legend": None, "scale": {"type": "sqrt", "range": [0.12, 1]}}
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    encoding = encode_position(time_axis(recorded).axis, y) | ends | {"fillOpacity": darkness, "tooltip": tip}
    cells_drawn = draw(rows, {"type": "rect", "color": COLOURS[0]}, encoding, params=[ZOOM])
    yield make_plot(title, [*shade_measured(recorded), cells_drawn, *_draw_marks(recorded)])


def plot_quantiles(recorded: Recorded, points: Sequence[Point], series: str, title: str) -> Iterator[Plot]:
    known = [point for point in points if series in point.p50]
    if known:
        both = [
            Series("p50", [(point.at, point.p50[series]) for point in known]),
            Series("p99", [(point.at, point.p99[series]) for point in known]),
        ]
        y = duration_scale(series, [value for each in both for _, value in each.points])
        yield _plot_lines(title, recorded, both, y, SECONDS)


def plot_throughput(recorded: Recorded, points: Sequence[Point]) -> Plot:
    series = [Series("transactions/s", [(point.at, point.per_s) for point in points])]
    if any(point.errors_per_s for point in points):
        series.append(Series("errors/s", [(point.at, point.errors_per_s) for point in points], COLOURS[5]))
    return _plot_lines("Throughput over time", recorded, series, linear_scale("a second", zero=True), NUMBER)


def plot_users(recorded: Recorded, points: Sequence[Point]) -> Plot:
    series = [Series("users", [(point.at, float(point.users)) for point in points])]
    return _plot_lines("Users connected over time", recorded, series, linear_scale("users", zero=True), NUMBER)


def plot_host_uses(recorded: Recorded) -> Iterator[Plot]:
    if stretches := causes.uses_over_time(recorded):
        reports = recorded.metered.reports.values()
        tier = bracket_tiers(*(figure for report in reports for figure in read_cpu_use(report).values()))
        y = _CPUS | {"scale": {"domain": [0, 100]}}
        name = recorded.metered.name
        title = f"CPU of {name} by use" if name else "Host CPU by use"
        yield _plot_areas(f"{title}{tier}", recorded, stretches, y, [*stretches[0].shares[0]])


def plot_host_causes(recorded: Recorded) -> Iterator[Plot]:
    """The host's own CPU time by cause; no plot without samples."""
    stretches = causes.causes_over_time(recorded)
    if any(share > 0 for stretch in stretches for row in stretch.shares for share in row.values()):
        tier = bracket_tiers(*(report.by_cause for report in recorded.metered.reports.values()))
        width = causes.half_width(recorded)
        known = f"95 % intervals: ±{write_rounded(width, width, 3)} % at most" if width else ""
        owner = recorded.metered.name or "The host"
        drawn = _plot_areas(f"{owner}'s own CPU time by cause{tier}", recorded, stretches, _CPUS, None)
        yield replace(drawn, note=known)


def _plot_areas(
    title: str, recorded: Recorded, stretches: Sequence[Stretch], y: Spec, order: Sequence[str] | None
) -> Plot:
    """Stack layers from below, in `order` or the largest first; gaps stay empty."""
    layers = stack_shares([row for stretch in stretches for row in stretch.shares], order, MOST_LAYERS)
    places = [(at, number) for number, stretch in enumerate(stretches) for at in stretch.at]
    values: list[Spec] = []
    tops = [0.0] * len(places)
    for number, layer in enumerate(layers):
        for index, ((at, stretch), value) in enumerate(zip(places, layer.values, strict=True)):
            bottom, tops[index] = tops[index], tops[index] + value
            ends = {"bottom": round(bottom, 4), "top": round(tops[index], 4)}
            named: Spec = {"s": layer.label, "k": f"s{number}", "stretch": stretch}
            values.append({"x": at, "y": round(value, 4), **named, **ends})
    series = [Series(layer.label, (), layer.colour) for layer in layers]
    x = time_axis(recorded)
    edges = encode_position(x.axis, y | {"field": "top"}) | {"y2": {"field": "bottom"}}
    encoding = edges | {"color": colour_scale(series), "detail": {"field": "stretch"}, "opacity": FADED}
    areas = draw(values, {"type": "area"}, encoding, params=[ZOOM_X, CHOSEN])
    labels = [layer.label for layer in layers]
    cursor = draw_cursor(values, labels, x, NUMBER)
    return make_plot(title, [*shade_measured(recorded), areas, *_draw_marks(recorded), cursor], labels=labels)


def _plot_lines(title: str, recorded: Recorded, series: Sequence[Series], y: Spec, unit: str) -> Plot:
    labels = [each.label for each in series] if len(series) > 1 else []
    *lines, cursor = draw_lines(series, time_axis(recorded), y, unit)
    return make_plot(title, [*shade_measured(recorded), *lines, *_draw_marks(recorded), cursor], labels=labels)


def time_axis(recorded: Recorded) -> Across:
    end = max((step.end for step in recorded.steps.values()), default=None)
    scale = {"nice": False} | ({"domain": [0, end]} if end else {})
    return Across({"type": "quantitative", "title": INSTANT, "scale": scale}, AT)


def shade_measured(recorded: Recorded) -> Iterator[Spec]:
    yield from (shade_span(step.settled, step.end, "x") for step in recorded.steps.values())


def _draw_marks(recorded: Recorded) -> Iterator[Spec]:
    """A rule at each instant that somebody marked, with its note along it where there is room."""
    end = max((step.end for step in recorded.steps.values()), default=0.0)
    marks = [mark for mark in recorded.marks if mark.at <= end][:MOST_MARKS]
    if not marks:
        return
    rows, noted = list[Spec](), -1.0
    for mark in marks:
        has_room = not rows or mark.at - noted >= ROOM_OF_NOTE * end
        noted = mark.at if has_room else noted
        rows.append({"x": round(mark.at, 3), "note": mark.note if has_room else ""})
    x = {"field": "x", **time_axis(recorded).axis}
    yield draw(rows, {"type": "rule", "color": INK, "strokeWidth": 1, "strokeDash": [2, 3], "opacity": 0.6}, {"x": x})
    is_last = f"datum.x > {(1 - ROOM_OF_NOTE) * end}"  # beyond such a rule is no room
    side: Spec = {"baseline": {"expr": f"{is_last} ? 'bottom' : 'top'"}, "dy": {"expr": f"{is_last} ? -1 : 2"}}
    along: Spec = {"angle": 270, "align": "right", "dx": -3, "limit": LONGEST_NOTE, **side}
    note = {"type": "text", "color": INK, "fontSize": 10, "y": 0, **along}
    yield draw([row for row in rows if row["note"]], note, {"x": x, "text": {"field": "note"}})
