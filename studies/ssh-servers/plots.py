#!/usr/bin/env python3
"""Draws the figure of the README from the folders of the searches: `plots.py runs/limit > limits.svg`.

Left, 95 % of the keys echo within the time shown; right, 95 % of the answers are complete. Each mark is a trial that
counts: a cross if not all had a line.
"""

import sys
from pathlib import Path
from typing import Any

from vl_convert import vegalite_to_svg

from cuesta.analysis.summary import summarise

FIGURES = {"echo, 95th percentile, ms": "echo", "answer, 95th percentile, ms": "response"}
SERVERS = {"openssh": "#0072b2", "dropbear": "#d55e00", "tinysshd": "#009e73"}
LIMIT = 50


def main() -> None:
    folders = [Path(sys.argv[1]) / name for name in SERVERS]
    trials = [row for folder in folders for row in rows(folder)]
    panels = [panel(title, figure, trials) for title, figure in FIGURES.items()]
    sys.stdout.write(vegalite_to_svg({"background": "white", "padding": 8, "hconcat": panels}))


def rows(folder: Path) -> list[dict[str, Any]]:
    """The trials of a search that count."""
    summary = summarise(folder)
    if summary.search is None:
        sys.exit(f"plots.py: {folder} is no search")
    steps = {step.step: step for step in summary.steps}
    return [
        {"server": folder.name, "users": trial.load, "all had a line": not trial.lacked_users}
        | {name: 1e3 * p95 for name in FIGURES.values() if (p95 := getattr(steps[trial.step], name).p95) is not None}
        for trial in summary.search.counted
    ]


def panel(title: str, figure: str, trials: list[dict[str, Any]]) -> dict[str, Any]:
    across = {"field": "users", "type": "quantitative", "scale": {"zero": True}, "axis": {"tickCount": 5}}
    scale = {"type": "log", "nice": False}
    upwards = {"field": figure, "type": "quantitative", "title": title, "scale": scale, "axis": {"tickCount": 5}}
    colour = {"domain": list(SERVERS), "range": list(SERVERS.values())}
    encoding = {"x": across, "y": upwards, "color": {"field": "server", "scale": colour, "title": None}}
    worked = {
        "field": "all had a line",
        "scale": {"domain": [True, False], "range": ["circle", "cross"]},
        "legend": None,
    }
    median = {"x": across, "y": {**upwards, "aggregate": "median"}, "color": encoding["color"]}
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": "datum['all had a line']"}],
            "mark": {"type": "line", "strokeWidth": 1.5},
            "encoding": median,
        },
        {"mark": {"type": "point", "size": 40}, "encoding": {**encoding, "shape": worked}},
    ]
    if figure == "echo":
        rule = {"mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": {"y": {"datum": LIMIT}}}
        layers.append(rule)
    return {"width": 330, "height": 240, "data": {"values": trials}, "layer": layers}


if __name__ == "__main__":
    main()
