"""What pytest calls: flags, the marker, and the reports of tests."""

from collections.abc import Generator
from dataclasses import asdict

import pytest

from cuesta.pytest_plugin.measurement import Measurement
from cuesta.pytest_plugin.options import add_options, read_options
from cuesta.pytest_plugin.session import Session

MARKER = "cuesta(limit=…, tape=…, users=…, measure=…, runs=…): how a test that uses the fixture `cuesta` measures"
SESSION = pytest.StashKey[Session]()
NAME = pytest.StashKey[str]()
"""A test's node id, without the group that `--dist loadgroup` appends later: `test_app.py::test_typing`."""
UNSENT = pytest.StashKey[list[Measurement]]()
"""Measurements of a test that are in no report of it yet."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    config.stash[SESSION] = Session(read_options(config), is_worker=hasattr(config, "workerinput"))
    config.pluginmanager.register(config.stash[SESSION], "cuesta-session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what uses the fixture, so that `-m cuesta` selects it."""
    item.stash[NAME] = item.nodeid
    if "cuesta" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("cuesta"):
        item.add_marker("cuesta")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let measurements travel with the report of their test; fail one that is to measure, and did not."""
    report = yield
    if unsent := item.stash.get(UNSENT, None):
        report.cuesta = [asdict(each) for each in unsent]  # type: ignore[attr-defined]
        unsent.clear()
    elif report.when == "call" and report.passed and has_terms(item):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: nothing was measured\nuse the fixture: cuesta('pty:./app notes.txt')"
    return report


def has_terms(item: pytest.Item) -> bool:
    """Whether the test itself, and not only its class or module, says how it measures."""
    return any(marker.name == "cuesta" and marker.kwargs for marker in item.own_markers)
