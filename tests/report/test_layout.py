"""Columns of text, whose cells never touch."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis import summarise
from cuesta.report import meter_rows, meters, text
from cuesta.report.layout import in_columns
from tests.meter_reports import events, meter_report, plain, typed
from tests.report.made_up import by_cause
from tests.run_folder import RunFolder

CELLS = st.lists(st.text("0123456789.", min_size=1, max_size=14), min_size=1, max_size=6)


def test_cells_that_fit_stand_at_the_end_of_their_columns() -> None:
    assert in_columns("echo", 6, ("1.5", "12"), (5, 4)) == "echo  " + "  1.5" + "  12"


def test_an_empty_cell_keeps_its_place() -> None:
    assert in_columns("echo", 6, ("", "12"), (5, 4)) == "echo  " + "     " + "  12"


@given(st.text("abc", min_size=1, max_size=12), CELLS, st.integers(0, 9))
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
    assert meter_rows.laid_out(row).split() == row


def test_long_durations_do_not_run_together_in_a_summary(tmp_path: Path) -> None:
    long = [(f"interactive/slow/{series}", [12_345.0, 23_456.0]) for series in ("response", "response_from_sent")]
    said = text(summarise(RunFolder(tmp_path / "run", histograms=long).write()))
    row = next(row for row in said.splitlines() if "23," in row)
    assert re.findall(r"[\d,.]+(?= s)", row) == re.findall(r"\d{2},\d{3}", row)
