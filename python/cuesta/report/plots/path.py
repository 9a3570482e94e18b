"""Where the time of followed keys goes: a bar for each percentile, one slow key hop by hop, and a map of the tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from cuesta.analysis.path.followed_key import WORKER, WRITERS
from cuesta.analysis.path.phrases import LABELS, label_hop
from cuesta.figures.path import ChainedHop, PathBand, PathHop, PathPart, SlowKey
from cuesta.report.model import Plot
from cuesta.report.plots.over_time import MOST_LAYERS
from cuesta.report.plots.spec import (
    CHOSEN,
    COLOURS,
    DURATION,
    FADED,
    INK,
    NUMBER,
    REST,
    SECONDS,
    SHADE,
    Series,
    Spec,
    colour_scale,
    draw,
    encode_position,
    linear_scale,
    make_plot,
    show_field,
    stack_shares,
)
from cuesta.units import many, seconds

BAR = 34
"""Pixels of height of a percentile's bar."""
ROW = 17
"""Pixels of height of a hop in the plot of one key."""
NAMES = 190
"""Pixels of the names of hops."""
BOX, LINE, BOX_WIDTH = 26, 15, 108
"""Pixels of a task's box on the map: its height, that of a line of text beside the way to it, its width."""
MOST_WRITTEN = 2
"""Hops that are written beside a box, and beside a way."""
TINY = 0.002
"""Share of all below which a hop is not on the map."""
WORKER_QUEUE = "worker_queue"
SHOWN = (50.0, 90.0, 99.0)
"""Percentiles that have a bar."""
WAITS = (WORKER_QUEUE, "waking", "run_queue")
"""Hops before a task runs, which stand beside the way to its box."""
FEWEST_HOPS = 2


def plot_path(path: PathPart) -> Iterator[Plot]:
    """Nothing without keys. A kind of hop has one colour in all plots."""
    shown = [band for band in path.bands if band.percentile in SHOWN]
    if not (shown and path.slow_key):
        return
    order = order_kinds([sum_kinds(band.parts) for band in shown] + [sum_kinds(path.slow_key.hops)])
    yield plot_bands(shown, order)
    yield plot_slow_key(path.slow_key, order)
    if len(path.chain) >= FEWEST_HOPS:
        yield draw_map(path)


def plot_bands(bands: Sequence[PathBand], order: Sequence[str]) -> Plot:
    """A bar for the keys around each percentile: what part of the echo each kind of hop is."""
    sums = [sum_kinds(band.parts) for band in bands]
    names = [f"p{band.percentile:g}: {seconds(band.seconds)}" for band in bands]
    made = plot_stacks("What makes slow keys slow", names, sums, order, are_shares=True)
    return replace(made, note=f"keys around each percentile of the echo: {', '.join(count_keys(bands))}")


def plot_steps(bands: Mapping[str, PathBand]) -> Plot:
    """A bar for each step of a sweep, by name: the time of each kind of hop in the keys around a percentile."""
    sums = [sum_kinds(band.parts) for band in bands.values()]
    made = plot_stacks("What slow keys wait for, by step", list(bands), sums, order_kinds(sums), are_shares=False)
    return replace(made, note="keys around the 95th percentile of the echo, means")


def plot_stacks(
    title: str, names: Sequence[str], sums: Sequence[dict[str, float]], order: Sequence[str], *, are_shares: bool
) -> Plot:
    """Horizontal bars of kinds of hops, in seconds or in percent of each bar."""
    layers = stack_shares([rename(kinds) for kinds in sums], [LABELS[kind] for kind in order], MOST_LAYERS)
    rows: list[Spec] = []
    left = [0.0] * len(names)
    for layer in layers:
        for index, value in enumerate(layer.values):
            share = 100 * max(value, 0.0) / (sum(max(each, 0.0) for each in sums[index].values()) or 1.0)
            width = share if are_shares else max(value, 0.0)
            row = {"y": names[index], "s": layer.label, "value": value, "share": share}
            rows.append({**row, "x": left[index], "x2": left[index] + width})
            left[index] += width
    tip = [{"field": "y", "title": "keys"}, {"field": "s", "title": "hop"}]
    tip += [show_field("value", "time", SECONDS), show_field("share", "%", NUMBER)]
    x = linear_scale("% of the echo", zero=True) if are_shares else linear_scale("echo", zero=True, **DURATION)
    series = [Series(layer.label, (), layer.colour) for layer in layers]
    encoding = encode_position(x, name_rows(names)) | {"x2": {"field": "x2"}}
    encoding |= {"color": colour_scale(series), "opacity": FADED, "tooltip": tip}
    bars = draw(rows, {"type": "bar", "height": {"band": 0.62}}, encoding, params=[CHOSEN])
    labels = [layer.label for layer in layers]
    return make_plot(title, [bars], labels=labels, left=120, height=BAR * len(names) + 10)


