"""Query results as text, and the documented tables."""

import datetime
from pathlib import Path

from cuesta.ledger.database import SqlResult
from cuesta.report.sql_result import data, markdown, text

DOCS = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_documentation_has_every_column() -> None:
    assert DOCS.read_text().partition("<!-- made from cuesta.ledger.tables -->\n\n")[2] == markdown().rstrip() + "\n"


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
