"""The limited figure of a search against the load: its trials, the limit, and its interval."""

from collections.abc import Iterator

from cuesta.analysis.search import SearchResult, Trial
from cuesta.analysis.summary import Summary
from cuesta.figures.limit import Limit
from cuesta.figures.step import StepFigures
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    INK,
    NUMBER,
    REST,
    SECONDS,
    Spec,
    draw,
    duration_scale,
    encode_position,
    linear_scale,
    make_plot,
    shade_span,
    show_field,
)

MET, MISSED, SET_ASIDE = "met the objective", "missed it", "does not count"
COLOURS = {MET: "var(--good)", MISSED: "var(--bad)", SET_ASIDE: REST}
SHAPES = {MET: "circle", MISSED: "cross", SET_ASIDE: "stroke"}


def plot_trials(summary: Summary, search: SearchResult) -> Iterator[Plot]:
    """One plot for each limit that was measured at two loads or more."""
    steps = {step.step: step for step in summary.steps}
    for text in search.objective:
        limit = Limit.read(text)
        points = [
            {"x": trial.load, "y": value, "s": name_side(trial), "step": trial.step + 1}
            for trial in search.trials
            if (value := measured_value(steps[trial.step], text)) is not None
        ]
        if len({point["x"] for point in points}) > 1:
            yield draw_trials(limit, search, points)


def name_side(trial: Trial) -> str:
    if trial.doubts:
        return SET_ASIDE
    return MET if trial.met else MISSED


def measured_value(step: StepFigures, limit: str) -> float | None:
    return next((result.value for result in step.limits if result.limit == limit), None)


def draw_trials(limit: Limit, search: SearchResult, points: list[Spec]) -> Plot:
    name, what = str(limit.figure), "users" if search.method.whole else "rate, per second"
    values = [*(point["y"] for point in points), limit.value]
    y = duration_scale(name, values) if limit.figure.is_duration else linear_scale(name)
    right = 1.05 * max(point["x"] for point in points)
    x = linear_scale(what, tickMinStep=1) | {"scale": {"domain": [0, right], "nice": False}}
    low, high = search.outcome.interval
    layers: list[Spec] = [shade_span(low, min(high, right), "x")] if low is not None and high is not None else []
    layers += [draw_line(points, x, y), draw_rule(limit.value, y), draw_dots(points, x, y, limit, what)]
    note = "shaded: where the limit is, by all trials; dashed: the objective"
    labels = [name for name in COLOURS if any(point["s"] == name for point in points)]
    made = make_plot(f"{name} against {what}", layers, labels=labels)
    return Plot(made.title, made.spec, note)


def draw_line(points: list[Spec], x: Spec, y: Spec) -> Spec:
    """Through the medians of the loads, of trials that count."""
    counted = [point for point in points if point["s"] != SET_ASIDE]
    mark = {"type": "line", "color": REST, "strokeWidth": 1.5}
    return draw(counted, mark, encode_position(x, y | {"aggregate": "median"}))


def draw_rule(value: float, y: Spec) -> Spec:
    mark = {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.2}
    return draw([{"y": value}], mark, {"y": {"field": "y", **y}})


def draw_dots(points: list[Spec], x: Spec, y: Spec, limit: Limit, what: str) -> Spec:
    shown = [name for name in COLOURS if any(point["s"] == name for point in points)]
    encoding = encode_position(x, y) | {
        "color": nominal_scale(shown, COLOURS),
        "shape": nominal_scale(shown, SHAPES),
        "tooltip": [
            {"field": "step", "title": "trial"},
            {"field": "x", "title": what, "format": ",.4~g"},
            show_field("y", str(limit.figure), SECONDS if limit.figure.is_duration else NUMBER),
            {"field": "s", "title": "it"},
        ],
    }
    return draw(points, {"type": "point", "size": 55, "strokeWidth": 2}, encoding)


def nominal_scale(names: list[str], values: dict[str, str]) -> Spec:
    """The scale of a channel that shows which name a point has: `values` are its colours, or its shapes."""
    return {
        "field": "s",
        "type": "nominal",
        "scale": {"domain": names, "range": [values[name] for name in names]},
        "legend": {"title": None} if len(names) > 1 else None,
        "sort": None,
    }
