"""A prediction with the limit and the changes that were asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Prediction, SystemPrediction
from cuesta.analysis.predict.what_if import Capacity, ChangedFigure, derive_capacities, predict_changed_loads
from cuesta.figures.limit import Limit


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One system with the changes; empty without changes."""

    figures: Sequence[ChangedFigure] = ()
    capacities: Sequence[Capacity] = ()


@dataclass(frozen=True)
class Answer:
    prediction: Prediction
    changes: Sequence[Change]
    limit: Limit | None
    allowed: float | None
    """The mean response that the limit allows, in seconds."""

    @property
    def users_are(self) -> str:
        return self.prediction.measurements.users_are

    @cached_property
    def now(self) -> Mapping[SystemPrediction, Sequence[Capacity]]:
        """Capacities as measured."""
        return {each: derive_capacities(each, loads_of(each), [], self.allowed) for each in self.prediction.systems}

    @cached_property
    def then(self) -> Mapping[SystemPrediction, WhatIf]:
        """Loads and capacities with the changes."""
        return {each: self.with_changes(each) for each in self.prediction.systems}

    def with_changes(self, system: SystemPrediction) -> WhatIf:
        if not self.changes:
            return WhatIf()
        changed = derive_capacities(system, loads_of(system), self.changes, self.allowed)
        return WhatIf(predict_changed_loads(system, self.changes), changed)

    @property
    def is_reported(self) -> bool:
        """Whether no load, and no number of users that the limit allows, is withheld."""
        hosts = [*self.now.values(), *(each.capacities for each in self.then.values())]
        limits = [each.allowed for capacities in hosts for each in capacities if each.allowed]
        is_complete = not (self.prediction.not_reported or self.prediction.refused)
        return is_complete and all(each.is_determined for each in limits)


def loads_of(system: SystemPrediction) -> list[Conditions]:
    return [figure.at for figure in system.figures]
