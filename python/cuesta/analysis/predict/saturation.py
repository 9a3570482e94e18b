"""Saturation points by response and by meters. If these differ, the limiting station is not metered.

By response: one station fitted to response or throughput, whatever was metered. By a meter: the regression line of its
utilization on throughput (the utilization law, with an intercept for other work) reaches 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression

from cuesta.analysis.capacity.evidence import SATURATED
from cuesta.analysis.certainty import student
from cuesta.analysis.predict.band import Band, band
from cuesta.analysis.predict.candidates import has_fixed_service
from cuesta.analysis.predict.fitting import FittedModel, fit_form
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import MOST_USERS, Conditions, Point, list_paces

APART = 0.10
"""Least relative difference of two saturation points that is called a conflict."""
BELIEVED = 3.0
"""Largest ratio of the ends of the band of a saturation point that is reported."""


@dataclass(frozen=True, slots=True)
class Saturation:
    """The load that saturates a station."""

    by: str
    """Its source: `response`, the name of a metered resource, or `the model`."""
    at: Conditions
    """Configuration and pace; the number of users is that of some row."""
    users: float
    band: Band
    """The 90 % band of `users`."""
    throughput: float
    """Transactions a second at saturation."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two saturation points of one configuration that disagree."""

    response: Saturation
    meter: Saturation


def saturations_by_response(points: Sequence[Point]) -> list[Saturation]:
    """By one station fitted to all rows, for each configuration; none without a degree of freedom left.

    Rows of configurations that share a demand or a delay must be given together. Rows without a response need the
    throughput of a closed load.
    """
    timed = [point for point in points if point.response or point.by_law]
    model = fit_form(OneStation(is_fixed=has_fixed_service(timed)), timed)
    return saturations_by_model(model) if model and model.fit.freedom > 0 else []


def saturations_by_model(model: FittedModel, by: str = "response") -> list[Saturation]:
    """For each configuration and pace of the rows that a model was fitted to."""
    points = []
    for at in list_paces(point.at for point in model.points):
        users, limiting = model.saturation(at), model.limiting(at)
        if limiting is None or not limiting.demand or users > MOST_USERS:
            continue
        within = band(model, lambda each, at=at: each.saturation(at))  # type: ignore[misc]
        if within.ratio <= BELIEVED:
            points.append(Saturation(by, at, users, within, limiting.servers / limiting.demand))
    return points


def saturations_by_meters(points: Sequence[Point]) -> list[Saturation]:
    """By each meter, for each configuration."""
    saturations = []
    for configuration in dict.fromkeys(point.at.configuration for point in points):
        own = [point for point in points if point.at.configuration == configuration]
        resources = dict.fromkeys(name for point in own for name in point.utilizations)
        saturations += [each for each in (saturation_by_meter(own, resource) for resource in resources) if each]
    return saturations


def saturation_by_meter(points: Sequence[Point], resource: str) -> Saturation | None:
    """The load at which the regression line of a meter reaches 1; None without a line whose slope is positive."""
    line = fit_utilization_line(points, resource)
    if line is None:
        return None
    idle, demand, error = line
    if demand <= 0:
        return None
    at = max((point.at for point in points if resource in point.utilizations), key=lambda each: each.users)
    rate = (1 - idle) / demand
    users = rate * shortest_cycle(points, at)
    within = Band(users * math.exp(-error), users * math.exp(error))
    return (
        Saturation(resource, at, users, within, rate) if 0 < users <= MOST_USERS and within.ratio <= BELIEVED else None
    )


def shortest_cycle(points: Sequence[Point], at: Conditions) -> float:
    """Seconds of a cycle with the shortest response that was measured."""
    if at.cycle is not None:
        return at.cycle
    responses = [point.response or point.by_law for point in points]
    return at.own_time + min(max(each.value, 0.0) for each in responses if each)


def fit_utilization_line(points: Sequence[Point], resource: str) -> tuple[float, float, float] | None:
    """Intercept and slope of U on X, and the relative half-width of the 90 % interval of X at U = 1."""
    rows = [(point.rate, point.utilizations[resource].value) for point in points if resource in point.utilizations]
    pairs = [(rate, busy) for rate, busy in rows if rate and math.isfinite(busy)]
    if len(pairs) < 3 or len({rate for rate, _ in pairs}) < 3:
        return None
    demand, idle = linear_regression(*zip(*pairs, strict=True))
    freedom, middle = len(pairs) - 2, fmean(rate for rate, _ in pairs)
    squares = sum((idle + demand * rate - busy) ** 2 for rate, busy in pairs)
    error = math.sqrt(squares / freedom / sum((rate - middle) ** 2 for rate, _ in pairs))
    return idle, demand, min(student(freedom) * error / demand, 10.0) if demand > 0 else 10.0


def find_conflicts(
    responses: Sequence[Saturation], meters: Sequence[Saturation], points: Sequence[Point]
) -> list[Conflict]:
    """Configurations whose saturation points by response and by the first meter to saturate differ beyond both bands.

    A response that saturates first is no conflict where a row shows a saturated meter. Configurations that share a
    demand share its station: one conflict counts for all of them.
    """
    saturated = {
        point.at.configuration
        for point in points
        if any(busy.value >= SATURATED for busy in point.utilizations.values())
    }
    pairs = []
    for response in responses:
        own = [meter for meter in meters if meter.at.configuration == response.at.configuration]
        first = min(own, key=lambda meter: meter.throughput, default=None)
        if first and not (response.throughput < first.throughput and response.at.configuration in saturated):
            pairs.append(Conflict(response, first))
    apart_in = {each.response.at.demand for each in pairs if is_apart(each.response, each.meter)}
    return [each for each in pairs if each.response.at.demand in apart_in]


def is_apart(response: Saturation, meter: Saturation) -> bool:
    """Whether two saturation points differ by more than APART and their bands together."""
    ratio = abs(math.log(response.throughput / meter.throughput))
    widths = (
        max(math.log(point.band.high / point.users), math.log(point.users / point.band.low))
        for point in (response, meter)
    )
    return ratio > math.log1p(APART) and ratio > sum(widths)
