"""Query results as text."""

import datetime

import pytest

from cuesta.ledger.database import SqlResult
from cuesta.report.sql_result import data, text

SENTENCE = "the driver was busy: 95.0 % of its cores"


def test_numbers_are_right_aligned_and_control_codes_are_removed() -> None:
    result = SqlResult(["name", "n"], [("a\x1b[31m", 1.5), ("[red]b[/red]", None), ("two\nrows", 1234567.0)])
    assert text(result).splitlines() == [
        "name                  n",
        "a�[31m              1.5",
        "[red]b[/red]          —",
        "two; rows     1,234,567",
        "3 rows",
    ]


def test_a_row_is_never_broken_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert text(SqlResult(["why", "n"], [(50 * SENTENCE, 1)])).splitlines() == [
        "why" + " " * (50 * len(SENTENCE) - 3) + "  n",
        50 * SENTENCE + "  1",
        "1 row",
    ]


def test_a_terminal_wraps_sentences_but_no_other_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    when = datetime.datetime(2026, 1, 2, 3, 4)
    assert text(SqlResult(["when", "why", "n"], [(when, SENTENCE, 1234567)])).splitlines() == [
        "when                 why               n",
        "2026-01-02 03:04:00  the driver  1234567",
        "                     was busy:",
        "                     95.0 % of",
        "                     its cores",
        "1 row",
    ]


def test_a_table_that_is_too_wide_for_its_terminal_is_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    rows = text(SqlResult(["folder", "why"], [("runs/" + 40 * "x", SENTENCE)])).splitlines()
    assert rows == ["folder" + 41 * " " + "why", "runs/" + 40 * "x" + "  " + SENTENCE, "1 row"]


def test_an_empty_result_shows_its_columns() -> None:
    assert text(SqlResult(["n"], [])) == "n\n0 rows"


def test_a_result_is_available_as_json() -> None:
    result = SqlResult(["when", "what"], [(datetime.datetime(2026, 1, 2, 3, 4), {"a": 1})])
    assert data(result) == {"columns": ["when", "what"], "rows": [["2026-01-02T03:04:00", "{'a': 1}"]]}
