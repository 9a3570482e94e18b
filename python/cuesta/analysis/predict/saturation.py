"""Where a system saturates: by its response, and by its meters. If these differ, the limit is not what is metered.

By response: one station fitted to response or throughput, whatever was metered. By a meter: the line through its
utilization against throughput (the utilization law, with the busy time that no transaction causes) reaches 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression

from cuesta.analysis.capacity.evidence import SATURATED
from cuesta.analysis.certainty import student
from cuesta.analysis.predict.band import Band, band
from cuesta.analysis.predict.candidates import is_fixed
from cuesta.analysis.predict.fitting import FittedModel, fitted
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import MOST_USERS, Conditions, Point, paces

APART = 0.10
"""Least relative difference of two saturation points that is called a conflict."""
BELIEVED = 3.0
"""Largest ratio of the ends of a band that still says where saturation is."""


@dataclass(frozen=True, slots=True)
class Saturation:
    """The load at which a station is busy all the time."""

    by: str
    """`response`, the name of the metered resource, or `the model` of both."""
    at: Conditions
    """The load of the rows that it is from, with any number of users."""
    users: float
    band: Band
    """Of `users`, 90 %."""
    throughput: float
    """Transactions a second at saturation."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Response and a meter that disagree on where a configuration saturates."""

    response: Saturation
    meter: Saturation


def saturation_by_response(points: Sequence[Point]) -> list[Saturation]:
    """Where the response says that each configuration saturates; none where the rows do not tell.

    Rows of configurations that share a demand or a delay must be given together. Each needs a response, or a
    throughput of a closed load.
    """
    timed = [point for point in points if point.response or point.by_law]
    model = fitted(OneStation(is_fixed=is_fixed(timed)), timed)
    return of_model(model) if model and model.fit.freedom > 0 else []


def of_model(model: FittedModel, by: str = "response") -> list[Saturation]:
    """Where a fitted model saturates, for each configuration and think time of its rows."""
    found = []
    for at in paces(point.at for point in model.points):
        users, limiting = model.saturation(at), model.limiting(at)
        if limiting is None or not limiting.demand or users > MOST_USERS:
            continue
        within = band(model, lambda each, at=at: each.saturation(at))  # type: ignore[misc]
        if within.ratio <= BELIEVED:
            found.append(Saturation(by, at, users, within, limiting.servers / limiting.demand))
    return found


def saturation_by_meters(points: Sequence[Point]) -> list[Saturation]:
    """Where each meter says that each configuration saturates."""
    found = []
    for configuration in dict.fromkeys(point.at.configuration for point in points):
        own = [point for point in points if point.at.configuration == configuration]
        resources = dict.fromkeys(name for point in own for name in point.utilizations)
        found += [each for each in (of_meter(own, resource) for resource in resources) if each]
    return found


def of_meter(points: Sequence[Point], resource: str) -> Saturation | None:
    """The load at which a line through a meter's readings reaches 1; None if there are few, or they hardly rise."""
    line = utilization_line(points, resource)
    if line is None:
        return None
    idle, demand, error = line
    if demand <= 0:
        return None
    at = max((point.at for point in points if resource in point.utilizations), key=lambda each: each.users)
    rate = (1 - idle) / demand
    users = rate * cycle(points, at)
    within = Band(users * math.exp(-error), users * math.exp(error))
    return (
        Saturation(resource, at, users, within, rate) if 0 < users <= MOST_USERS and within.ratio <= BELIEVED else None
    )


def cycle(points: Sequence[Point], at: Conditions) -> float:
    """Seconds between the transactions of a user who hardly waits: with the shortest response that was measured."""
    if at.cycle is not None:
        return at.cycle
    responses = [point.response or point.by_law for point in points]
    return at.own + min(max(each.value, 0.0) for each in responses if each)


def utilization_line(points: Sequence[Point], resource: str) -> tuple[float, float, float] | None:
    """A meter's U₀, its demand a transaction, and the relative half-width of the 90 % interval of its rate at U = 1."""
    rows = [(point.rate, point.utilizations[resource].value) for point in points if resource in point.utilizations]
    pairs = [(rate, busy) for rate, busy in rows if rate and math.isfinite(busy)]
    if len(pairs) < 3 or len({rate for rate, _ in pairs}) < 3:
        return None
    demand, idle = linear_regression(*zip(*pairs, strict=True))
    freedom, middle = len(pairs) - 2, fmean(rate for rate, _ in pairs)
    squares = sum((idle + demand * rate - busy) ** 2 for rate, busy in pairs)
    error = math.sqrt(squares / freedom / sum((rate - middle) ** 2 for rate, _ in pairs))
    return idle, demand, min(student(freedom) * error / demand, 10.0) if demand > 0 else 10.0


def conflicts(responses: Sequence[Saturation], meters: Sequence[Saturation], points: Sequence[Point]) -> list[Conflict]:
    """Configurations whose response saturates elsewhere than the first of their meters does, beyond both bands.

    None says that the limiting station is not metered where a row shows a metered one that is busy about all the time.
    Configurations that share a demand share its station: one conflict speaks for all of them.
    """
    full = {
        point.at.configuration
        for point in points
        if any(busy.value >= SATURATED for busy in point.utilizations.values())
    }
    pairs = []
    for response in responses:
        own = [meter for meter in meters if meter.at.configuration == response.at.configuration]
        first = min(own, key=lambda meter: meter.throughput, default=None)
        if first and not (response.throughput < first.throughput and response.at.configuration in full):
            pairs.append(Conflict(response, first))
    apart_in = {each.response.at.demand for each in pairs if apart(each.response, each.meter)}
    return [each for each in pairs if each.response.at.demand in apart_in]


def apart(response: Saturation, meter: Saturation) -> bool:
    """Whether two saturation points differ by more than their bands and than rounding explains."""
    ratio = abs(math.log(response.throughput / meter.throughput))
    reach = max(math.log(response.band.high / response.users), math.log(response.users / response.band.low))
    other = max(math.log(meter.band.high / meter.users), math.log(meter.users / meter.band.low))
    return ratio > math.log1p(APART) and ratio > reach + other
