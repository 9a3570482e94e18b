"""Tables typed from documents, and errors in such a file."""

from pathlib import Path

import pytest

from cuesta.analysis.history.identities import check_document
from cuesta.errors import InputError
from cuesta.ledger.goals import read_goals
from cuesta.ledger.historical import is_historical, key, read_historical
from tests.conftest import Write

TABLE = """
title = "A form"
date = 1969-06-03
[table.a]
page = 2
columns = ["creation", "command", "total"]
[table.a.rows]
subject = ["68.6 sec.", "265.9", { printed = "334.6", legibility = "poor", reading = "334.5", note = "smudged" }]
processes = 4
[[identity]]
formula = "a.{row}.total = a.{row}.creation + a.{row}.command"
why = "both phases"
"""


def test_prints_are_read_letter_by_letter(write: Write) -> None:
    document = read_historical(write("t.toml", TABLE))
    assert list(document.prints) == ["a.subject.creation", "a.subject.command", "a.subject.total", "a.processes"]
    total = document.prints["a.subject.total"]
    assert (total.text, total.page, total.legibility, total.reading) == ("334.6", "2", "poor", "334.5")
    assert (document.prints["a.subject.creation"].text, document.prints["a.processes"].counted) == ("68.6 sec.", True)


def test_nothing_is_rewritten(write: Write) -> None:
    file = write("t.toml", TABLE)
    before = file.read_bytes()
    (found,) = check_document(read_historical(file)).findings
    assert (found.printed, found.computed, found.why, found.page) == ("334.6", "334.5", "both phases", "2")
    assert file.read_bytes() == before


def test_a_row_with_too_few_cells_is_reported(write: Write) -> None:
    file = write("t.toml", TABLE.replace('subject = ["68.6 sec.", ', "subject = ["))
    document = read_historical(file)
    assert document.short == {"a.subject": (2, 3)}
    with pytest.raises(InputError, match="no names fit"):
        check_document(document)


@pytest.mark.parametrize(
    ("was", "came", "wrong"),
    [
        (
            '"265.9"',
            "265.9",
            "table a, row subject, column command: expected text as printed or a whole number, got 265.9",
        ),
        ("= 4", "= true", "table a, row processes: expected text as printed or a whole number, got true"),
        ('"265.9"', '"265.9", "1"', "table a: its row subject has 4 cells, and the table has 3 columns"),
        ('"poor"', '"bad"', "table a, row subject, column total: legibility: expected 'good' or 'poor', got 'bad'"),
        ("reading =", "raeding =", "column total: raeding: no such key; did you mean `reading`?"),
        ('printed = "334.6", ', "", "table a, row subject, column total: it has no `printed`"),
        ("page = 2", "cut_of = true", "table a: cut_of: no such key; did you mean `cut_off`?"),
        ('why = "both', 'wyh = "both', "identity 1: wyh: no such key; did you mean `why`?"),
        ("formula = ", "# ", "identity 1: formula: it has no `formula`"),
        ('title = "A form"', "", "title: it has no `title`"),
        ('title = "A form"', "title = 3", "title: expected text, got 3"),
        ("date = 1969-06-03", 'date = "June"', "date: expected a date such as 2026-11-21, got 'June'"),
        ("date = 1969-06-03", 'system = [{ name = "x", elapsed = { reading = "2" } }]', "system x: elapsed: it has no"),
        ("date = 1969-06-03", 'system = [{ elapsed = "2" }]', "system 1: name: it has no `name`"),
        ('title = "A form"', 'format = 2\ntitle = "A form"', "is of format 2"),
        ('"68.6 sec.", ', '"68.6 sec." ', "Unclosed array"),
        ("[table.a]\n", "", "table a: its row subject has 3 cells, and the table has 0 columns"),
        ('["creation", "command", "total"]', '"x"', "table a: columns: expected a list, got 'x'"),
        ("date = 1969-06-03", "lists = 3", "lists: expected a table, got 3"),
    ],
)
def test_an_error_is_reported_with_its_place(write: Write, was: str, came: str, wrong: str) -> None:
    file = write("t.toml", TABLE.replace(was, came, 1))
    with pytest.raises(InputError) as refused:
        read_historical(file)
    assert wrong in str(refused.value)
    assert all(row.startswith(f"{file}: ") for row in str(refused.value).splitlines())


def test_a_typed_table_is_distinguished_from_other_files(write: Write) -> None:
    assert is_historical(write("t.toml", TABLE))
    assert not is_historical(write("plan.toml", 'name = "x"'))
    assert not is_historical(Path("nowhere.toml"))


def test_entries_of_a_ledger_are_prints_too(write: Write) -> None:
    file = write("g.toml", 'title = "g"\n[[system]]\nname = "23.9"\ndate = 1974-04-28\nelapsed = "91.8"\n')
    assert {name: each.text for name, each in read_historical(file).prints.items()} == {"system.23_9.elapsed": "91.8"}
    assert [key("MTS500 (large records), EIS"), key("Page Control/Scheduler, etc.")] == ["mts500", "page_control"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[[system]]\nname = "a"\n', "system.0.date: it has no `date`"),
        ('unit = "days"\n[[improvement]]\nname = "a"\nsaves = "1%"\n', "unit: expected 's', 'min' or 'h', got 'days'"),
        ("[[improvement]]\n", "improvement.0.name: it has no `name`"),
        ('title = "x"\n', "neither [[system]] nor [[improvement]]"),
        ("format = 7\n[[system]]\n", "is of format 7"),
        ("[[", "g.toml"),
    ],
)
def test_an_error_in_a_file_of_goals_is_reported(write: Write, text: str, wrong: str) -> None:
    with pytest.raises(InputError) as refused:
        read_goals(write("g.toml", text))
    assert wrong in str(refused.value)
