"""Columns of text, by the cells of a terminal; they never touch."""

import re
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cuesta.analysis import summarise
from cuesta.columns import cut, cut_start, in_columns, left, right, wrapped
from cuesta.report import meter_rows, meters
from cuesta.report.run_report import text
from tests.meter_reports import events, meter_report, plain, typed
from tests.report.made_up import by_cause
from tests.run_folder import RunFolder

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
    assert cell_len(left(text, width)) == cell_len(right(text, width)) == max(width, cell_len(text))
    assert left(text, width).strip() == right(text, width).strip() == text
    for short in (cut(text, width + 1), cut_start(text, width + 1)):
        assert short == text if cell_len(text) <= width + 1 else cell_len(short) == width + 1
    assert text.startswith(cut(text, width + 1).rstrip("…").rstrip())
    assert text.endswith(cut_start(text, width + 1).lstrip("…").lstrip())


@given(st.lists(TEXTS.filter(bool)), st.integers(5, 40))
def test_a_sentence_is_broken_between_words_alone(words: list[str], width: int) -> None:
    rows = list(wrapped(" ".join(words), width, "- ", "  "))
    assert " ".join(row[2:] for row in rows) == " ".join(words)
    assert all(cell_len(row) <= width or " " not in row[2:] for row in rows)
    assert not any(cell_len(f"{row} {more.split()[0]}") <= width for row, more in pairwise(rows))


def test_a_number_stays_beside_its_unit() -> None:
    assert list(wrapped("at most 12.5 ms late, 95 % of them", 12)) == ["at most", "12.5 ms", "late, 95 %", "of them"]
    assert list(wrapped("take 3 seconds", 8)) == ["take 3", "seconds"]


@given(st.text("abc" + WIDE, min_size=1, max_size=12), CELLS, st.integers(0, 9))
def test_cells_never_touch(label: str, cells: list[str], width: int) -> None:
    assert in_columns(label, width, cells, [width] * len(cells)).split() == [label, *cells]


NUMBER = re.compile(r"[−+]?\d{1,3}(,\d{3})*(\.\d+)?")
LIKE_A_NUMBER = re.compile(r"[−+]?\d[\d,.]*")


def run_together(text: str) -> list[str]:
    """Find sequences that look like numbers and are not, such as `11.29611.184` and `1,234,56789`."""
    words = [word for each in text.split() if LIKE_A_NUMBER.fullmatch(word := each.strip(".,;:()"))]
    assert len(words) > 20
    return [word for word in words if not NUMBER.fullmatch(word)]


def test_the_check_detects_numbers_that_run_together() -> None:
    assert run_together(" ".join(map(str, range(30))) + " 11.29611.184 1,234,56789,012") == [
        "11.29611.184",
        "1,234,56789,012",
    ]


def test_large_counts_do_not_run_together_in_a_meter_report() -> None:
    of = meter_report(0, 1e6, by_cause=by_cause())
    for name in ("minor_faults", "major_faults"):
        of["counts"][name] = events(1_234_567_890_123_456, 1e4)
    for each in of["by_cause"]["value"]["causes"].values():
        each["count"] = plain(123_456_789_012)
    (device,) = of["devices"].values()
    for way in ("reads", "writes"):
        device[way] = {"count": 123_456_789, "per_s": 1234.0}
    assert run_together(meters.text(typed(of))) == []


def test_large_rates_do_not_run_together_in_rows() -> None:
    row = [f"{number:,}" for number in (*range(8), 12_345_678, 123_456_789, 123_456_789, 12_345_678)]
    assert meter_rows.align_cells(row).split() == row


def test_long_durations_do_not_run_together_in_a_summary(tmp_path: Path) -> None:
    long = [(f"interactive/slow/{series}", [12_345.0, 23_456.0]) for series in ("response", "response_from_sent")]
    said = text(summarise(RunFolder(tmp_path / "run", histograms=long).write()))
    row = next(row for row in said.splitlines() if "23," in row)
    assert re.findall(r"[\d,.]+(?= s)", row) == re.findall(r"\d{2},\d{3}", row)
