"""Plots as specifications: what they draw, and when there is no plot."""

import json
from pathlib import Path
from typing import Any

from cuesta.analysis.summary import summarise
from cuesta.report.model import Plot
from cuesta.report.plots.against_users import plot_sweeps
from cuesta.report.plots.causes import plot_bars
from cuesta.report.plots.distributions import plot_distributions
from cuesta.report.plots.over_time import plot_course, plot_host_causes
from cuesta.report.plots.spec import REST, stack_shares
from tests.analysis.test_causes import metered, sampled
from tests.report import made_up


def values(plot: Plot) -> list[dict[str, Any]]:
    """The rows of the first layer with data, apart from the shading."""
    layers = [layer["data"]["values"] for layer in plot.spec["layer"] if "data" in layer]
    return next(rows for rows in layers if rows != [{}])


def titles(plots: list[Plot]) -> list[str]:
    return [plot.title for plot in plots]


def test_a_host_without_samples_has_no_plot_of_causes(tmp_path: Path) -> None:
    rows = [sampled(1, user=0.0, softirq=0.0), sampled(2)]
    assert list(plot_host_causes(metered(tmp_path / "run", rows))) == []
    assert len(list(plot_host_causes(metered(tmp_path / "other", [*rows, sampled(3, user=1.0)])))) == 1


def test_a_specification_is_plain_data(tmp_path: Path) -> None:
    summary = summarise(made_up.sampled(tmp_path / "run"))
    for plot in [*plot_course(summary.recorded), *plot_distributions(summary.recorded, summary.last)]:
        assert json.loads(json.dumps(plot.spec)) == plot.spec


def test_a_histogram_counts_every_value(tmp_path: Path) -> None:
    summary = summarise(made_up.good(tmp_path / "run"))
    echo = next(iter(plot_distributions(summary.recorded, summary.last)))
    assert sum(bar["n"] for bar in values(echo)) == summary.last.echo.count
    assert abs(sum(bar["y"] for bar in values(echo)) - 100) < 1e-9


def test_the_density_over_time_counts_every_response_of_the_run(tmp_path: Path) -> None:
    summary = summarise(made_up.good(tmp_path / "run"))
    density = next(plot_course(summary.recorded))
    recorded = sum(row.histogram.count for row in summary.recorded.histogram_rows() if row.tag.series == "response")
    assert sum(cell["n"] for cell in values(density)) == recorded


def test_a_sweep_has_its_echo_against_users(tmp_path: Path) -> None:
    swept = summarise(made_up.sweep(tmp_path / "run"))
    assert titles(list(plot_sweeps(swept))) == ["Throughput against users", "Response against users"]
    assert list(plot_sweeps(summarise(made_up.good(tmp_path / "one")))) == []


def test_only_the_combined_layer_is_neutral() -> None:
    row = {f"cause {number}": 20.0 - number for number in range(7)} | {"the 2 others": 30.0}
    layers = stack_shares([row], None, 7)
    assert [layer.colour == REST for layer in layers] == [False] * 8
    layers = stack_shares([row | {"more": 0.5, "less": 0.1}], None, 7)
    assert [layer.colour == REST for layer in layers] == [*[False] * 7, True]
    assert layers[-1].label == "3 others"


def test_layers_of_bars_join_without_a_gap() -> None:
    (plot,) = plot_bars("CPU", {"a": {"user": 1.0, "system calls": 0.5}, "b": {"user": 2.0}}, "CPU time")
    rows = [(row["y"], row["s"], row["x"], row["x2"]) for row in plot.spec["data"]["values"]]
    assert ("a", "user", 0.0, 1.0) in rows
    assert ("a", "system calls", 1.0, 1.5) in rows
    assert list(plot_bars("CPU", {}, "CPU time")) == []
