"""Compares two versions of a program in a test, as `cuesta compare` does."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cuesta.analysis.compare.versions import Verdict
from cuesta.errors import UsageError
from cuesta.plain_text import plain_rows
from cuesta.pytest_plugin.measurement import Measurement, Outcome
from cuesta.pytest_plugin.measuring import Place, wait_for_turn
from cuesta.pytest_plugin.run_figures import FIGURES
from cuesta.validation import suggest
from cuesta.workflow import library
from cuesta.workflow.compare_versions import Versions

TERMS = ("tape", "margin", "budget", "figures", "despite")
"""What a comparison takes from a test's marker. It chooses the lengths of its runs itself."""


def compare_versions(
    name: str, targets: tuple[str, str], terms: Mapping[str, Any], place: Place
) -> tuple[Versions, Measurement]:
    """Make pairs of runs until they tell. Raises CuestaError if they cannot be made."""
    with wait_for_turn(place.turns):
        compared = library.compare_versions(*targets, here=place.here, out=place.folder / "pairs", **terms)
    figures = {each: figure for each, figure in compared.figures.items() if each in FIGURES and figure.new}
    return compared, Measurement(
        name=name,
        outcome=judge(compared),
        explanation=plain_rows(compared.sentence),
        page=str(compared.page()),
        figures={each: statistics.median(figure.new) for each, figure in figures.items()},
        lower_bounds=[each for each, figure in figures.items() if figure.bounded[1]],
        runs={each: list(figure.new) for each, figure in figures.items()},
        series={},
        stored=None,
    )


def judge(compared: Versions) -> Outcome:
    """It fails if the new version is worse, or if nothing can be measured at one of them."""
    if compared.verdict == Verdict.NO_WORSE:
        return "passed"
    has_failed = compared.verdict == Verdict.WORSE or compared.record.ended == "obstacle"
    return "failed" if has_failed else "cannot tell"


def read_terms(markers: Sequence[pytest.Mark], call: Mapping[str, Any]) -> dict[str, Any]:
    """What the call says, and those settings of the markers that a comparison has. Raises UsageError."""
    if unknown := [name for name in call if name not in TERMS]:
        raise UsageError(f"cuesta.compare: no such term: {unknown[0]!r}{suggest(unknown[0], TERMS)}")
    given: dict[str, Any] = {}
    for said in (*(marker.kwargs for marker in reversed(markers)), call):
        given |= {name: value for name, value in said.items() if name in TERMS}
    return given
