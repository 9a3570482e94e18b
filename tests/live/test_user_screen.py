from typing import Any

import pytest
from rich.style import Style
from rich.text import Text

from cuesta.live.user_screen import Chosen, draw_user
from cuesta.records.messages import UserGlimpse, UserScreen
from cuesta.records.reading import from_json

GLIMPSE = {"user": 7, "group": "g", "because": "slowest", "doing": "awaiting_answer", "waited": 2.0}


def chosen(*rows: str | list[dict[str, Any]], cursor: tuple[int, int] | None = (0, 0), columns: int = 20) -> Chosen:
    spans = [[{"text": row}] if isinstance(row, str) else row for row in rows]
    content = {"user": 7, "seconds": 1.0, "columns": columns, "rows": spans, "cursor": cursor, "is_whole": True}
    glimpse = from_json(UserGlimpse, GLIMPSE | {"transactions": 3, "mean": 0.1, "condition": "Line /x/"})
    return Chosen(7, "1 of 5", glimpse, from_json(UserScreen, content))


def plain_rows(rows: list[Text]) -> list[str]:
    return [row.plain.rstrip() for row in rows]


def inverse(row: Text) -> list[str]:
    """What is shown inverse in a row."""
    return [
        row.plain[span.start : span.end] for span in row.spans if isinstance(span.style, Style) and span.style.reverse
    ]


def test_a_user_is_named_with_what_it_waits_for() -> None:
    head = draw_user(chosen("$ "), "0:12", 80, 10)[0].plain
    assert head.startswith("USER 7  slowest (1 of 5)  waits 2.00 s, Line /x/ ")
    assert head.endswith("  0:12")
    assert len(head) == 80


def test_where_there_is_room_a_screen_has_a_frame() -> None:
    rows = plain_rows(draw_user(chosen("one", "two", columns=5), "", 20, 10))
    assert rows[1:] == ["┌─────┐", "│one  │", "│two  │", "└─────┘"]


@pytest.mark.parametrize(("cursor", "shown"), [((0, 0), ["r0", "r1"]), ((4, 0), ["r3", "r4"]), (None, ["r0", "r1"])])
def test_a_low_terminal_shows_the_rows_with_the_cursor(cursor: tuple[int, int] | None, shown: list[str]) -> None:
    screen = chosen(*(f"r{number}" for number in range(5)), cursor=cursor)
    assert plain_rows(draw_user(screen, "", 80, 3))[1:] == shown


def test_a_narrow_terminal_shows_the_columns_with_the_cursor() -> None:
    rows = draw_user(chosen("0123456789", cursor=(0, 8)), "", 5, 3)
    assert (rows[1].plain, inverse(rows[1])) == ("45678", ["8"])


def test_the_cursor_stands_on_its_cell_beside_wide_characters_and_accents() -> None:
    row = draw_user(chosen("検e\u0301x", cursor=(0, 3)), "", 80, 2)[1]
    assert inverse(row) == ["x"]
    on_wide = draw_user(chosen("a検b", cursor=(0, 1)), "", 80, 2)[1]
    assert inverse(on_wide) == ["検"]


def test_half_of_a_wide_character_at_an_edge_is_a_blank() -> None:
    assert draw_user(chosen("ab検", cursor=None), "", 3, 2)[1].plain == "ab "
    assert draw_user(chosen("検ab", cursor=(0, 3)), "", 3, 2)[1].plain == " ab"


def test_colours_and_attributes_are_those_of_the_user() -> None:
    span = {"text": "red", "foreground": "1", "background": "#102030", "attributes": ["bold", "crossed_out"]}
    row = draw_user(chosen([span], cursor=None), "", 80, 2)[1]
    style = row.spans[0].style
    assert isinstance(style, Style)
    assert (style.bold, style.strike, style.color and style.color.number) == (True, True, 1)
    assert style.bgcolor is not None
    assert style.bgcolor.name == "#102030"


def test_what_would_control_the_terminal_is_text() -> None:
    rows = draw_user(chosen("\x1b[2Jx\x07", cursor=None), "", 80, 2)
    assert rows[1].plain == "�[2Jx�"


def test_a_user_without_a_screen_is_said_to_have_none() -> None:
    rows = draw_user(Chosen(9, "", None, None), "0:12", 60, 10)
    assert rows[0].plain.startswith("USER 9 ")
    assert "has no line" in rows[-1].plain
