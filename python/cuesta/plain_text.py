"""Makes texts of any origin harmless: nothing in them moves a terminal's cursor or changes the direction of text.

Everything that is printed passes `terminal`, every report `report/render`, every JSON file `json_text`; all three use
this. Invisible and bidirectional characters are replaced too: two names that look alike may differ by them.
"""

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
