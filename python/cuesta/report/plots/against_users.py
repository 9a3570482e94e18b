"""Throughput, response and echo against the number of users, with the two asymptotes of a closed system."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from cuesta.analysis.capacity.asymptotes import (
    Asymptotes,
    HeavyLoadAsymptote,
    LightLoadAsymptote,
    bound_by_cycle,
    derive_asymptotes,
)
from cuesta.analysis.planned import last_part, write_swept_value
from cuesta.analysis.summary import Summary
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.report.model import Plot
from cuesta.report.plots.spec import (
    NUMBER,
    REST,
    SECONDS,
    Across,
    Series,
    Spec,
    draw_lines,
    duration_scale,
    linear_scale,
    make_plot,
    shade_span,
)

LIGHT_LOAD_BOUND = "if nobody had to wait"
"""The asymptote of a lightly loaded system."""
QUANTILES = ("p50", "p95", "p99")
FEW_CURVES = 2
"""Curves that have room for all quantiles."""
ROOM = 1.35
"""How far above the highest throughput the plot reaches, at most, to show an asymptote."""
AT = {"title": "users", "format": ","}
Curves = Mapping[str, Sequence[StepFigures]]


def plot_sweeps(summary: Summary) -> Iterator[Plot]:
    """Plots against users, if their number was swept; a curve for each combination of other swept settings."""
    if len({step.users for step in summary.counted}) < 2:
        return
    curves = dict[str, list[StepFigures]]()
    for step in select_middle_repeats(summary.counted):
        curves.setdefault(name_swept_settings(step), []).append(step)
    yield plot_throughput(curves, derive_asymptotes(summary) if len(curves) == 1 else None)
    yield from plot_percentiles("Response against users", "response, since due", curves, lambda step: step.response)
    yield from plot_percentiles("Keystroke echo against users", "echo, since due", curves, lambda step: step.echo)


def select_middle_repeats(steps: Sequence[StepFigures]) -> list[StepFigures]:
    """Keep of steps that differ in `seed` alone the one with the median response; sorted by users."""
    repeats = dict[tuple[int, str], list[StepFigures]]()
    for step in steps:
        repeats.setdefault((step.users, name_swept_settings(step)), []).append(step)
    middle = [
        sorted(each, key=lambda step: step.response.p50 or 0.0)[(len(each) - 1) // 2] for each in repeats.values()
    ]
    return sorted(middle, key=lambda step: step.users)


def overlay_sweeps(runs: Mapping[str, Summary]) -> Iterator[Plot]:
    curves = {name: sorted(run.steps, key=lambda step: step.users) for name, run in runs.items()}
    if len({step.users for steps in curves.values() for step in steps}) >= 2:
        yield plot_throughput(curves, None)


def plot_throughput(curves: Curves, bounds: Asymptotes | None) -> Plot:
    """Transactions per second, and the asymptotes as far as they fit into the plot."""
    series = [
        Series(label or "measured", [(step.users, step.transactions.per_s or 0.0) for step in steps])
        for label, steps in curves.items()
    ]
    right = max(step.users for steps in curves.values() for step in steps)
    top = ROOM * max(step.transactions.per_s or 0.0 for steps in curves.values() for step in steps) or 1.0
    under: list[Spec] = []
    if bounds and bounds.light:
        (steps,) = curves.values()
        series.append(Series(LIGHT_LOAD_BOUND, list(_trace_light_load(steps, bounds.light, top)), REST, (6, 4)))
    if bounds and bounds.heavy and bounds.heavy.most_per_s <= top:
        low, high = bounds.heavy.rate_interval
        under.append(shade_span(low, min(high, top), "y"))
        rate = bounds.heavy.most_per_s
        series.append(Series(name_ceiling(bounds.heavy), [(0, rate), (right, rate)], REST, (2, 3)))
    y = linear_scale("transactions/s") | {"scale": {"domain": [0, top], "nice": False}}
    return _plot("Throughput against users", under, series, y, NUMBER)


def _trace_light_load(
    steps: Sequence[StepFigures], light: LightLoadAsymptote, top: float
) -> Iterator[tuple[float, float]]:
    """The light-load asymptote, as far as it fits below `top`."""
    before = (0.0, 0.0)
    yield before
    for step in steps:
        users, rate = step.users, bound_by_cycle(step, light)
        if rate > top:
            yield before[0] + (users - before[0]) * (top - before[1]) / (rate - before[1]), top
            return
        before = users, rate
        yield before


def plot_percentiles(
    title: str, what: str, curves: Curves, take: Callable[[StepFigures], Distribution]
) -> Iterator[Plot]:
    series = [
        Series(f"{name} {label}".strip(), [(step.users, getattr(take(step), name)) for step in known])
        for label, steps in curves.items()
        for name in (QUANTILES if len(curves) <= FEW_CURVES else QUANTILES[:1])
        if (known := [step for step in steps if take(step).p50 is not None])
    ]
    if series:
        y = duration_scale(what, [value for each in series for _, value in each.points])
        yield _plot(title, [], series, y, SECONDS)


def _plot(title: str, under: list[Spec], series: Sequence[Series], y: Spec, unit: str) -> Plot:
    right = max(place for each in series for place, _ in each.points)
    axis = linear_scale("users", tickMinStep=1) | {"scale": {"domain": [0, 1.03 * right], "nice": False}}
    labels = [each.label for each in series] if len(series) > 1 else []
    return make_plot(title, [*under, *draw_lines(series, Across(axis, AT), y, unit, dots=True)], labels=labels)


def name_ceiling(heavy: HeavyLoadAsymptote) -> str:
    return f"ceiling set by {heavy.resource}"


def name_swept_settings(step: StepFigures) -> str:
    """The values of all swept settings except the number of users, and the seed, which makes repeats."""
    other = {
        name: write_swept_value(name, value)
        for name, value in step.swept.items()
        if last_part(name) not in ("users", "seed")
    }
    return ", ".join(f"{name.removeprefix('group.')} {value}" for name, value in other.items())
