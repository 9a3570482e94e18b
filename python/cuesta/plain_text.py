"""Makes texts of any origin harmless: nothing in them moves a terminal's cursor or changes the direction of text.

Everything that is printed passes `terminal`, every report `report/render`, every JSON file `json_text`; all three use
this file. Invisible and bidirectional characters are replaced too: two names that look alike may differ by them.
"""

import json
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LAYOUT = "\n\t"
"""Characters that lay out rows of text, and do nothing else on a terminal."""


def plain(text: str, keep: str = "") -> str:
    """Replace each character that could control a terminal, except those in `keep`; a text without any is itself."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else REPLACEMENT for c in text)


def plain_rows(text: str) -> str:
    """The same for a text of several rows."""
    return plain(text, LAYOUT)


def json_text(value: object, indent: int | None = None, **how: Any) -> str:
    """JSON that shows any text: letters of all scripts as they are, and what controls a terminal as `\\u202e`."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, **how)
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
