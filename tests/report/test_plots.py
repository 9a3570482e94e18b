"""Plots where there is little to show."""

from pathlib import Path

from cuesta.report.plots.causes import causes_over_time
from cuesta.report.plots.svg import Plot
from tests.analysis.test_causes import metered, sampled


def test_a_host_that_was_never_sampled_at_work_has_no_plot_of_causes(tmp_path: Path) -> None:
    rows = [sampled(1, user=0.0, softirq=0.0), sampled(2)]
    assert list(causes_over_time(Plot("causes"), metered(tmp_path / "run", rows))) == []
    assert len(list(causes_over_time(Plot("causes"), metered(tmp_path / "other", [*rows, sampled(3, user=1.0)])))) == 1
