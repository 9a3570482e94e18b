"""`studies/history/misread.py` proposes the readings that were typed beside the prints."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.history.transcript import Transcript
from cuesta.ledger.historical import Document, Identity, PrintedValue, read_historical
from studies.history.misread import Proposal, distance, main, nearest, readings, search

STUDIES = Path(__file__).parents[2] / "studies"
MCS, EMACS, FORM = (
    STUDIES / name for name in ("history/mcs-1979.toml", "emacs/published.toml", "certification/published.toml")
)
UNDECIDED = {"setting.block", "disk_1.busy"}
"""Typed, and not proposed: the identities only refute the print, or hold with it if its digits were cut off."""


def proposed(prints: dict[str, str], *formulas: str) -> list[Proposal]:
    """Search a document made of these prints and formulas."""
    values = {name: PrintedValue(text) for name, text in prints.items()}
    return search(Transcript.parse(Document("made up", values, tuple(map(Identity, formulas)))))


@pytest.mark.parametrize("file", [MCS, EMACS, FORM], ids=lambda file: file.stem)
def test_proposed_readings_are_the_typed_ones(file: Path) -> None:
    document = read_historical(file)
    typed = {name: each.reading for name, each in document.prints.items() if each.reading and name not in UNDECIDED}
    assert {each.name: each.reading for each in search(Transcript.parse(document))} == typed


def test_each_proposal_names_the_identities_that_it_repairs(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(FORM)])
    said = capsys.readouterr().out
    assert "published: d.ctss: printed .85 sec., may read 45 sec. (typed: 45 sec.); repairs:\n    " in said


def test_one_identity_and_a_last_digit_are_not_evidence() -> None:
    assert proposed({"sum": "10.4", "a": "4.1", "b": "6.0"}, "sum = a + b") == []


def test_two_prints_alone_do_not_show_which_is_wrong() -> None:
    assert proposed({"told": "41.4", "again": "47.4"}, "told = again") == []


def test_a_digit_that_two_identities_agree_on_is_a_misreading() -> None:
    prints = {"sum": "34.1", "a": "50.1", "b": "14.0", "c": "30.0", "rest": "64.1"}
    (found,) = proposed(prints, "sum = a + b + c", "rest = sum - c")
    assert (found.name, found.reading, found.weight) == ("sum", "94.1", 2)


@given(
    cells=st.lists(st.integers(100, 9999), min_size=9, max_size=9),
    place=st.integers(0, 8),
    digit=st.integers(0, 1),
    by=st.integers(1, 9),
)
def test_a_digit_changed_in_any_cell_is_found_and_corrected(cells: list[int], place: int, digit: int, by: int) -> None:
    rows = [cells[at : at + 3] for at in (0, 3, 6)]
    rows = [[*row, sum(row)] for row in rows]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    prints = {f"t.r{at}.c{to}": f"{cell / 10:.1f}" for at, row in enumerate(rows) for to, cell in enumerate(row)}
    name = f"t.r{place // 3}.c{place % 3}"
    right = prints[name]
    changed = str((int(right[digit]) + by) % 10)
    if right[digit] == "." or (digit == 0 and changed == "0"):
        return  # no digit, or a number that begins with 0
    prints[name] = right[:digit] + changed + right[digit + 1 :]
    (found,) = proposed(
        prints, "t.{row}.c3 = t.{row}.c0 + t.{row}.c1 + t.{row}.c2", "t.r3.{c} = t.r0.{c} + t.r1.{c} + t.r2.{c}"
    )
    assert (found.name, found.reading) == (name, right)


@pytest.mark.parametrize(
    ("printed", "reading"),
    [
        ("25.4", "15.4"),  # a digit
        ("4.4%", "40.4%"),  # a lost digit
        ("6492.630", "692.630"),  # an added digit
        ("24,849", "24.849"),  # a comma in place of a point
        ("7679.891", "7679891"),  # an added point
        ("12.5", "1.25"),  # shifted
        ("B.06", "8.06"),  # a letter in place of a digit
        ("0.02", "0.0%"),
        ("7360", "3760"),  # two digits exchanged
    ],
)
def test_every_single_slip_that_gives_the_print_is_tried(printed: str, reading: str) -> None:
    assert reading in readings(PrintedValue(printed))
    assert printed not in readings(PrintedValue(printed))


def test_fragments_are_joined_to_a_cell() -> None:
    assert {"51638.650", "516"} <= readings(PrintedValue("38.650", loose=("516",))).keys()


def test_a_word_is_matched_to_the_nearest_of_a_list_or_none() -> None:
    assert nearest("perm", {"parm", "part", "prph"}) == "parm"
    assert nearest("ttvs", {"ttyb", "ttyq"}) is None
    assert nearest("erid", {"opc"}) is None
    assert distance("kitten", "sitting") == 3


@given(st.text(max_size=12))
def test_a_print_is_not_proposed_as_its_own_reading(text: str) -> None:
    assert text not in readings(PrintedValue(text))
