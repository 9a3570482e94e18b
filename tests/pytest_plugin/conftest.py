"""Sessions of pytest whose tests measure made-up runs.

What the plugin imports late is imported here: `pytester` forgets the modules that were first imported in a test of its.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta.pytest_plugin import exports, listing, measuring, versions  # noqa: F401
from cuesta.workflow import library
from cuesta.workflow.compare_versions import read_comparison
from tests.cli.test_compare_versions import compared
from tests.pytest_plugin import made_up_runs

Session = Callable[..., pytest.RunResult]
"""Runs pytest with the plugin: `session("--cuesta-undecided", "fail")`."""


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(measuring, "run", made_up_runs.make_run)
    made_up_runs.MEASURED.clear()
    pytester.makeconftest("")

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess("-p", "cuesta.pytest_plugin", "-p", "no:benchmark", *arguments)

    return run


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What `cuesta.compare` is asked for; its pairs are made up by the number in `slower`."""
    asked: list[dict[str, Any]] = [{"slower": 1.0}]

    def compare(*targets: str, here: Path, out: Path, **terms: Any) -> object:
        asked.append({"targets": targets, **terms})
        return read_comparison(compared(out, **asked[0]))

    monkeypatch.setattr(library, "compare_versions", compare)
    return asked
