"""How rows of the terminal's view look: a name in its own columns, then what it names."""

from rich.text import Text

LABEL = 10
"""Columns of the names of rows."""
FAINT, GOOD, BAD, NAME = "dim", "green", "bold red", "bold"
DRAWN = "bright_blue"
"""Sparklines and bars: a colour that can be seen on dark and on light."""

Ranked = tuple[int, Text]
"""A row, and its rank: 0 is shown in any case."""


def gap() -> Ranked:
    """What stands between two blocks of rows where there is room."""
    return 7, Text()


def right_aligned(row: Text, at: str, width: int) -> Text:
    """A row with something more at its right end; the row is cut where there is no room for both."""
    row.truncate(max(width - len(at) - 2, 1), overflow="ellipsis", pad=True)
    return row.append("  ").append(at)


def labelled(name: str, text: Text) -> Text:
    """A row with its name."""
    return Text.assemble((f"{name:<{LABEL}}", NAME), text)