def name_rows(names: Sequence[str]) -> Spec:
    """The vertical axis of bars with names, in order."""
    axis = {"labelLimit": NAMES, "labelPadding": 6, "grid": False, "labelOverlap": False}
    return {"type": "nominal", "title": None, "sort": list(names), "axis": axis}


def count_keys(bands: Iterable[PathBand]) -> Iterator[str]:
    yield from (f"p{band.percentile:g} {many(band.keys, 'key')}" for band in bands)


def sum_kinds(parts: Iterable[PathHop]) -> dict[str, float]:
    """Seconds by kind of hop."""
    sums = dict[str, float]()
    for part in parts:
        sums[part.kind] = sums.get(part.kind, 0.0) + part.seconds
    return sums


def rename(kinds: dict[str, float]) -> dict[str, float]:
    return {LABELS.get(kind, kind): value for kind, value in kinds.items()}


def order_kinds(sums: Sequence[dict[str, float]]) -> list[str]:
    """The kinds that are largest somewhere, in the order of a key's way, then the others."""
    shares = [{kind: value / (sum(kinds.values()) or 1.0) for kind, value in kinds.items()} for kinds in sums]
    most = {kind: max(each.get(kind, 0.0) for each in shares) for kind in LABELS}
    largest = sorted((kind for kind in most if most[kind] > 0), key=lambda kind: -most[kind])
    own, rest = largest[:MOST_LAYERS], largest[MOST_LAYERS:]
    return [*(kind for kind in LABELS if kind in own), *rest]


def plot_slow_key(key: SlowKey, order: Sequence[str]) -> Plot:
    """One key, hop by hop: when each began and how long it took."""
    rows: list[Spec] = [
        {
            # Names are made unique by blanks, which do not show: a task may have a hop twice.
            "y": label_hop(hop.kind, hop.task) + " " * number,
            "s": LABELS.get(hop.kind, hop.kind),
            "x": hop.begin or 0.0,
            "x2": (hop.begin or 0.0) + hop.seconds,
            "value": hop.seconds,
        }
        for number, hop in enumerate(key.hops)
    ]
    tip = [{"field": "y", "title": "hop"}, show_field("x", "after", SECONDS), show_field("value", "time", SECONDS)]
    series = [
        Series(LABELS[kind], (), COLOURS[place] if place < MOST_LAYERS else REST) for place, kind in enumerate(order)
    ]
    y = name_rows([row["y"] for row in rows])
    encoding = encode_position(linear_scale("since the key arrived at the host", zero=True, **DURATION), y)
    encoding |= {"x2": {"field": "x2"}, "color": colour_scale(series) | {"legend": None}, "tooltip": tip}
    bars = draw(rows, {"type": "bar", "height": {"band": 0.72}, "minBandSize": 1}, encoding)
    title = f"One slow key, hop by hop: {seconds(key.seconds)}"
    made = make_plot(title, [bars], height=ROW * len(rows) + 10)
    return replace(made, note=f"user {key.user} of {key.group}, {seconds(key.at)} after the start of the run")


