"""The course of a run, second by second, with what was measured shaded."""

from collections.abc import Iterator, Sequence

from matplotlib.ticker import MaxNLocator

from cuesta.analysis.host import uses
from cuesta.analysis.over_time import Point
from cuesta.ledger import Recorded
from cuesta.report.plots.causes import causes_over_time, uses_over_time
from cuesta.report.plots.scales import durations
from cuesta.report.plots.svg import SERIES, SHADE, Plot
from cuesta.report.tiers import Figure, in_brackets


def courses(recorded: Recorded, points: Sequence[Point]) -> Iterator[str]:
    """Draw the course of the run."""
    if not points:
        return
    yield from _quantiles(recorded, points, "response", "Response over time")
    yield _throughput(recorded, points)
    of_uses, of_causes = (in_brackets(*figures) for figures in _metered(recorded))
    yield from uses_over_time(_over_time(f"Host CPU over time, by use; the rest is idle{of_uses}", recorded), recorded)
    yield from causes_over_time(
        _over_time(f"The host's own CPU time over time, by cause{of_causes}", recorded), recorded
    )
    yield from _quantiles(recorded, points, "echo", "Echo over time")
    yield from _quantiles(recorded, points, "lateness", "Lateness of the driver over time")
    yield _users(recorded, points)


def _metered(recorded: Recorded) -> tuple[list[Figure], list[Figure]]:
    """Give the figures of use and of causes whose tiers are those of the rows, which name none."""
    sheets = recorded.metered.sheets.values()
    return [figure for sheet in sheets for figure in uses(sheet).values()], [sheet["by_cause"] for sheet in sheets]


def _quantiles(recorded: Recorded, points: Sequence[Point], series: str, title: str) -> Iterator[str]:
    """Draw the median and 99 in 100 of each second."""
    known = [point for point in points if series in point.p50]
    if not known:
        return
    plot = _over_time(title, recorded)
    times = [point.at for point in known]
    for number, (label, values) in enumerate(
        {"p50": [point.p50[series] for point in known], "p99": [point.p99[series] for point in known]}.items()
    ):
        plot.axes.plot(times, values, _style(known), color=SERIES[number], label=label)
    durations(plot.axes, [point.p50[series] for point in known] + [point.p99[series] for point in known])
    plot.axes.set_ylabel(series)
    yield plot.svg()


def _throughput(recorded: Recorded, points: Sequence[Point]) -> str:
    """Draw transactions and errors a second."""
    plot = _over_time("Throughput over time", recorded)
    times = [point.at for point in points]
    plot.axes.plot(
        times, [point.per_s for point in points], _style(points), color=SERIES[0], label="transactions a second"
    )
    errors = [point.errors_per_s for point in points]
    if any(errors):
        plot.axes.plot(times, errors, _style(points), color=SERIES[5], label="errors a second")
    plot.axes.set_ylim(bottom=0)
    plot.axes.set_ylabel("a second")
    return plot.svg()


def _users(recorded: Recorded, points: Sequence[Point]) -> str:
    """Draw the users that have a line."""
    plot = _over_time("Users connected over time", recorded)
    plot.axes.step([point.at for point in points], [point.users for point in points], color=SERIES[0], where="mid")
    plot.axes.set_ylim(bottom=0)
    plot.axes.set_ylabel("users")
    plot.axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return plot.svg()


def _style(points: Sequence[Point]) -> str:
    """A line needs two points: of fewer, mark what there is."""
    return "-" if len(points) > 1 else "o"


def _over_time(title: str, recorded: Recorded) -> Plot:
    """Begin a plot over the time of the run, with the measurement intervals shaded."""
    plot = Plot(title)
    for step in recorded.steps.values():
        plot.axes.axvspan(step.settled, step.end, color=SHADE, linewidth=0)
    plot.axes.set_xlabel("seconds from the start of the run; shaded: measured")
    plot.axes.set_xlim(0, max((step.end for step in recorded.steps.values()), default=None))
    return plot
