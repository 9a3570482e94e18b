"""The tests of docs/pytest.md are carried out as they stand there, on made-up runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.pytest_plugin.conftest import Session
from tests.pytest_plugin.made_up_runs import MEASURED

pytest_plugins = ["pytester"]
DOCUMENT = Path(__file__).parents[2] / "docs" / "pytest.md"


def test_the_tests_of_the_document_pass(
    pytester: pytest.Pytester,
    session: Session,
    asked: list[dict[str, Any]],
) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    pytester.makepyfile(test_document="\n".join(code))
    session().assert_outcomes(passed=3)
    assert [(each["target"].split()[0], each["tape"]) for each in MEASURED] == [
        ("pty:./app", "typing"),
        ("pty:./app", "edit.tape"),
    ]
    (compared,) = asked[1:]
    assert compared["targets"] == ("pty:app-1.4 notes.txt", "pty:./app notes.txt")


def test_each_flag_is_in_the_document(session: Session) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    flags = re.findall(r"--cuesta-[a-z-]+", session("--help").stdout.str())
    assert {flag for flag in flags if flag not in text} == set()
