"""The settings that differ between the steps of a sweep, as its tables have them."""

from collections.abc import Sequence

from cuesta.analysis.planned import write_swept_value
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.units import ABSENT


def list_swept(summary: Summary) -> Sequence[str]:
    return list(dict.fromkeys(name for step in summary.steps for name in step.swept)) or ["users"]


def name_setting(name: str) -> str:
    return name.removeprefix("group.").removeprefix("host.")


def write_setting(step: StepFigures, name: str) -> str:
    return write_swept_value(name, step.swept.get(name, step.users if name == "users" else ABSENT))