def draw_map(path: PathPart) -> Plot:
    """The tasks that most keys pass, one below another, with the mean times within them and between."""
    boxes, ways = lay_out_map(path.chain)
    down: Spec = {"type": "quantitative", "axis": None, "scale": {"domain": [boxes[-1]["bottom"], 0], "nice": False}}
    middle = {"y": {"field": "y", **down}, "x": {"value": 0}}
    span = {"y": {"field": "top", **down}, "y2": {"field": "bottom"}}
    centre = {"x": {"value": BOX_WIDTH / 2}}
    text: Spec = {"type": "text", "align": "left", "baseline": "middle", "fontSize": 12, "color": INK}
    beside = text | {"dx": BOX_WIDTH / 2 + 12, "color": "var(--faint)", "fontSize": 11}
    box: Spec = {"type": "rect", "color": SHADE, "stroke": "var(--faint)", "cornerRadius": 4}
    line: Spec = {"type": "rule", "color": INK, "opacity": 0.6}
    tip = [{"field": "name", "title": "task"}, {"field": "text", "title": "mean times"}]
    arrow: Spec = line | {"type": "point", "shape": "triangle-down", "filled": True, "size": 40}
    lines = [{"text": each, "y": y} for way in ways for each, y in zip(way["lines"], way["ys"], strict=True)]
    layers = [
        draw(boxes, box, span | {"x": {"value": 0}, "x2": {"value": BOX_WIDTH}, "tooltip": tip}),
        draw(boxes, text | {"dx": 8, "fontWeight": "bold", "limit": BOX_WIDTH - 14}, middle | show_text("name")),
        draw(boxes, text | {"dx": BOX_WIDTH + 10}, middle | show_text("text")),
        draw(ways, line, span | centre),
        draw(ways, arrow, {"y": {"field": "bottom", **down}} | centre),
        draw(lines, beside, middle | show_text("text")),
    ]
    made = make_plot("The way of a key through the host", layers, height=boxes[-1]["bottom"] + 4)
    return replace(made, note=f"mean times of the {many(path.chain_keys, 'key')} that have this chain of tasks")


def show_text(field: str) -> Spec:
    return {"text": {"field": field, "type": "nominal"}}


def lay_out_map(chain: Sequence[ChainedHop]) -> tuple[list[Spec], list[Spec]]:
    """Boxes of the tasks, between two of the client, and the ways between them, with their places in pixels."""
    boxes, ways, top = list[Spec](), list[Spec](), 0
    for name, inside, before in list_stops(chain):
        if boxes:
            ys = [top + LINE * (number + 1) for number in range(len(before))]
            bottom = top + LINE * (max(len(before), 1) + 1)
            ways.append({"lines": before, "ys": ys, "top": top, "bottom": bottom - 4})
            top = bottom
        boxes.append({"name": name, "text": ", ".join(inside), "top": top, "bottom": top + BOX, "y": top + BOX / 2})
        top += BOX
    return boxes, ways


def list_stops(chain: Sequence[ChainedHop]) -> Iterator[tuple[str, list[str], list[str]]]:
    """The tasks of a chain: the name of each, its own hops, and those on the way to it; workers are of the way."""
    yield "client", [], []
    way = dict[str, float]()
    for _, visit in groupby(chain, key=lambda hop: hop.visit):
        hops = list(visit)
        is_stop = hops[0].task not in ("", WORKER) and any(hop.kind not in WRITERS for hop in hops)
        inside = dict[str, float]()
        for hop in hops:
            kind = WORKER_QUEUE if hop.task == WORKER else hop.kind
            place = inside if is_stop and kind not in WAITS else way
            place[kind] = place.get(kind, 0.0) + hop.mean
        if is_stop:
            yield hops[0].task, write_hops(inside, chain), write_hops(way, chain)
            way = {}
    yield "client", [], write_hops(way, chain)


def write_hops(kinds: dict[str, float], chain: Sequence[ChainedHop]) -> list[str]:
    """The largest hops, as `waiting for a CPU 77.0 µs`."""
    whole = sum(hop.mean for hop in chain)
    known = {kind: value for kind, value in kinds.items() if value > TINY * whole or value == max(kinds.values())}
    largest = sorted(known, key=lambda kind: -known[kind])[:MOST_WRITTEN]
    return [f"{LABELS[kind]} {seconds(value)}" for kind, value in known.items() if kind in largest]
