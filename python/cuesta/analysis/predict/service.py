"""Whether each service is known to take the same time: then users wait half as long as at exponential services.

A plan or a table may say so. So do the responses of a user alone, who never waits: they vary as the services do.
"""

from collections.abc import Sequence

from cuesta.analysis.predict.fitting import FittedModel, fitted
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import Point

SPREAD = 0.25
"""The largest p95 − p50 of the responses of one user, as a share of the fitted demand, that is of fixed services.

Exponential ones have 2.3, and normal ones 0.25 if their coefficient of variation is 0.15.
"""


def is_fixed(points: Sequence[Point]) -> bool:
    """Whether all stations of the rows are known to have fixed services."""
    if all(point.is_fixed for point in points):
        return bool(points)
    alone = [point for point in points if point.at.users == 1 and {"p50", "p95"} <= point.percentiles.keys()]
    if {point.at.demand for point in alone} != {point.at.demand for point in points}:
        return False
    model = fitted(OneStation(is_fixed=True), points)
    return model is not None and all(is_even(point, model) for point in alone)


def is_even(alone: Point, model: FittedModel) -> bool:
    """Whether the responses of one user vary by no more than fixed services do."""
    limiting = model.limiting(alone.at)
    spread = alone.percentiles["p95"] - alone.percentiles["p50"]
    return limiting is not None and spread <= SPREAD * limiting.demand
