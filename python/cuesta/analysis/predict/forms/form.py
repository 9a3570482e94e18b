"""What a form is: a response for conditions, a constant delay, a demand, and numbers of its own."""

from collections.abc import Sequence
from typing import Protocol

from cuesta.analysis.models.network import Network
from cuesta.analysis.predict.points import Conditions, Point


class Form(Protocol):
    """One way in which a response may depend on the load."""

    @property
    def name(self) -> str:
        """In a few words."""

    def formula(self, is_paced: bool) -> str:
        """As a reader may write it, for paced or for closed loads."""

    @property
    def has_delay(self) -> bool:
        """Whether a constant delay is fitted, unless it is known."""

    @property
    def has_demand(self) -> bool:
        """Whether a demand is fitted."""

    @property
    def shape(self) -> Sequence[float]:
        """Where to begin with its own numbers."""

    def applies(self, points: Sequence[Point]) -> bool:
        """Whether rows like these can be of this form."""

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        """Mean seconds."""

    def network(self, at: Conditions, delay: float, demand: float) -> Network | None:
        """The stations that it stands for; None if it stands for none."""
