"""Query results as text."""

import datetime

from cuesta.ledger.database import SqlResult
from cuesta.report.sql_result import data, text


def test_numbers_are_right_aligned_and_control_codes_are_removed() -> None:
    result = SqlResult(["name", "n"], [("a\x1b[31m", 1.5), ("b" * 80, None), ("two\nrows", 1234567.0)])
    assert text(result).splitlines() == [
        "name                                                                  n",
        "------------------------------------------------------------  ---------",
        "a�[31m                                                              1.5",
        f"{'b' * 59}…          —",
        "two; rows                                                     1,234,567",
        "3 rows",
    ]


def test_an_empty_result_shows_its_columns() -> None:
    assert text(SqlResult(["n"], [])) == "n\n-\n0 rows"


def test_a_result_is_available_as_json() -> None:
    result = SqlResult(["when", "what"], [(datetime.datetime(2026, 1, 2, 3, 4), {"a": 1})])
    assert data(result) == {"columns": ["when", "what"], "rows": [["2026-01-02T03:04:00", "{'a': 1}"]]}
