"""What a test asks for: the settings of its marker and of its call, and how its runs are held against a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cuesta.analysis.compare.metrics import EXPLORATORY, Metric, metric
from cuesta.analysis.compare.paired_figure import Margin
from cuesta.analysis.compare.verdict import MOST_RUNS
from cuesta.errors import UsageError
from cuesta.plan.reading import whole_reader
from cuesta.validation import show_value, suggest
from cuesta.workflow.compare_versions import read_margin

DEFAULTS = {"users": 1, "settle": "2s", "measure": "10s", "meters": "plain"}
"""Settings of a test, unless it plays a plan: the program starts, then one user types. Meters that sample start slowly,
which would take a third of a short test."""
TAPE = "typing"
"""The tape of a test that names none: with it 10 s have enough keys for a limit on a 95th percentile."""
RUNS = 5
"""Runs that are held against a baseline: what a claim among two to six figures takes of each side."""
MARGIN = "20%,5ms"
"""The least change that matters, the larger of both: days differ by more than the runs of one session, and 5 ms are a
third of a frame at 60 Hz."""
COMPARABLE = [each.name for each in EXPLORATORY if each.series]


@dataclass(frozen=True, slots=True)
class BaselineTerms:
    """How runs are held against a baseline."""

    runs: int
    margin: Margin
    """The least change for the worse that matters."""
    figures: Sequence[Metric]
    """The figures that are judged; none: the typical echo of a key, and the slow ones, which can only make it worse."""


@dataclass(frozen=True, slots=True)
class Terms:
    settings: Mapping[str, Any]
    """Settings of a plan, by their own names."""
    baseline: BaselineTerms
    is_default_tape: bool
    """Whether the test names no tape."""


def read_terms(markers: Sequence[pytest.Mark], call: Mapping[str, Any]) -> Terms:
    """Merge what the markers say, the closest first, and what the call says, which overrides them.

    Raises UsageError.
    """
    if wrong := [repr(value) for marker in markers for value in marker.args]:
        raise UsageError(f"@pytest.mark.cuesta: expected NAME=VALUE, got {wrong[0]}", 'as limit="echo.p95 < 50ms"')
    given: dict[str, Any] = {}
    for said in (*(marker.kwargs for marker in reversed(markers)), call):
        given |= join_limits(said)
    if "group" not in given and "target" not in given and not is_plan(given):
        raise UsageError("no target to type at", 'name it: cuesta("pty:./app notes.txt")')
    baseline, defaults = read_baseline_terms(given), choose_defaults(given)
    return Terms({"limits": [], **defaults, **given}, baseline, is_default_tape="tape" in defaults)


def join_limits(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a marker or a call says, with `limit`, one or several, among `limits`."""
    others = {name: value for name, value in said.items() if name not in ("limit", "limits")}
    limits = [each for name in ("limit", "limits") if name in said for each in _read_texts(name, said[name])]
    return {**others, "limits": limits} if len(others) < len(said) else others


def choose_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that hold where the test says nothing; a plan says all itself."""
    if is_plan(given):
        return {}
    return DEFAULTS if "tape" in given or "group" in given else {**DEFAULTS, "tape": TAPE}


def is_plan(given: Mapping[str, Any]) -> bool:
    return str(given.get("tape", "")).endswith(".toml")


def read_baseline_terms(given: dict[str, Any]) -> BaselineTerms:
    """Take out of the terms what is about the baseline."""
    names = _list(given.pop("figures", ()))
    if unknown := [name for name in names if name not in COMPARABLE]:
        what = f"figures: no figure {unknown[0]!r} is held against a baseline"
        raise UsageError(f"{what}{suggest(str(unknown[0]), COMPARABLE)}")
    return BaselineTerms(
        runs=read_runs(given.pop("runs", RUNS)),
        margin=read_margin(given.pop("margin", MARGIN)),
        figures=list(map(metric, names)),
    )


def _read_texts(name: str, value: Any) -> list[str]:
    """Texts, which may be given as one. Raises UsageError."""
    if not isinstance(value, (str, list, tuple)) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"{name}: expected a text, got {show_value(value)}", 'as limit="echo.p95 < 50ms"')
    return _list(value)


def _list(value: Any) -> list[Any]:
    """A list of what may be given as one text."""
    return [value] if isinstance(value, str) else [*value]


def read_runs(value: object) -> int:
    try:
        return whole_reader(1, MOST_RUNS)(value)
    except ValueError as error:
        raise UsageError(f"runs: expected a number of runs, got {show_value(value)}: {error}") from None
