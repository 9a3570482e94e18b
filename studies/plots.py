#!/usr/bin/env python3
"""Draws the figure of a study from a folder of searches, one for each server: `plots.py runs/limit > limits.svg`.

Left, 95 % of the keys echo within the time shown; right, 95 % of the answers are complete. Each mark is a trial that
counts: a cross if not all had a line. The dashed line is the objective of the searches.
"""

import sys
from pathlib import Path
from typing import Any

from vl_convert import vegalite_to_svg

from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.limit import Limit

FIGURES = {"echo, 95th percentile, ms": "echo", "answer, 95th percentile, ms": "response"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Those of Okabe and Ito, which all can tell apart."""


def main() -> None:
    searches = {folder.name: summarise(folder) for folder in sorted(Path(sys.argv[1]).iterdir())}
    trials = [row for name, summary in searches.items() for row in list_trials(name, summary)]
    limits = [Limit.read(str(limit)) for summary in searches.values() for limit in summary.recorded.plan["limits"]]
    objective = next((1e3 * limit.value for limit in limits if limit.figure.metric == "echo"), None)
    panels = [
        panel(title, figure, trials, objective if figure == "echo" else None) for title, figure in FIGURES.items()
    ]
    sys.stdout.write(vegalite_to_svg({"background": "white", "padding": 8, "hconcat": panels}))


def list_trials(name: str, summary: Summary) -> list[dict[str, Any]]:
    """The trials of a search that count."""
    if summary.search is None:
        sys.exit(f"plots.py: {summary.recorded.folder} is no search")
    steps = {step.step: step for step in summary.steps}
    return [
        {"server": name, "users": trial.load, "all had a line": not trial.lacked_users}
        | {name: 1e3 * p95 for name in FIGURES.values() if (p95 := getattr(steps[trial.step], name).p95) is not None}
        for trial in summary.search.counted
    ]


def panel(title: str, figure: str, trials: list[dict[str, Any]], objective: float | None) -> dict[str, Any]:
    across = {"field": "users", "type": "quantitative", "scale": {"zero": True}, "axis": {"tickCount": 5}}
    scale = {"type": "log", "nice": False}
    upwards = {"field": figure, "type": "quantitative", "title": title, "scale": scale, "axis": {"tickCount": 5}}
    names = sorted({trial["server"] for trial in trials})
    colour = {"domain": names, "range": COLOURS[: len(names)]}
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
    if objective is not None:
        layers.append({"mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": {"y": {"datum": objective}}})
    return {"width": 330, "height": 240, "data": {"values": trials}, "layer": layers}


if __name__ == "__main__":
    main()
