"""Distributions of one step: histograms, and percentile curves, on which rarer values are further to the right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cuesta.analysis.over_time import bin_histogram, percentile_curve
from cuesta.analysis.summary import Summary
from cuesta.analysis.waits import Waits, select_waits
from cuesta.figures.durations import TransactionClass
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    COLOURS,
    SECONDS,
    ZOOM_X,
    Across,
    Series,
    draw,
    draw_lines,
    encode_position,
    linear_scale,
    log_scale,
    make_plot,
    show_field,
)
from cuesta.units import count

DUE_AND_SENT = {"since due": "", "since sent": "_from_sent"}
MARKS = [2.0, *(10.0**nines for nines in range(1, 10))]
"""One value in two lies beyond p50, one in ten beyond p90, one in a hundred beyond p99 …"""


def plot_distributions(recorded: Recorded, step: StepFigures) -> Iterator[Plot]:
    """Histograms and percentile curves of response and echo in a step."""
    measured = recorded.measured_in(step.step)
    for series, title in (("echo", "Keystroke echo"), ("response", "Response")):
        yield from plot_histogram(select_waits(measured, series), f"{title}: how many values of each size")
    for series, title in (("echo", "Keystroke echo by percentile"), ("response", "Response by percentile")):
        curves = {label: select_waits(measured, series + suffix) for label, suffix in DUE_AND_SENT.items()}
        yield from plot_percentiles(title, series, curves)
    if len(step.classes) > 1:
        of_classes = {label: _waits_of_class(recorded, step.step, each) for label, each in _label_classes(step.classes)}
        yield from plot_percentiles("Response of each transaction by percentile", "response, since due", of_classes)


def plot_driver_delay(recorded: Recorded, step: StepFigures) -> Iterator[Plot]:
    delay = {"delay": select_waits(recorded.measured_in(step.step), "lateness")}
    yield from plot_percentiles(
        "Driver delay by percentile", "from when a key could be sent to when it was sent", delay
    )


def overlay_distributions(runs: Mapping[str, Summary], series: str, title: str) -> Iterator[Plot]:
    curves = {name: select_waits(run.recorded.measured_in(run.last.step), series) for name, run in runs.items()}
    yield from plot_percentiles(title, series, curves)


def plot_histogram(waits: Waits, title: str) -> Iterator[Plot]:
    """The share of values of each size, of all that was asked."""
    bars = bin_histogram(waits.answered) if waits.answered and waits.count else []
    if not bars:
        return
    rows = [{"x": bar.low, "x2": bar.high, "y": 100 * bar.count / waits.total, "n": bar.count} for bar in bars]
    tip = [
        show_field("x", "from", SECONDS),
        show_field("x2", "to", SECONDS),
        show_field("y", "% of values"),
        {"field": "n", "title": "values", "format": ","},
    ]
    axes = encode_position(log_scale("since due", [bars[0].low, bars[-1].high]), linear_scale("% of values", zero=True))
    encoding = axes | {"x2": {"field": "x2"}, "y2": {"datum": 0}, "tooltip": tip}
    mark = {"type": "rect", "color": COLOURS[0], "stroke": "var(--paper)", "strokeWidth": 0.5}
    yield replace(make_plot(title, [draw(rows, mark, encoding, params=[ZOOM_X])]), note=_note_censored({"": waits}))


def plot_percentiles(title: str, what: str, waits: Mapping[str, Waits]) -> Iterator[Plot]:
    known = {label: each for label, each in waits.items() if each.count}
    if not known:
        return
    most = max(2, *(each.total for each in known.values()))
    series = [Series(label, list(percentile_curve(each))) for label, each in known.items()]
    scale = {"type": "log", "domain": [1, most], "nice": False}
    marked = {"values": [mark for mark in MARKS if mark <= most], "labelExpr": "percentile(datum.value)"}
    axis = {"type": "quantitative", "title": "percentile", "scale": scale, "axis": marked}
    y = log_scale(what, [value for each in series for _, value in each.points])
    x = Across(axis, {"title": "percentile", "formatType": "percentile", "type": "quantitative"})
    labels = list(known) if len(known) > 1 else []
    yield replace(make_plot(title, draw_lines(series, x, y, SECONDS), labels=labels), note=_note_censored(known))


def _note_censored(waits: Mapping[str, Waits]) -> str:
    """A note on what was not answered, which a plot cannot show."""
    most = max(each.censored for each in waits.values())
    return f"{count(most)} were not answered: a curve ends where they make it unknown" if most else ""


def _label_classes(classes: Sequence[TransactionClass]) -> Iterator[tuple[str, TransactionClass]]:
    several = len({each.group for each in classes}) > 1
    for each in classes:
        yield each.label if several else each.transaction, each


def _waits_of_class(recorded: Recorded, step: int, one: TransactionClass) -> Waits:
    key = one.group, one.transaction
    return select_waits(recorded.measured_in(step), "response", lambda tag: (tag.group, tag.source) == key)
