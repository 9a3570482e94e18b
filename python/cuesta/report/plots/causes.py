"""The host's CPU time, split: stacked areas over time, and stacked bars by system as MPL-17 (1969) has them."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.ticker import FuncFormatter, MaxNLocator

from cuesta.analysis import causes
from cuesta.analysis.causes import Stretch
from cuesta.ledger import Recorded
from cuesta.report.plots.svg import REST, ROW, SERIES, Plot
from cuesta.units import rounded, seconds

MOST_LAYERS = 7
"""Layers with a colour of their own: those with most; the others are one."""
OTHERS = "others"
ERROR = "#333"
BAR = 0.32
"""Inches of height for each system."""
LONGEST_NAME = 22
"""Characters in a row of a system's name."""


def uses_over_time(plot: Plot, recorded: Recorded) -> Iterator[str]:
    """Draw what the host's CPUs did."""
    if stretches := causes.uses_over_time(recorded):
        _areas(plot, stretches, [*stretches[0].shares[0]])
        plot.axes.set_ylim(0, 100)
        plot.axes.set_ylabel("% of its CPUs")
        yield plot.svg()


def causes_over_time(plot: Plot, recorded: Recorded) -> Iterator[str]:
    """Draw the host's own CPU time by cause."""
    stretches = causes.causes_over_time(recorded)
    # A host that did not run has none, and one that ran while nobody sampled has nothing of each.
    if any(share > 0 for stretch in stretches for shares in stretch.shares for share in shares.values()):
        _areas(plot, stretches, None)
        plot.axes.set_ylim(bottom=0)
        width = causes.half_width(recorded)
        known = f" (95 %: ±{rounded(width, width)} at most)" if width else ""
        plot.axes.set_ylabel(f"% of its CPUs{known}")
        yield plot.svg()


def bars(
    title: str,
    systems: Mapping[str, Mapping[str, float]],
    about: str,
    order: Sequence[str] | None = None,
    errors: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[str]:
    """Draw a bar for each system, of seconds by cause, in `order` or the largest first; `about` says of what.

    `errors` are standard errors of the seconds: twice that is drawn to both sides of where a layer ends.
    """
    if not systems:
        return
    names = [textwrap.fill(name, LONGEST_NAME) for name in systems]
    plot = Plot(title, height=(1.2 if errors else 1.0) + sum(BAR + ROW * name.count("\n") for name in names))
    layers = _layers([*systems.values()], order)
    left = [0.0] * len(systems)
    for number, (label, values) in enumerate(layers.items()):
        plot.axes.barh(names, values, left=left, color=_colour(number, label), label=label, height=0.62)
        left = [begin + value for begin, value in zip(left, values, strict=True)]
        name = label.replace(" ", "_")
        spans = [
            1.96 * known.get(label, known.get(name, 0.0)) for known in ((errors or {}).get(s, {}) for s in systems)
        ]
        if any(spans):
            plot.axes.errorbar(left, range(len(left)), xerr=spans, fmt="none", ecolor=ERROR, elinewidth=1, capsize=3)
    plot.axes.invert_yaxis()
    plot.axes.grid(visible=False, axis="y")
    plot.axes.xaxis.set_major_locator(MaxNLocator(5))
    plot.axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value) if value else "0"))
    about = f"{about}\n(whiskers: 95 % of samples)" if errors else about
    plot.axes.set_xlabel(about, loc="right")  # beside long names there is no room for it in the middle
    yield plot.svg()


def _areas(plot: Plot, stretches: Sequence[Stretch], order: Sequence[str] | None) -> None:
    """Stack the layers, from below in `order` or else the largest first; the same ones in every stretch."""
    layers = _layers([shares for stretch in stretches for shares in stretch.shares], order)
    begin = 0
    for stretch in stretches:
        end = begin + len(stretch.at)
        plot.axes.stackplot(
            stretch.at,
            [values[begin:end] for values in layers.values()],
            colors=[_colour(number, label) for number, label in enumerate(layers)],
            labels=[*layers] if begin == 0 else (),
            linewidth=0,
        )
        begin = end


def _layers(rows: Sequence[Mapping[str, float]], order: Sequence[str] | None = None) -> dict[str, list[float]]:
    """Turn rows of shares into layers: in `order`, else the largest first; small ones are put together."""
    sums: dict[str, float] = {}
    for name, value in (each for row in rows for each in row.items()):
        sums[name] = sums.get(name, 0.0) + value
    names = list(order or sorted((name for name in sums if sums[name] > 0), key=lambda name: -sums[name]))
    own = names if len(names) <= MOST_LAYERS + 1 else names[:MOST_LAYERS]
    layers = {name.replace("_", " "): [row.get(name, 0.0) for row in rows] for name in own}
    if rest := names[len(own) :]:
        layers[f"{len(rest)} {OTHERS}"] = [sum(row.get(name, 0.0) for name in rest) for row in rows]
    return layers


def _colour(number: int, label: str) -> str:
    return REST if label.endswith(f" {OTHERS}") else SERIES[number]
