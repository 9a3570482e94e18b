"""Points: of the typed tables of the seeds, and of networks that are solved exactly."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cuesta.analysis.history.table_points import read_table
from cuesta.analysis.models.network import Network
from cuesta.analysis.predict.fitting import FittedModel, fit_form
from cuesta.analysis.predict.forms.form import Form
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.quantity import Quantity
from tests.analysis.solved import solve

STUDIES = Path(__file__).parents[3] / "studies"
TMUX = STUDIES / "history" / "tmux-1993.toml"
MCS = STUDIES / "history" / "mcs-1979.toml"
EMACS = STUDIES / "emacs" / "published.toml"


def rows(file: Path, *configurations: str, most: int = 1000, think: float | None = None) -> list[Point]:
    """The points of some configurations (all if none is named) up to a number of users, at one think time or at any."""
    return [
        point
        for point in read_table(file).points
        if (not configurations or point.at.configuration in configurations)
        and point.at.users <= most
        and think in (None, point.at.think)
    ]


def exact_row(
    network: Network, at: Conditions, demands: Mapping[str, float] = MappingProxyType({}), **more: Any
) -> Point:
    """The row of a closed load, with meters of resources of these demands."""
    solved = solve(network, at.users)
    busy = {name: Quantity.exactly(demand * solved.throughput) for name, demand in demands.items()}
    rate, response = Quantity.exactly(solved.throughput), Quantity.exactly(solved.response)
    return Point(str(at.users), at, rate, response, utilizations=busy, **more)


def fitted(form: Form, points: Sequence[Point]) -> FittedModel:
    model = fit_form(form, points)
    assert model
    return model


def errors(predicted: Sequence[float], measured: Sequence[float]) -> list[float]:
    """In percent of what was measured."""
    return [100 * (a / b - 1) for a, b in zip(predicted, measured, strict=True)]


def mape(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Mean absolute error, in percent."""
    found = errors(predicted, measured)
    return sum(map(abs, found)) / len(found)
