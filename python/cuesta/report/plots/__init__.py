"""The plots of a report: each is a function from figures to an element of the page; none where there is nothing."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from cuesta._native import Histogram
from cuesta.analysis.figures import Figures
from cuesta.analysis.over_time import Point, curve
from cuesta.analysis.summary import Summary
from cuesta.ledger import Recorded, Tag
from cuesta.report.plots.svg import SERIES, SHADE, Plot, in_seconds
from cuesta.report.words import class_of

MOST_CLASSES = 3
"""Classes of transactions that get a curve of their own: those with most transactions."""

DECADE = 12.0
"""Values that spread further than this many times are drawn on a logarithmic scale."""


def courses(recorded: Recorded, points: Sequence[Point]) -> Iterator[str]:
    """Draw the course of the run."""
    yield from quantiles_over_time(recorded, points, "response", "Response over time")
    yield from host_over_time(recorded)
    yield counts_over_time(recorded, points)
    yield from quantiles_over_time(recorded, points, "echo", "Echo over time")
    yield from quantiles_over_time(recorded, points, "lateness", "Lateness of the driver over time")
    yield users_over_time(recorded, points)


def quantiles_over_time(recorded: Recorded, points: Sequence[Point], series: str, title: str) -> Iterator[str]:
    """Draw the median and 99 in 100 of each second."""
    known = [point for point in points if series in point.p50]
    if not known:
        return
    plot = over_time(title, recorded)
    times = [point.at for point in known]
    p50, p99 = [point.p50[series] for point in known], [point.p99[series] for point in known]
    plot.axes.plot(times, p50, color=SERIES[0], label="p50")
    plot.axes.plot(times, p99, color=SERIES[1], label="p99")
    scale(plot.axes, [*p50, *p99])
    yield plot.svg()


def host_over_time(recorded: Recorded) -> Iterator[str]:
    """Draw what the host's CPUs did each second."""
    rows = [row for row in recorded.metered.rows if row.figures.get("cpu", {}).get("idle") is not None]
    if not rows:
        return
    plot = over_time("Host CPU over time", recorded)
    times = [row.end - row.length / 2 for row in rows]
    own = [row.figures.get("own", {}) for row in rows]
    plot.axes.plot(times, [row.figures["cpu"]["load"] for row in rows], color=SERIES[1], label="load of its CPUs")
    if any("others" in each for each in own):
        plot.axes.plot(times, [each.get("percent", 0.0) for each in own], color=SERIES[0], label="the host itself")
    steal = [row.figures["cpu"].get("steal", 0.0) for row in rows]
    if max(steal) >= 1.0:
        plot.axes.plot(times, steal, color=SERIES[5], label="steal")
    plot.axes.set_ylim(0, 100)
    plot.axes.set_ylabel("percent of its CPUs")
    yield plot.svg()


def counts_over_time(recorded: Recorded, points: Sequence[Point]) -> str:
    """Draw transactions and errors a second."""
    plot = over_time("Throughput over time", recorded)
    times = [point.at for point in points]
    plot.axes.plot(times, [point.per_s for point in points], color=SERIES[0], label="transactions a second")
    if any(point.errors for point in points):
        plot.axes.plot(times, [point.errors for point in points], color=SERIES[5], label="errors")
    plot.axes.set_ylim(bottom=0)
    return plot.svg()


def users_over_time(recorded: Recorded, points: Sequence[Point]) -> str:
    """Draw the users that have a line."""
    plot = over_time("Users connected over time", recorded)
    plot.axes.step([point.at for point in points], [point.users for point in points], color=SERIES[0], where="mid")
    plot.axes.set_ylim(bottom=0)
    return plot.svg()


def over_time(title: str, recorded: Recorded) -> Plot:
    """Begin a plot over the time of the run, with the measurement intervals shaded."""
    plot = Plot(title)
    for step in recorded.steps.values():
        plot.axes.axvspan(step.settled, step.end, color=SHADE, linewidth=0)
    plot.axes.set_xlabel("seconds from the start of the run; shaded: measured")
    plot.axes.set_xlim(0, max((step.end for step in recorded.steps.values()), default=None))
    return plot


