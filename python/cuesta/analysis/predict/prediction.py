"""Predicts other loads with their uncertainty, or says why a figure is withheld."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuesta.analysis.predict.band import Band, response_band
from cuesta.analysis.predict.choice import Choice, choose_known, choose_model
from cuesta.analysis.predict.fitting import FittedModel, error_beyond_bounds, relative_error, throughput
from cuesta.analysis.predict.held_out import HeldOut, compute_held_out, split_by_load
from cuesta.analysis.predict.meters import reject_impossible_meters
from cuesta.analysis.predict.points import Conditions, Measurements, Point, pool_rows
from cuesta.analysis.predict.saturation import (
    Conflict,
    Saturation,
    find_conflicts,
    saturations_by_meters,
    saturations_by_model,
    saturations_by_response,
)
from cuesta.errors import RefusedError

MARGIN = 0.10
"""Default of the largest relative difference between forms that agree, and of an adequate model from rows."""
WIDEST = 2.5
"""Largest ratio of the ends of a band that is reported."""
UNCHECKED = "no degree of freedom is left to check the model, and this load is outside of what was measured"
HEAVIEST = "the model is off the rows with the highest load by up to {error:.0f} %, over the margin of {margin:g} %"
INEXACT = "the held-out error is {error:.0f} %, over the margin of {margin:g} %"
BY_MODEL = "the model"
"""Source of a saturation point that neither response nor a meter shows: the model only."""
TOO_WIDE = "its 90 % band is too wide"
DISPUTED = "forms that fit equally well disagree"
REMEDY = "measure more numbers of users, or meter the host: its utilization gives the demand"


@dataclass(frozen=True, slots=True)
class Figure:
    at: Conditions
    response: float
    """Mean seconds."""
    response_band: Band
    throughput: float
    """Transactions a second."""
    throughput_band: Band
    bound: float | None
    """The asymptotic bound of throughput; None for paced loads and mere curves."""
    forms: Mapping[str, float]
    """The response by each other supported form."""
    spread: Band
    """Of the response, over all supported forms as fitted to all rows."""
    measured: Point | None
    """The row with this load; means of several."""
    is_fitted: bool
    """Whether the model was fitted to that row."""
    is_outside: bool
    """Whether the load is outside the range of all measured rows."""
    not_reported: str
    """Why it is withheld; empty if it is not."""

    @property
    def is_disputed(self) -> bool:
        return self.not_reported == DISPUTED

    @property
    def is_response_too_wide(self) -> bool:
        """Whether the band of the response is too wide, though perhaps not that of the throughput."""
        is_timed = self.measured is not None and self.measured.response is not None
        return not is_timed and self.response_band.ratio > WIDEST

    @property
    def error(self) -> float | None:
        """The relative error: of throughput for closed loads, else of response; None if not measured."""
        return None if self.measured is None else relative_error(self.measured, self.response)


@dataclass(frozen=True, slots=True, eq=False)
class SystemPrediction:
    """The predictions of configurations that were fitted together. Compared by identity, so that it can be a key."""

    points: Sequence[Point]
    """All rows."""
    choice: Choice
    """By the rows that the question lets be fitted."""
    whole: Choice
    """By all rows."""
    margin: float
    """As MARGIN."""
    held_out: HeldOut | None
    saturations: Sequence[Saturation] = ()
    conflicts: Sequence[Conflict] = ()
    figures: Sequence[Figure] = ()

    @property
    def model(self) -> FittedModel:
        return self.choice.best

    @property
    def loads(self) -> list[Conditions]:
        return [figure.at for figure in self.figures]

    def why_inadequate(self, at: Conditions, is_outside: bool) -> str:
        """Why the model is not used for a load that was not measured; empty if it is.

        Its error must lie within the margin at the configuration's rows with the highest load and, for an
        extrapolation, at held-out rows.
        """
        own = [point for point in self.points if point.at.configuration == at.configuration]
        heavy = [point for point in split_by_load(own)[1] if self.model.covers(point.at)]
        worst = max((abs(error_beyond_bounds(each, self.model.response(each.at))) for each in heavy), default=0.0)
        if worst > self.margin:
            return HEAVIEST.format(error=100 * worst, margin=100 * self.margin)
        if not is_outside:
            return ""
        if self.held_out is None or self.model.fit.freedom < 1:
            return UNCHECKED
        if self.held_out.mape > self.margin:
            return INEXACT.format(error=100 * self.held_out.mape, margin=100 * self.margin)
        return ""

    def why_unchecked(self, at: Conditions, users: float) -> str:
        """Why a number of users that the model gives is withheld; empty if it is not."""
        measured = max(point.at.users for point in self.points if point.at.configuration == at.configuration)
        return self.why_inadequate(at, is_outside=users > measured)


@dataclass(frozen=True, slots=True)
class Prediction:
    measurements: Measurements
    systems: Sequence[SystemPrediction]
    notes: Sequence[str] = field(default=())
    """Rows and meters that were not used, and why."""
    refused: Sequence[str] = field(default=())
    """Configurations that were asked, and for which no model can be fitted, a sentence each."""

    @property
    def not_reported(self) -> list[Figure]:
        return [figure for system in self.systems for figure in system.figures if figure.not_reported]

    @property
    def conflicts(self) -> list[Conflict]:
        return [conflict for system in self.systems for conflict in system.conflicts]


def predict(
    measurements: Measurements,
    fit: Sequence[Point],
    asked: Sequence[Conditions],
    margin: float = MARGIN,
) -> Prediction:
    """Fit the rows `fit`, and predict the loads `asked`; without rows, by known delays alone.

    Raises RefusedError if there are too few rows for any model.
    """
    points, notes = reject_impossible_meters(measurements.points)
    chosen = [point for point, measured in zip(points, measurements.points, strict=True) if measured in fit]
    systems, refused = list[SystemPrediction](), list[str]()
    known = [point for point in points if point.at.known_delay is not None]
    for group in group_by_shared_parameters(points) if fit else [known]:
        fitted = [point for point in group if point in chosen]
        loads = [at for at in asked if at.configuration in {point.at.configuration for point in group}]
        choice = choose_model(fitted) if fit else choose_known()
        if choice and loads:
            systems.append(predict_system(group, choice, loads, margin))
        elif loads:
            refused.append(f"{describe_rows(group, fitted)}: no model can be fitted to so little")
    if not systems:
        left_out = [f"{len(measurements.notes)} left out: {each}" for each in measurements.notes[:1]]
        raise RefusedError("; ".join([*(refused or ["no rows can be fitted"]), *left_out]), REMEDY)
    return Prediction(measurements, systems, [*measurements.notes, *notes], refused)


def group_by_shared_parameters(points: Sequence[Point]) -> list[list[Point]]:
    """Connected components of rows that share a demand or a delay."""
    groups: list[tuple[set[str], list[Point]]] = []
    for point in points:
        names = {f"demand {point.at.demand}", *(f"delay {name}" for name in point.at.delays)}
        joined = [group for group in groups if group[0] & names]
        members = [each for group in joined for each in group[1]]
        groups = [group for group in groups if group not in joined]
        groups.append((names.union(*(group[0] for group in joined)), [*members, point]))
    return [members for _, members in groups]


def predict_system(
    points: Sequence[Point], choice: Choice, asked: Sequence[Conditions], margin: float
) -> SystemPrediction:
    fit = choice.best.points
    whole = choice if len(fit) in (0, len(points)) else choose_model(points) or choice
    system = SystemPrediction(points, choice, whole, margin, compute_held_out(choice, points))
    by_response, by_meters = saturations_by_response(points), saturations_by_meters(points)
    by_model = saturations_by_model(choice.best, by=BY_MODEL) if fit and not by_response else []
    reported = select_reported(system, by_response)
    saturations = [*reported, *select_reported(system, by_model), *by_meters]
    system = replace(system, saturations=saturations, conflicts=find_conflicts(reported, by_meters, points))
    return replace(system, figures=[predict_load(system, at) for at in asked if choice.best.covers(at)])


def select_reported(system: SystemPrediction, saturations: Sequence[Saturation]) -> list[Saturation]:
    return [each for each in saturations if not system.why_unchecked(each.at, each.users)]


def describe_rows(points: Sequence[Point], fit: Sequence[Point]) -> str:
    names = ", ".join(filter(None, dict.fromkeys(point.at.configuration for point in points)))
    rows = f"{len(fit)} {'row' if len(fit) == 1 else 'rows'} to fit"
    return f"{names}: {rows}" if names else rows


def predict_load(system: SystemPrediction, at: Conditions) -> Figure:
    model, rows = system.model, [point for point in system.points if point.at == at]
    network, response, within = model.network(at), model.response(at), response_band(model, at)
    every = [each.response(at) for each in system.whole.supported if each.covers(at)] or [response]
    figure = Figure(
        at=at,
        response=response,
        response_band=within,
        throughput=throughput(at, response),
        throughput_band=Band(throughput(at, within.high), throughput(at, within.low)),
        bound=network.throughput_bound(at.users) if network and not at.is_paced else None,
        forms={each.form.name: each.response(at) for each in system.choice.others if each.covers(at)},
        spread=Band(min(every), max(every)),
        measured=pool_rows(rows) if rows else None,
        is_fitted=any(point.at == at for point in model.points),
        is_outside=is_outside(at, system.points),
        not_reported="",
    )
    return replace(figure, not_reported=why_withheld(system, figure))


def why_withheld(system: SystemPrediction, figure: Figure) -> str:
    """Why a figure is withheld; empty if it is not. That of a measured load is a test of the model, and shown."""
    if not math.isfinite(figure.response) or not math.isfinite(figure.throughput):
        return "the model has no steady state there"
    is_measured = figure.measured is not None
    if is_measured and system.model.fit.freedom != 1 and figure.throughput_band.ratio < math.inf:
        return ""
    if not is_measured and (why := system.why_inadequate(figure.at, figure.is_outside)):
        return why
    decisive = figure.response_band if figure.at.is_paced else figure.throughput_band
    if decisive.ratio > WIDEST:
        return TOO_WIDE
    if not is_measured and figure.spread.ratio > 1 + system.margin:
        return DISPUTED
    return ""


def is_outside(at: Conditions, points: Sequence[Point]) -> bool:
    """Whether a load extrapolates: users or Z + K beyond those of all rows of the configuration."""
    own = [point.at for point in points if point.at.configuration == at.configuration]
    users, own_times = [row.users for row in own], [row.own_time for row in own]
    low, high = min(own_times) - 0.1 * max(own_times), 1.1 * max(own_times)
    return not (min(users) <= at.users <= max(users) and low <= at.own_time <= high)


def remark_on_laws(figure: Figure, model: FittedModel) -> Iterator[str]:
    """What operational laws say of a measured row that the model misses."""
    observed = figure.measured
    law = observed.by_law if observed else None
    if observed is None or law is None or observed.response is not None:
        return
    known = figure.at.known_delay
    if known and law.value < known:
        yield f"R = N/X − Z is {law.value:.2f} s, below the {known:.2f} s that are known to pass on the line"
    if (
        figure.error
        and abs(figure.error) > 2 * MARGIN
        and model.limiting(figure.at)
        and (think := effective_think(model, observed))
    ):
        yield f"as if users thought {think:.1f} s instead of {figure.at.own_time:.2g} s"


def effective_think(model: FittedModel, observed: Point) -> float | None:
    """The think time at which the model gives the observed throughput; None if none does."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to load

    assert observed.throughput
    rate = observed.throughput.value

    def miss(think: float) -> float:
        return model.throughput(replace(observed.at, think=think, keying=0.0)) / rate - 1

    return float(brentq(miss, 0.0, observed.at.users / rate)) if miss(0.0) > 0 else None
