"""Features that one study needs: what each adds to a step's figures and doubts. Other files import this one only.

- `wire`: the network between driver and host, and TMux there. `kernel_path`: the in-kernel path of the built-in host.
- `bisync`: what bisync lines carried.
- `batching`: what handling several packets at once gives and costs, in a sweep of TMux, deferral or aligned keys.

Each of FEATURES has `add_figures`, and registers its doubts.
"""

from typing import TYPE_CHECKING

from cuesta.analysis.features import bisync, kernel_path, wire
from cuesta.figures.step import StepFigures

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords

FEATURES = (wire, kernel_path, bisync)


def add_figures(step: StepFigures, records: "StepRecords") -> StepFigures:
    """Add the figures of all features to those that every step has."""
    for feature in FEATURES:
        step = feature.add_figures(step, records)
    return step


def held_time(step: StepFigures) -> float:
    """Seconds by which features delay a response on purpose, on average."""
    return wire.held_time(step)
