"""Stacked bars of CPU time by cause, a bar for each system, as MPL-17 (1969) has them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cuesta.analysis.certainty import TWO_SIDED_95
from cuesta.report.model import Plot
from cuesta.report.plots.over_time import MOST_LAYERS
from cuesta.report.plots.spec import (
    CHOSEN,
    DURATION,
    FADED,
    INK,
    SECONDS,
    Series,
    Spec,
    colour_scale,
    encode_position,
    linear_scale,
    make_plot,
    show_field,
    stack_shares,
)

BAR = 34
"""Pixels of height for each system."""
LONGEST_NAME = 150
"""Pixels of a system's name."""


def plot_bars(
    title: str,
    systems: Mapping[str, Mapping[str, float]],
    about: str,
    order: Sequence[str] | None = None,
    errors: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[Plot]:
    """Draw a bar for each system, of seconds by cause, in `order` or the largest first; `about` says of what.

    `errors` are standard errors of the seconds: twice that is drawn to both sides of where a layer ends.
    """
    if not systems:
        return
    names = list(systems)
    layers = stack_shares([*systems.values()], order, MOST_LAYERS)
    rows: list[Spec] = []
    left = [0.0] * len(names)
    for number, each in enumerate(layers):
        label = each.label
        for index, value in enumerate(each.values):
            known = (errors or {}).get(names[index], {})
            error = TWO_SIDED_95 * known.get(label, known.get(label.replace(" ", "_"), 0.0))
            begin, end = left[index], left[index] + value
            rows.append({"y": names[index], "s": label, "value": value, "x": begin, "x2": end, "n": number})
            rows[-1] |= {"low": end - error, "high": end + error} if error else {}
            left[index] = end
    labels = [each.label for each in layers]
    series = [Series(each.label, (), each.colour) for each in layers]
    axis = {"labelLimit": LONGEST_NAME, "labelPadding": 6, "grid": False}
    y = {"field": "y", "type": "nominal", "title": None, "sort": names, "axis": axis}
    tip = [
        {"field": "y", "title": "system"},
        {"field": "s", "title": "cause"},
        show_field("value", "CPU time", SECONDS),
    ]
    shown = {"color": colour_scale(series), "opacity": FADED, "tooltip": tip}
    bars = encode_position(linear_scale("CPU time", zero=True, **DURATION), y) | {"x2": {"field": "x2"}} | shown
    drawn: list[Spec] = [
        {"mark": {"type": "bar", "height": {"band": 0.62}}, "params": [CHOSEN], "encoding": bars},
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "color": INK},
            "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}, "y": y},
        },
    ]
    has_whiskers = any("low" in row for row in rows)
    size = {"height": BAR * len(names) + 10, "left": LONGEST_NAME + 10}
    made = make_plot(title, drawn if has_whiskers else drawn[:1], labels=labels, data={"values": rows}, **size)
    yield replace(made, note=f"{about}; whiskers: 95 % of samples" if errors else about)
