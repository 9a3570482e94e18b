"""What a user's terminal shows, as rows of text with its colours and its cursor. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from rich.text import Text

from cuesta.live.dashboard import NAMES
from cuesta.live.rows import BAD, FAINT, NAME, right_aligned
from cuesta.plain_text import plain
from cuesta.records.messages import ScreenSpan, UserGlimpse, UserScreen
from cuesta.units import many, seconds

RICH_NAMES = {
    "faint": "dim",
    "underlined": "underline",
    "blinking": "blink",
    "inverse": "reverse",
    "crossed_out": "strike",
}
"""Attributes of characters that rich names otherwise."""
INVERSE = Style(reverse=True)

Cells = list[tuple[str, Style]]
"""The cells of a row: what each shows, which is nothing right of a wide character."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The user that is looked at."""

    user: int
    place: str
    """Which one it is of those that stand out, as `2 of 9`; empty if it is none of them."""
    glimpse: UserGlimpse | None
    screen: UserScreen | None
    """None until it is seen."""


def draw_user(chosen: Chosen, at: str, width: int, height: int) -> list[Text]:
    """Who it is and `at`, the time, in a row; then its screen: in a frame if there is room, else the part with the
    cursor."""
    screen, rows = chosen.screen, [right_aligned(_about(chosen), at, width)]
    if screen is None:
        return [*rows, Text(), Text("it has no line now, or its screen has not come yet", FAINT)]
    if not screen.is_whole:
        rows.append(Text("no tape looks at this user's screen: below is what has come since you look", FAINT))
    room = height - len(rows)
    if screen.columns + 2 <= width and len(screen.rows) + 2 <= room:
        return [*rows, *_framed(screen)]
    return [*rows, *_part(screen, width, room)]


def _about(chosen: Chosen) -> Text:
    glimpse = chosen.glimpse
    row = Text(f"USER {chosen.user}", NAME)
    if glimpse is None:
        return row
    row.append(f"  {glimpse.because}", "")
    row.append(f" ({chosen.place})" if chosen.place else "", FAINT)
    if glimpse.lost:
        return row.append(f"  without a line: {plain(glimpse.lost)}", BAD)
    does = NAMES.get(glimpse.doing, glimpse.doing)
    if glimpse.waited:
        return row.append(f"  waits {seconds(glimpse.waited)}, {plain(glimpse.condition or does)}")
    row.append(f"  {does}")
    mean = f", mean {seconds(glimpse.mean)}" if glimpse.transactions else ""
    return row.append(f"  {many(glimpse.transactions, 'transaction')}{mean}", FAINT)


def _framed(screen: UserScreen) -> Iterator[Text]:
    yield Text(f"┌{'─' * screen.columns}┐", FAINT)
    for row in _part(screen, screen.columns, len(screen.rows)):
        row.truncate(screen.columns, pad=True)
        yield Text.assemble(("│", FAINT), row, ("│", FAINT))
    yield Text(f"└{'─' * screen.columns}┘", FAINT)


def _part(screen: UserScreen, width: int, height: int) -> list[Text]:
    """As much of a screen as there is room for: from the top and the left, but with the cursor."""
    row, column = screen.cursor or (0, 0)
    top, left = max(row + 1 - height, 0), max(column + 1 - width, 0)
    rows = enumerate(screen.rows[top : top + max(height, 0)], top)
    return [
        _text(_cells(spans, column if number == row and screen.cursor else None)[left : left + width])
        for number, spans in rows
    ]


def _cells(spans: Sequence[ScreenSpan], cursor: int | None) -> Cells:
    cells: Cells = []
    for span in spans:
        style = _style(span.foreground, span.background, tuple(span.attributes))
        for character in plain(span.text):
            size = cell_len(character)
            if size == 0 and cells:
                cells[-1] = (cells[-1][0] + character, cells[-1][1])
            else:
                cells += [(character, style), ("", style)][:size]
    if cursor is not None:
        cells += [(" ", Style())] * (cursor + 1 - len(cells))
        cells[cursor] = (cells[cursor][0], cells[cursor][1] + INVERSE)
    return cells


def _text(cells: Cells) -> Text:
    """The row of some cells; half of a wide character is a blank."""
    if cells and not cells[0][0]:
        cells[0] = (" ", cells[0][1])
    if cells and cell_len(cells[-1][0]) == 2:
        cells[-1] = (" ", cells[-1][1])
    return Text.assemble(
        *(("".join(each for each, _ in group), style) for style, group in groupby(cells, lambda cell: cell[1]))
    )


@lru_cache(maxsize=1024)
def _style(foreground: str | None, background: str | None, attributes: tuple[str, ...]) -> Style:
    names = " ".join(RICH_NAMES.get(name, name) for name in attributes)
    return Style.parse(names) + Style(color=_colour(foreground), bgcolor=_colour(background))


def _colour(name: str | None) -> Color | None:
    if name is None:
        return None
    return Color.parse(name) if name.startswith("#") else Color.from_ansi(int(name))
