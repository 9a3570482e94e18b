"""What is known of a measurement after its test, as plain data that a worker of xdist can send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["passed", "failed", "cannot tell", "measured"]
"""`measured`: there was neither a limit nor a baseline."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement of a test. Durations are seconds."""

    name: str
    """The test's node id; a number follows where it is not the first of its test."""
    outcome: Outcome
    explanation: str
    """The answer in one sentence, then what it rests on and what to do, a row each; harmless to a terminal."""
    page: str
    """The file of the page."""
    figures: Mapping[str, float]
    """Figures of the run that was judged, by name; those that were not measured are left out."""
    lower_bounds: Sequence[str]
    """Figures that are at least so large, and not known."""
    runs: Mapping[str, Sequence[float]]
    """The same figures in each run that counts and has them."""
    series: Mapping[str, Mapping[str, Any]]
    """`echo` and `response`: statistics of the values of the run that was judged, as pytest-benchmark names them."""
    stored: Mapping[str, Any] | None
    """The runs for the baseline's file, if they are to be written."""