def scale(axes: Axes, values: Sequence[float]) -> None:
    """Choose the vertical scale of durations."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) > DECADE * min(positive):
        logarithmic(axes)
    else:
        axes.set_ylim(bottom=0)
    in_seconds(axes)


def logarithmic(axes: Axes) -> None:
    """Scale durations logarithmically, with a tick at each 1, 2 and 5 where few decades are seen."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    few = high < 1000 * low
    ticks = [digit * 10.0**power for power in range(-9, 6) for digit in ((1, 2, 5) if few else (1,))]
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())


def curves(recorded: Recorded, step: Figures) -> Iterator[str]:
    """Draw the percentile curves of the largest classes, since due and since sent, and of the echo."""
    for each in sorted(step.classes, key=lambda each: -each.response.count)[:MOST_CLASSES]:
        title = f"Response of {class_of(each.group, each.transaction)}"
        yield from percentiles(
            recorded, step, title, ("response", "response_from_sent"), (each.group, each.transaction)
        )
    yield from percentiles(recorded, step, "Echo", ("echo", "echo_from_sent"), None)


def percentiles(
    recorded: Recorded, step: Figures, title: str, series: tuple[str, str], of: tuple[str, str] | None
) -> Iterator[str]:
    """Draw a pair of percentile curves: the rarer, the further to the right."""

    def wanted(tag: Tag, name: str) -> bool:
        return tag.step == step.step and tag.series == name and of in (None, (tag.group, tag.transaction))

    pair = [recorded.pooled(lambda tag, name=name: wanted(tag, name)) for name in series]  # type: ignore[misc]
    if not all(pair):
        return
    plot = Plot(f"{title}, by percentile")
    for number, (label, histogram) in enumerate(zip(("since due", "since sent"), pair, strict=True)):
        draw_curve(plot.axes, histogram, SERIES[1 - number], label)
    by_rarity(plot.axes, max(histogram.count for histogram in pair if histogram))
    yield plot.svg()


def draw_curve(axes: Axes, histogram: Histogram | None, colour: str, label: str) -> None:
    """Draw one percentile curve."""
    if histogram:
        rarities, values = zip(*curve(histogram), strict=True)
        axes.plot(rarities, values, color=colour, label=label)


def by_rarity(axes: Axes, most: int) -> None:
    """Scale the horizontal axis by how rare a value is, and mark the percentiles."""
    marks = {1.0: "0", 2.0: "50 %", 10.0: "90 %", 100.0: "99 %"}
    marks |= {10.0**nines: f"99.{'9' * (nines - 2)} %" for nines in range(3, 10)}
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([mark for mark in marks if mark <= most]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rarity, _: marks.get(rarity, "")))
    axes.set_xlabel("share of values that are no longer")
    lines = [value for line in axes.get_lines() for value in map(float, line.get_ydata())]  # type: ignore[arg-type]
    scale(axes, lines)


def sweeps(summary: Summary) -> Iterator[str]:
    """Draw throughput and response against the number of users, where that was swept."""
    steps = sorted(summary.steps, key=lambda step: step.users)
    if len({step.users for step in steps}) < 2:
        return
    users = [step.users for step in steps]
    plot = against_users("Throughput against users")
    plot.axes.plot(users, [step.transactions.per_s or 0.0 for step in steps], "o-", color=SERIES[0])
    plot.axes.set_ylim(bottom=0)
    yield plot.svg()
    plot = against_users("Response against users")
    known = [step for step in steps if step.response.p50 is not None]
    for number, name in enumerate(("p50", "p95", "p99")):
        values = [getattr(step.response, name) for step in known]
        plot.axes.plot([step.users for step in known], values, "o-", color=SERIES[number], label=name)
    scale(plot.axes, [getattr(step.response, name) for step in known for name in ("p50", "p99")])
    yield plot.svg()


def against_users(title: str) -> Plot:
    """Begin a plot over the number of users."""
    plot = Plot(title)
    plot.axes.set_xlabel("users")
    return plot
