"""Says what is wrong with a value that a schema refuses: what was expected, and what it has."""

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cuesta.target import without_passwords

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

EXPECTED = {
    "model_type": "a table",
    "dict_type": "a table",
    "dataclass_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
    "frozen_set_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "date_type": "a date such as 2026-11-21",
    "date_from_datetime_parsing": "a date such as 2026-11-21",
    "date_from_datetime_inexact": "a date such as 2026-11-21",
}
"""What was expected, by the type of pydantic's error."""


def describe_problem(detail: "ErrorDetails") -> str:
    """What is wrong, by pydantic's error."""
    match detail["type"]:
        case name if name in EXPECTED:
            return f"expected {EXPECTED[name]}, got {show_value(detail['input'])}"
        case "literal_error":
            return f"expected {detail['ctx']['expected']}, got {show_value(detail['input'])}"
        case "missing":
            return f"it has no `{detail['loc'][-1]}`"
        case _:
            return detail["msg"].removeprefix("Value error, ")


def show_value(value: object) -> str:
    """A raw value for a message: without passwords, at most 60 characters."""
    value = without_passwords(value) if isinstance(value, str) else value
    text = str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def is_share(value: object) -> bool:
    """Whether a value is a number between 0 and 1, of which it is neither."""
    return isinstance(value, int | float) and 0 < value < 1


def suggest(word: str, words: Iterable[str]) -> str:
    """A hint: `; did you mean …?`, or the list of known words."""
    known = list(words)
    matches = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean `{matches[0]}`?" if matches else f"; there are {', '.join(known)}"
