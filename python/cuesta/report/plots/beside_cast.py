"""Plots over time beside a user's recorded session: its own keys and transactions if they were logged, else those of
all users, second by second. The parameter `position` is where the session is played.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cuesta.analysis.over_time import over_time
from cuesta.ledger import Recorded
from cuesta.ledger.keys import read_keys_of
from cuesta.ledger.transactions import read_transactions
from cuesta.report.model import Plot
from cuesta.report.plots.over_time import AT, plot_quantiles, shade_measured, time_axis
from cuesta.report.plots.spec import (
    COLOURS,
    INK,
    SECONDS,
    ZOOM_X,
    Spec,
    draw,
    duration_scale,
    encode_position,
    make_plot,
    show_field,
)

LEFT = 48
"""Pixels of the labels of a vertical axis: the plots' horizontal axes stand one below the other."""
MOST_DOTS = 3000
"""Dots of a plot: of more, the longest are shown."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What took long, and when that began, in seconds from the start of the run."""

    at: float
    seconds: float
    what: str
    kind: str


@dataclass(frozen=True, slots=True)
class Course:
    """What a user waited for, or what all users did."""

    plots: Sequence[Plot]
    slowest: Sequence[Moment]
    """The longest of each kind."""
    is_of_user: bool
    """Whether they are this user's own, because the run logged them."""


def plot_beside_cast(recorded: Recorded, user: int, most: int) -> Course:
    """The course of a run beside the session of `user`, and at most `most` moments in which it was slow."""
    logged = {
        "Keystroke echo": [
            Moment(key.due, key.shown - key.due, "a key", "echo") for key in read_keys_of(user, recorded)
        ],
        "Response": [
            Moment(each.due, each.done - each.due, each.name, "response")
            for each in read_transactions(recorded)
            if each.user == user
        ],
    }
    of_user = {title: moments for title, moments in logged.items() if moments}
    if of_user:
        plots = [_plot_dots(f"{title} of user {user}", recorded, moments) for title, moments in of_user.items()]
        moments = [moment for each in of_user.values() for moment in each]
    else:
        plots, moments = list(_plot_all(recorded)), list(_list_seconds(recorded))
    return Course([_with_position(plot) for plot in plots], _choose_slowest(moments, most), is_of_user=bool(of_user))


def _choose_slowest(moments: Sequence[Moment], most: int) -> list[Moment]:
    """The longest of each kind, keys first, because responses are longer than any echo."""
    kinds = list(dict.fromkeys(moment.kind for moment in moments))
    longest = {
        kind: sorted((each for each in moments if each.kind == kind), key=lambda each: -each.seconds) for kind in kinds
    }
    return [moment for kind in kinds for moment in longest[kind][: most // len(kinds)]]


def _plot_dots(title: str, recorded: Recorded, moments: Sequence[Moment]) -> Plot:
    longest = sorted(moments, key=lambda moment: -moment.seconds)[:MOST_DOTS]
    rows = [{"x": round(each.at, 4), "y": each.seconds, "what": each.what} for each in longest]
    tip = [{"field": "x", **AT}, show_field("y", "took", SECONDS), {"field": "what", "title": "what"}]
    y = duration_scale("since due", [each.seconds for each in longest])
    encoding = encode_position(time_axis(recorded).axis, y) | {"tooltip": tip}
    mark = {"type": "point", "filled": True, "size": 36, "opacity": 0.75, "color": COLOURS[0]}
    dots = draw(rows, mark, encoding, params=[ZOOM_X])
    plot = make_plot(title, [*shade_measured(recorded), dots])
    left_out = len(moments) - len(longest)
    return replace(plot, note=f"{left_out} shorter ones are not shown") if left_out else plot


def _plot_all(recorded: Recorded) -> Iterator[Plot]:
    points = over_time(recorded)
    yield from plot_quantiles(recorded, points, "echo", "Keystroke echo of all users over time")
    yield from plot_quantiles(recorded, points, "response", "Response of all users over time")


def _list_seconds(recorded: Recorded) -> Iterator[Moment]:
    """The p99 of each second."""
    for point in over_time(recorded):
        for series in ("echo", "response"):
            if series in point.p99:
                yield Moment(max(point.at - 0.5, 0.0), point.p99[series], f"p99 {series}", series)


def _with_position(plot: Plot) -> Plot:
    """With a line at the position of the player."""
    encoding = {"x": {"datum": {"expr": "position"}, "type": "quantitative"}}
    line = draw([{}], {"type": "rule", "color": INK, "strokeWidth": 2, "strokeDash": [4, 3]}, encoding)
    for layer in plot.spec["layer"]:
        if axis := layer["encoding"].get("y", {}).get("axis"):
            layer["encoding"]["y"]["axis"] = {**axis, "minExtent": LEFT}
    spec: Spec = {**plot.spec, "params": [{"name": "position", "value": 0}], "layer": [*plot.spec["layer"], line]}
    return replace(plot, spec=spec)
