"""Sessions of pytest whose tests measure made-up runs.

What the plugin imports late is imported here: `pytester` forgets the modules that were first imported in a test of its.
"""

from collections.abc import Callable

import pytest

from cuesta.pytest_plugin import baselines, exports, listing, measuring, terms, versions  # noqa: F401
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
