"""Tests whose runs are held against those of a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pytest_plugin.conftest import Session
from tests.pytest_plugin.made_up_runs import MEASURED

pytest_plugins = ["pytester"]
TEST = "test_app.py::test_typing"


class App:
    """A test in a file, whose program may change, and its baseline."""

    def __init__(self, pytester: pytest.Pytester, session: Session) -> None:
        self.pytester, self.session = pytester, session
        self.file = pytester.path / "base.json"

    def test(self, target: str, *arguments: str, marker: str = "") -> pytest.RunResult:
        MEASURED.clear()
        self.pytester.makepyfile(
            test_app=f"import pytest\n@pytest.mark.cuesta({marker})\ndef test_typing(cuesta): cuesta({target!r})\n"
        )
        return self.session("--cuesta-baseline", str(self.file), *arguments)

    def entries(self) -> list[dict[str, Any]]:
        read: dict[str, Any] = json.loads(self.file.read_text())
        entries: list[dict[str, Any]] = read["tests"][TEST]
        return entries


@pytest.fixture
def app(pytester: pytest.Pytester, session: Session) -> App:
    return App(pytester, session)


def test_the_same_program_passes_and_a_slower_one_fails(app: App) -> None:
    written = app.test("pty:echo=40ms", "--cuesta-update")
    written.assert_outcomes(passed=1)
    written.stdout.fnmatch_lines(["baseline of 1 test written to */base.json"])
    assert len(MEASURED) == 5
    app.test("pty:echo=40ms").assert_outcomes(passed=1)
    assert len({each.get("seed", 1) for each in MEASURED}) == 5
    slower = app.test("pty:echo=60ms")
    slower.assert_outcomes(failed=1)
    slower.stdout.re_match_lines(
        [
            r"worse than the baseline: echo p50: 40\.\d ms → 60\.\d ms, \+\d+\.\d ms to \+2\d\.\d ms",
            r"echo p95: .*",
            r"4 users at .*",
            r"typed was the tape `typing`, .*",
            r"page: .*",
        ],
        consecutive=True,
    )
    app.test("pty:echo=20ms").assert_outcomes(passed=1)


@pytest.mark.parametrize(("echo", "outcome"), [("44ms", "passed"), ("54ms", "failed")])
def test_a_change_within_the_margin_is_none(app: App, echo: str, outcome: str) -> None:
    app.test("pty:echo=40ms", "--cuesta-update")
    app.test(f"pty:echo={echo}").assert_outcomes(**{outcome: 1})


def test_a_change_that_nobody_notices_is_none(app: App) -> None:
    """Four times as long, but by less than 5 ms."""
    app.test("pty:echo=1ms", "--cuesta-update")
    app.test("pty:echo=4ms").assert_outcomes(passed=1)
    app.test("pty:echo=4ms", marker="margin='20%,1ms'").assert_outcomes(failed=1)
    app.test("pty:echo=4ms", marker="margin='1ms', figures='echo.p90'").assert_outcomes(failed=1)


def test_too_few_runs_cannot_tell_and_say_how_many_can(app: App) -> None:
    app.test("pty:echo=40ms", "--cuesta-update", marker="runs=2")
    few = app.test("pty:echo=60ms", marker="runs=2")
    few.assert_outcomes(skipped=1)
    few.stdout.re_match_lines([r"  perhaps worse than the baseline: echo p50: 40\.\d ms → 60\.\d ms, of 2 and 2 runs"])
    few.stdout.re_match_lines([r"  \d runs of each side would likely tell: runs=\d, and --cuesta-update"])


def test_a_test_without_an_entry_says_how_to_write_one(app: App) -> None:
    app.file.write_text('{"format": 1, "tests": {}}')
    new = app.test("pty:echo=4ms")
    new.assert_outcomes(skipped=1)
    assert len(MEASURED) == 1
    assert "is in " + str(app.file) + ": --cuesta-update writes it" in " ".join(new.stdout.str().split())
    crossed = app.test("pty:echo=80ms", marker="limit='echo.p95 < 50ms'")
    crossed.assert_outcomes(failed=1)


def test_another_machine_is_not_compared(app: App) -> None:
    app.test("pty:echo=40ms", "--cuesta-update", "--cuesta-machine", "laptop")
    other = app.test("pty:echo=80ms", "--cuesta-machine", "ci")
    other.assert_outcomes(skipped=1)
    assert len(MEASURED) == 1
    other.stdout.fnmatch_lines(["  not compared with the baseline: machine: id laptop against ci"])
    app.test("pty:echo=80ms", "--cuesta-update", "--cuesta-machine", "ci").assert_outcomes(passed=1)
    app.test("pty:echo=80ms", "--cuesta-machine", "ci").assert_outcomes(passed=1)
    app.test("pty:echo=80ms", "--cuesta-machine", "laptop").assert_outcomes(failed=1)
    assert [entry["facts"]["machine"]["id"] for entry in app.entries()] == ["laptop", "ci"]


def test_another_cpu_is_not_compared_even_under_one_name(app: App) -> None:
    app.test("pty:echo=40ms", "--cuesta-update", "--cuesta-machine", "ci")
    baseline = json.loads(app.file.read_text())
    baseline["tests"][TEST][0]["facts"]["machine"]["cpu"] = "Z80"
    app.file.write_text(json.dumps(baseline))
    other = app.test("pty:echo=80ms", "--cuesta-machine", "ci", "--cuesta-undecided", "fail")
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(["not compared with the baseline: machine: cpu Z80 against *"])


def test_another_tape_is_not_compared(app: App) -> None:
    app.test("pty:echo=40ms", "--cuesta-update")
    baseline = json.loads(app.file.read_text())
    baseline["tests"][TEST][0]["facts"]["tapes"]["interactive"] = "11"
    app.file.write_text(json.dumps(baseline))
    app.test("pty:echo=40ms").stdout.fnmatch_lines(
        ["*not compared with the baseline: tapes: interactive 11 against 00"]
    )


def test_only_what_passes_is_written_and_other_tests_stay(app: App) -> None:
    app.test("pty:echo=40ms", "--cuesta-update")
    before = app.entries()
    app.test("pty:echo=80ms", "--cuesta-update", marker="limit='echo.p95 < 50ms'").assert_outcomes(failed=1)
    app.test("pty:echo=40ms keys=10", "--cuesta-update", marker="limit='echo.p95 < 50ms'").assert_outcomes(skipped=1)
    assert app.entries() == before
    app.test("pty:echo=20ms", "--cuesta-update", "-k", "nothing")
    assert app.entries() == before
    app.test("pty:echo=20ms", "--cuesta-update")
    (entry,) = app.entries()
    assert max(entry["figures"]["echo.p95"]) < 0.03


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "expected"),
        ("{", "Invalid JSON"),
        ('{"format": 2, "tests": {}}', "format: expected 1"),
        ('{"format": 1, "tests": {"a": [{"facts": {}}]}}', "tests.a.0.started: it has no `started`"),
        ('{"format": 1, "tests": {"\\u001b[31m": [{"facts": {}}]}}', "tests.�[31m.0.started: it has no `started`"),
    ],
)
def test_a_file_that_is_no_baseline_is_named(app: App, text: str, why: str) -> None:
    app.file.write_text(text)
    for flags in ([], ["--cuesta-update"]):
        wrong = app.test("pty:echo=4ms", *flags)
        wrong.assert_outcomes(failed=1)
        assert [row for row in wrong.outlines if row.startswith(f"{TEST}: {app.file}: ") and why in row]
        assert any("delete the file if it is a baseline" in row for row in wrong.outlines)
    assert not MEASURED, "it is read first"
    assert app.file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--cuesta-baseline", "missing.json"], "missing.json: no such file; --cuesta-update writes it"),
        (["--cuesta-update"], "--cuesta-update: it writes the file of --cuesta-baseline: name one"),
    ],
)
def test_flags_that_do_not_fit_are_named(session: Session, arguments: list[str], text: str) -> None:
    ended = session(*arguments)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert text in ended.stderr.str()


def test_a_file_that_cannot_be_written_fails_the_session(app: App) -> None:
    app.file = Path("/proc/base.json")
    ended = app.test("pty:echo=4ms", "--cuesta-update")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(["/proc/base.json: cannot be written: *"])


def test_a_test_in_a_group_of_xdist_has_the_name_that_it_has_without(app: App) -> None:
    """With pytest 8 xdist appends the group to the node id, after collection, and only in workers."""
    app.test("pty:echo=40ms", "--cuesta-update").assert_outcomes(passed=1)
    app.pytester.makeconftest(
        """
        def pytest_collection_modifyitems(items):
            for item in items:
                item.__class__ = type("InGroup", (type(item),), {"nodeid": f"{item.nodeid}@slow"})
        """
    )
    grouped = app.test("pty:echo=40ms", "--cuesta-update", "-v")
    grouped.stdout.fnmatch_lines([f"{TEST}@slow *", "baseline of 1 test written to *"])
    assert [*json.loads(app.file.read_text())["tests"]] == [TEST]
