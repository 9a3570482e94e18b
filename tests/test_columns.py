"""Columns of text, by the cells of a terminal; they never touch."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cuesta.columns import align_left, align_right, cut, cut_start, in_columns, wrap_text

CELLS = st.lists(st.text("0123456789.", min_size=1, max_size=14), min_size=1, max_size=6)
WIDE = "検🚀é\u0301한"
TEXTS = st.text("ab" + WIDE, max_size=30)


def test_cells_that_fit_stand_at_the_end_of_their_columns() -> None:
    assert in_columns("echo", 6, ("1.5", "12"), (5, 4)) == "echo  " + "  1.5" + "  12"


def test_an_empty_cell_keeps_its_place() -> None:
    assert in_columns("echo", 6, ("", "12"), (5, 4)) == "echo  " + "     " + "  12"


def test_a_wide_character_takes_two_columns_and_an_accent_none() -> None:
    assert in_columns("検索", 6, ("1.5",), (5,)) == "検索  " + "  1.5"
    assert in_columns("e\u0301", 6, ("🚀",), (5,)) == "e\u0301     " + "   🚀"


@given(TEXTS, st.integers(0, 40))
def test_a_text_is_padded_to_a_width_and_cut_to_one(text: str, width: int) -> None:
    assert cell_len(align_left(text, width)) == cell_len(align_right(text, width)) == max(width, cell_len(text))
    assert align_left(text, width).strip() == align_right(text, width).strip() == text
    for short in (cut(text, width + 1), cut_start(text, width + 1)):
        assert short == text if cell_len(text) <= width + 1 else cell_len(short) == width + 1
    assert text.startswith(cut(text, width + 1).rstrip("…").rstrip())
    assert text.endswith(cut_start(text, width + 1).lstrip("…").lstrip())


@given(st.lists(TEXTS.filter(bool)), st.integers(5, 40))
def test_a_sentence_is_broken_between_words_alone(words: list[str], width: int) -> None:
    rows = list(wrap_text(" ".join(words), width, "- ", "  "))
    assert " ".join(row[2:] for row in rows) == " ".join(words)
    assert all(cell_len(row) <= width or " " not in row[2:] for row in rows)
    assert not any(cell_len(f"{row} {more.split()[0]}") <= width for row, more in pairwise(rows))


def test_a_number_stays_beside_its_unit() -> None:
    assert list(wrap_text("at most 12.5 ms late, 95 % of them", 12)) == ["at most", "12.5 ms", "late, 95 %", "of them"]
    assert list(wrap_text("take 3 seconds", 8)) == ["take 3", "seconds"]


@given(st.text("abc" + WIDE, min_size=1, max_size=12), CELLS, st.integers(0, 9))
def test_cells_never_touch(label: str, cells: list[str], width: int) -> None:
    assert in_columns(label, width, cells, [width] * len(cells)).split() == [label, *cells]
