"""JSON without characters that could control a terminal: they are written as escapes, and read as they were."""

import json
from typing import Any


def json_text(value: object, indent: int | None = None, **how: Any) -> str:
    """JSON that shows any text: letters of all scripts as they are, and what controls a terminal as `\\u202e`."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, **how)
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def json_file_text(value: object) -> str:
    """The text of a JSON file."""
    return json_text(value, indent=1) + "\n"


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
