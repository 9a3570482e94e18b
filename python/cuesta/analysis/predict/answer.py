"""A prediction with the limit and the changes that were asked for, and what each system can do with and without."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Prediction, SystemPrediction
from cuesta.analysis.predict.what_if import Capacity, capacities
from cuesta.figures.limit import Limit


@dataclass(frozen=True)
class Answer:
    """A prediction with the changes and the limit that were asked for."""

    prediction: Prediction
    loads: Sequence[Conditions]
    changes: Sequence[Change]
    limit: Limit | None
    allowed: float | None
    """The mean response that the limit allows, in seconds."""

    @property
    def users_are(self) -> str:
        return self.prediction.measurements.users_are

    @cached_property
    def capacities(self) -> list[tuple[list[Capacity], list[Capacity]]]:
        """What each system can do as it was measured, and with the changes."""
        return [
            (
                capacities(system, self.loads_of(system), [], self.allowed),
                capacities(system, self.loads_of(system), self.changes, self.allowed) if self.changes else [],
            )
            for system in self.prediction.systems
        ]

    def now(self, system: SystemPrediction) -> list[Capacity]:
        """What a system can do as it was measured."""
        return self.capacities[self.number_of(system)][0]

    def then(self, system: SystemPrediction) -> list[Capacity]:
        """What it can do with the changes; nothing without any."""
        return self.capacities[self.number_of(system)][1]

    def number_of(self, system: SystemPrediction) -> int:
        return next(number for number, each in enumerate(self.prediction.systems) if each is system)

    def loads_of(self, system: SystemPrediction) -> list[Conditions]:
        """The loads that were asked of one system."""
        return [figure.at for figure in system.figures]
