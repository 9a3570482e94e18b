"""Sentences on causes by name: which limit or setting of the host made lines fail or users wait."""

from collections.abc import Iterator

from cuesta.analysis.summary import Summary
from cuesta.figures.causes import Cause


def list_causes(summary: Summary) -> Iterator[str]:
    """A sentence on each cause, of the first step that shows it."""
    told = set[tuple[str, bool]]()
    for step in summary.steps:
        for cause in step.causes:
            if (cause.name, cause.certain) not in told:
                told.add((cause.name, cause.certain))
                which = f"step {step.step + 1}: " if summary.planned_steps > 1 else ""
                yield f"{which}{describe_cause(cause)}"


def describe_cause(cause: Cause) -> str:
    """The name of a cause, what speaks for it, and what to change."""
    name = cause.name if cause.certain else f"may be {cause.name}"
    return f"cause: {name}: {cause.evidence}; to change: {cause.setting}"
