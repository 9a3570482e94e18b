"""A prediction with the limit and the changes that were asked for, and what each system can do with and without."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Prediction, SystemPrediction
from cuesta.analysis.predict.what_if import Capacity, ChangedFigure, capacities, changed_figures
from cuesta.figures.limit import Limit


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One system with the changes; empty without any."""

    figures: Sequence[ChangedFigure] = ()
    capacities: Sequence[Capacity] = ()


@dataclass(frozen=True)
class Answer:
    """A prediction with the changes and the limit that were asked for."""

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
        """What each system can do as it was measured."""
        return {each: capacities(each, loads_of(each), [], self.allowed) for each in self.prediction.systems}

    @cached_property
    def then(self) -> Mapping[SystemPrediction, WhatIf]:
        """What each system can do with the changes."""
        return {each: self.with_changes(each) for each in self.prediction.systems}

    def with_changes(self, system: SystemPrediction) -> WhatIf:
        if not self.changes:
            return WhatIf()
        changed = capacities(system, loads_of(system), self.changes, self.allowed)
        return WhatIf(changed_figures(system, self.changes), changed)

    @property
    def is_reported(self) -> bool:
        """Whether all loads are reported, and the users that the limit allows, with and without the changes."""
        hosts = [*self.now.values(), *(each.capacities for each in self.then.values())]
        limits = [each.allowed for capacities in hosts for each in capacities if each.allowed]
        is_complete = not (self.prediction.not_reported or self.prediction.refused)
        return is_complete and all(each.is_determined for each in limits)


def loads_of(system: SystemPrediction) -> list[Conditions]:
    """The loads that were asked of one system."""
    return [figure.at for figure in system.figures]
