"""Throughput and response against the number of users, with the two asymptotes that no closed system passes."""

from collections.abc import Iterator, Mapping

from matplotlib.ticker import MaxNLocator

from cuesta.analysis.asymptotes import Asymptotes, asymptotes
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.report.phrases import swept_apart_from_users
from cuesta.report.plots.scales import durations
from cuesta.report.plots.svg import DASHES, REST, SERIES, SHADE, Plot

QUANTILES = ("p50", "p95", "p99")
ROOM = 1.35
"""How far above the highest throughput the plot reaches, at most, to show an asymptote."""


def sweeps(summary: Summary) -> Iterator[str]:
    """Draw them where the number of users was swept; a curve for each point of what else was."""
    curves = _curves(summary)
    if len({step.users for step in summary.steps}) < 2:
        return
    yield _throughput(curves, asymptotes(summary) if len(curves) == 1 else None)
    yield from _responses(curves)


def overlaid(runs: Mapping[str, Summary]) -> Iterator[str]:
    """Draw the throughput of several runs against the number of users, a curve for each."""
    curves = {name: sorted(run.steps, key=lambda step: step.users) for name, run in runs.items()}
    if len({step.users for steps in curves.values() for step in steps}) >= 2:
        yield _throughput(curves, None)


def _curves(summary: Summary) -> dict[str, list[StepFigures]]:
    curves = dict[str, list[StepFigures]]()
    for step in sorted(summary.steps, key=lambda step: step.users):
        curves.setdefault(swept_apart_from_users(step), []).append(step)
    return curves


def _throughput(curves: dict[str, list[StepFigures]], bounds: Asymptotes | None) -> str:
    plot = _against_users("Throughput against users")
    for number, (label, steps) in enumerate(curves.items()):
        colour = SERIES[number % len(SERIES)]
        rates = [step.transactions.per_s or 0.0 for step in steps]
        plot.axes.plot([step.users for step in steps], rates, "o-", color=colour, label=label or "measured")
    most = max(step.transactions.per_s or 0.0 for steps in curves.values() for step in steps)
    plot.axes.set_ylim(0, ROOM * most or None)
    plot.axes.set_xlim(left=0)
    plot.axes.set_ylabel("transactions a second")
    if bounds:
        _draw_bounds(plot, bounds, ROOM * most)
    return plot.svg()


def _draw_bounds(plot: Plot, bounds: Asymptotes, top: float) -> None:
    """Draw each asymptote as far as it lies in the plot."""
    right = plot.axes.get_xlim()[1]
    if light := bounds.light:
        end = min(right, top * light.cycle)
        plot.axes.plot([0, end], [0, end / light.cycle], color=REST, linestyle=DASHES[1], label="N / (R₀ + Z + K)")
    if bounds.heavy and 1 / bounds.heavy.demand <= top:
        low, high = bounds.heavy.rate_interval
        plot.axes.axhspan(low, min(high, top), color=SHADE, linewidth=0, label="1 / D max, 95 % interval")
        plot.axes.axhline(1 / bounds.heavy.demand, color=REST, linestyle=DASHES[2], label="1 / D max")


def _responses(curves: dict[str, list[StepFigures]]) -> Iterator[str]:
    plot = _against_users("Response against users")
    drawn: list[float] = []
    for number, (label, steps) in enumerate(curves.items()):
        known = [step for step in steps if step.response.p50 is not None]
        for index, name in enumerate(QUANTILES):
            values = [getattr(step.response, name) for step in known]
            colour = SERIES[index if len(curves) == 1 else number % len(SERIES)]
            dash = DASHES[0 if len(curves) == 1 else index]
            users, named = [step.users for step in known], f"{name} {label}".strip()
            plot.axes.plot(users, values, marker="o", color=colour, linestyle=dash, label=named)
            drawn += values
    if drawn:
        durations(plot.axes, drawn)
        plot.axes.set_ylabel("response since due")
        yield plot.svg()


def _against_users(title: str) -> Plot:
    plot = Plot(title)
    plot.axes.set_xlabel("users")
    plot.axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return plot
