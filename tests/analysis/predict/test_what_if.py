"""Changes of a fitted model."""

from pathlib import Path

import pytest

from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.from_table import read_table
from cuesta.analysis.predict.prediction import predict
from cuesta.analysis.predict.what_if import changed_figures
from tests.analysis.predict.seeds import MCS, TMUX


@pytest.mark.parametrize("table", [MCS, TMUX])
def test_a_change_of_nothing_changes_nothing(table: Path) -> None:
    """Whatever form fits: a station, a bound or a paced station."""
    measurements = read_table(table)
    for name in measurements.configurations[:4]:
        points = [point for point in measurements.points if point.at.configuration == name]
        (system,) = predict(measurements, points, [point.at for point in points]).systems
        found = changed_figures(system, [point.at for point in points], [Change("", factor=1.0)])
        responses = [figure.response for figure in system.figures]
        assert [each.response.value for each in found] == pytest.approx(responses, rel=1e-6)
