"""Tests that compare two versions of a program."""

from typing import Any

import pytest

from tests.pytest_plugin.conftest import Session

pytest_plugins = ["pytester"]
TEST = """
import pytest

@pytest.mark.cuesta(tape="edit.tape", limit="echo.p95 < 50ms")
def test_versions(cuesta):
    compared = cuesta.compare("pty:./app-1.4", "pty:./app-1.5", margin="2ms")
    assert compared.verdict == "no worse"
"""


OBSTACLE = {"ended": "obstacle", "why": ["app-1.5: nothing \x1b[31mechoed"]}


@pytest.mark.parametrize(
    ("pairs", "outcome", "text"),
    [
        ({"slower": 1.0}, "passed", "test_app.py::test_versions      31.9 ms      33.8 ms  passed"),
        ({"slower": 1.8}, "failed", "app-1.5 echoes a key 25.5 ms later than app-1.4*slower*"),
        ({"slower": 1.5, "pairs": 4, "ended": "budget"}, "skipped", "  cannot tell: app-1.5 echoes a key*"),
        ({"slower": 1.0, **OBSTACLE}, "failed", "not valid: app-1.5: nothing �[[]31mechoed"),
    ],
)
def test_the_verdict_is_the_outcome(
    pytester: pytest.Pytester,
    session: Session,
    asked: list[dict[str, Any]],
    pairs: dict[str, Any],
    outcome: str,
    text: str,
) -> None:
    pytester.makepyfile(test_app=TEST)
    asked[0] = pairs
    ended = session("--cuesta-out", "out")
    ended.assert_outcomes(**{outcome: 1})
    ended.stdout.fnmatch_lines([text])
    assert asked[1:] == [{"targets": ("pty:./app-1.4", "pty:./app-1.5"), "tape": "edit.tape", "margin": "2ms"}]
    assert "app-1.5" in (pytester.path / "out" / "test_app.test_versions" / "pairs" / "report.html").read_text()


def test_a_term_that_a_comparison_does_not_have_is_named(pytester: pytest.Pytester, session: Session) -> None:
    pytester.makepyfile("def test_versions(cuesta): cuesta.compare('pty:a', 'pty:b', measure='2s')")
    ended = session()
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["*::test_versions: cuesta.compare: no such term: 'measure'; there are tape, margin*"])
