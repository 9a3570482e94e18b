"""The forms that are fitted to rows: one station, the metered stations, mere curves, and known parts without a fit.

Services are exponential unless a plan or a table says that they are fixed, or the responses of a single user do, who
never waits, so that they vary as the services do.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cuesta.analysis.predict.fitting import fit_form
from cuesta.analysis.predict.forms.asymptote import Asymptote
from cuesta.analysis.predict.forms.curves import EXPONENTIAL, POWER
from cuesta.analysis.predict.forms.form import Form
from cuesta.analysis.predict.forms.known import KnownDelay
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.scalability import Scalability
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.meters import derive_stations
from cuesta.analysis.predict.points import Point

SPREAD = 0.25
"""Largest p95 − p50 of the responses of one user at fixed services, as a share of the fitted demand.

Exponential services have 2.3, and normal ones 0.25 if their coefficient of variation is 0.15.
"""


def list_candidates(points: Sequence[Point]) -> Iterator[Form]:
    """The forms to fit, preferred ones first."""
    stations, fixed = dict(derive_stations(points)), has_fixed_service(points)
    for name, own in stations.items():
        if fixed and [station.servers for station in own] == [1]:  # theory knows no other
            stations[name] = [replace(own[0], is_fixed=True)]
    yield OneStation(is_fixed=fixed)
    if points and all(stations.get(point.at.demand) for point in points):
        counts = {int(station.servers) for station in stations[points[0].at.demand] if 1 < station.servers < math.inf}
        yield from map(OneStation, sorted(counts))
        yield Metered(stations)
    yield from (Asymptote(), POWER, EXPONENTIAL, Scalability(), KnownDelay())


def has_fixed_service(points: Sequence[Point]) -> bool:
    """Whether all services of the rows are known to be fixed."""
    if all(point.is_fixed for point in points):
        return bool(points)
    alone = [point for point in points if point.at.users == 1 and {"p50", "p95"} <= point.percentiles.keys()]
    if {point.at.demand for point in alone} != {point.at.demand for point in points}:
        return False
    model = fit_form(OneStation(is_fixed=True), points)
    for point in alone:
        limiting = model.limiting(point.at) if model else None
        if limiting is None or point.percentiles["p95"] - point.percentiles["p50"] > SPREAD * limiting.demand:
            return False
    return True
