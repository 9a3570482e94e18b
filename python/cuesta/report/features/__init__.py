"""What a report shows of features that one study needs (`cuesta.analysis.features`); other files import this one only.

- `batching`: a sweep of TMux, deferral or aligned keys; `frontier`: its plots.
- `bisync`: bisync lines. `wire`: the network between driver and host, and TMux there.
"""

from collections.abc import Iterator

from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.report.features import batching, bisync, wire
from cuesta.report.model import Section


def answer_sweep(summary: Summary) -> str:
    """The sentence that answers what a sweep of a feature's setting asks; empty for other sweeps."""
    return batching.first_answer(summary)


def list_sweep_sections(summary: Summary) -> Iterator[Section]:
    yield from batching.section(summary)


def list_step_sections(step: StepFigures) -> Iterator[Section]:
    yield from bisync.section(step)
    yield from wire.section(step)
