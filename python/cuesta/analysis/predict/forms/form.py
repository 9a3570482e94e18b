"""The interface of forms: the response to a load by a constant delay, a demand, and numbers of the form's own."""

from collections.abc import Sequence
from typing import Protocol

from cuesta.analysis.models.network import Network
from cuesta.analysis.predict.points import Conditions, Point


class Form(Protocol):
    @property
    def name(self) -> str: ...

    def formula(self, is_paced: bool) -> str:
        """For a report, of paced or of closed loads."""

    @property
    def has_delay(self) -> bool:
        """Whether a constant delay is fitted, unless it is known."""

    @property
    def has_demand(self) -> bool:
        """Whether a demand is fitted."""

    @property
    def shape(self) -> Sequence[float]:
        """Starts of its own numbers."""

    def applies(self, points: Sequence[Point]) -> bool:
        """Whether the form may be fitted to these rows."""

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        """Mean seconds."""

    def network(self, at: Conditions, delay: float, demand: float) -> Network | None:
        """Its stations; None of a mere curve."""
