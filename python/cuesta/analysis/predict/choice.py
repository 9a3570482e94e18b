"""Model selection: fits all forms to rows, and takes the best supported one, a queueing model before a mere curve.

By Akaike's corrected criterion (AICc), models up to 10 above the least still have some support (K. P. Burnham and
D. R. Anderson, Model Selection and Multimodel Inference, 2002, §2.6); where these disagree, nothing is reported. With
too few rows for AICc, all models with about the least error are supported, and the choice is a queueing model even if
a curve fits better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.least_squares import Fit
from cuesta.analysis.predict.candidates import list_candidates
from cuesta.analysis.predict.fitting import FittedModel, Parameters, fit_form
from cuesta.analysis.predict.forms.known import KnownDelay
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import Point

SUPPORTED = 10.0
"""Largest difference from the least AICc at which a model still has support."""
ALIKE = 2.0
"""Ratio of the errors of models that fit about equally well, where there are too few rows for AICc."""
ADEQUATE = 0.05
"""Largest relative error of a usable model that has a degree of freedom left to check it."""
EXACT = 1e-6
"""Root mean square error, as a share or in seconds, of an exact fit."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The models that were fitted to the same rows."""

    best: FittedModel
    others: Sequence[FittedModel]
    """Other supported models, the best of them first."""
    rejected: Sequence[FittedModel]
    """Models without support."""

    @property
    def supported(self) -> list[FittedModel]:
        return [self.best, *self.others]


def choose_model(points: Sequence[Point]) -> Choice | None:
    """Fit all forms; None if there are fewer rows than any of them needs."""
    models = [model for form in list_candidates(points) if (model := fit_form(form, points))]
    if not models:
        return None
    if has_criterion(models[0]):
        supported = rank_by_criterion(models)
        best = prefer_stations(supported)
    else:
        supported, best = select_by_error(models), prefer_stations(select_checkable(models))
    others = [model for model in supported if model is not best]
    return Choice(best, others, [model for model in models if model not in (best, *supported)])


def has_criterion(model: FittedModel) -> bool:
    return math.isfinite(model.aicc)


def rank_by_criterion(models: Sequence[FittedModel]) -> list[FittedModel]:
    ranked = sorted(filter(has_criterion, models), key=lambda model: model.aicc)
    return [model for model in ranked if model.aicc - ranked[0].aicc <= SUPPORTED]


def select_by_error(models: Sequence[FittedModel]) -> list[FittedModel]:
    """The models with about the least error, in the order of the forms."""
    checkable = select_checkable(models)
    least = min(map(rms_error, checkable))
    return [model for model in checkable if rms_error(model) <= max(EXACT, ALIKE * least)]


def select_checkable(models: Sequence[FittedModel]) -> Sequence[FittedModel]:
    """The models with degrees of freedom left, if one station or an adequate model is among them; else all.

    A model with as many parameters as rows fits any rows, so its error tells nothing.
    """
    free = [model for model in models if model.fit.freedom > 0]
    is_checked = models[0].fit.freedom > 0 or any(rms_error(model) <= ADEQUATE * model.residual_scale for model in free)
    return free if is_checked else models


def choose_known() -> Choice:
    """The model of known parts alone, without a fit."""
    return Choice(FittedModel(KnownDelay(), Parameters((), (), 0), [], Fit([], []), []), [], [])


def prefer_stations(supported: Sequence[FittedModel]) -> FittedModel:
    """The first queueing model; if there is none, the first of any kind."""
    stations = (model for model in supported if isinstance(model.form, OneStation | Metered))
    return next(stations, supported[0])


def rms_error(model: FittedModel) -> float:
    return math.sqrt(model.fit.squares / model.fit.rows)
