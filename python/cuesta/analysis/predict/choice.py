"""Fits all forms to rows, and takes the simplest adequate one.

Forms whose corrected criterion of Akaike is up to 10 above the least still have some support (K. P. Burnham and
D. R. Anderson, Model Selection and Multimodel Inference, 2002, §2.6): the rows do not tell them apart, so where they
disagree nothing can be reported. Of these, one that stands for stations is preferred, because theory supports it too.
With too few rows there is no criterion; then all forms that meet the rows about as well are supported, and one that
stands for stations even if another meets them better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.least_squares import Fit
from cuesta.analysis.predict.candidates import forms_for
from cuesta.analysis.predict.fitting import FittedModel, Parameters, fitted
from cuesta.analysis.predict.forms.known import KnownDelay
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import Point

SUPPORTED = 10.0
"""How far above the least criterion a form still has support."""
ALIKE = 2.0
"""Ratio of the errors of forms that fit about equally well, where rows are too few for a criterion."""
ADEQUATE = 0.05
"""Largest relative error at which a form is good enough to be used, if it has a degree of freedom left to check it."""
EXACT = 1e-6
"""Root mean square error, as a share or in seconds, of a form that meets its rows."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The forms that were fitted to the same rows."""

    best: FittedModel
    others: Sequence[FittedModel]
    """Other forms that the rows support as well, the best of them first."""
    rejected: Sequence[FittedModel]
    """Forms that fit clearly worse."""

    @property
    def supported(self) -> list[FittedModel]:
        return [self.best, *self.others]


def choose(points: Sequence[Point]) -> Choice | None:
    """Fit all forms; None if there are fewer rows than any of them needs."""
    found = [model for model in (fitted(form, points) for form in forms_for(points)) if model]
    if not found:
        return None
    is_known = is_judged(found[0])
    supported = by_criterion(found) if is_known else by_error(found)
    best = preferred(supported if is_known else comparable(found))
    others = [model for model in supported if model is not best]
    return Choice(best, others, [model for model in found if model not in (best, *supported)])


def is_judged(model: FittedModel) -> bool:
    """Whether there are rows enough for the criterion of a model."""
    return math.isfinite(model.information)


def by_criterion(found: Sequence[FittedModel]) -> list[FittedModel]:
    """The models with support, the best first."""
    ranked = sorted(filter(is_judged, found), key=lambda model: model.information)
    return [model for model in ranked if model.information - ranked[0].information <= SUPPORTED]


def by_error(found: Sequence[FittedModel]) -> list[FittedModel]:
    """The models that meet the rows about equally well, in the order of the forms, for too few rows to judge more."""
    models = comparable(found)
    least = min(map(rms, models))
    return [model for model in models if rms(model) <= max(EXACT, ALIKE * least)]


def comparable(found: Sequence[FittedModel]) -> Sequence[FittedModel]:
    """The models with a degree of freedom left, if the single station or an adequate model has one; else all of them.

    A model without one fits any rows, so its error says nothing.
    """
    free = [model for model in found if model.fit.freedom > 0]
    is_checked = found[0].fit.freedom > 0 or any(rms(model) <= ADEQUATE * model.unit for model in free)
    return free if is_checked else found


def unfitted() -> Choice:
    """The model of what is known without any row."""
    return Choice(FittedModel(KnownDelay(), Parameters((), (), 0), [], Fit([], []), []), [], [])


def preferred(supported: Sequence[FittedModel]) -> FittedModel:
    """The best form that stands for stations where users wait by chance; the best of any kind, if none does."""
    stations = (model for model in supported if isinstance(model.form, OneStation | Metered))
    return next(stations, supported[0])


def rms(model: FittedModel) -> float:
    """Root mean square error of the rows."""
    return math.sqrt(model.fit.squares / model.fit.rows)
