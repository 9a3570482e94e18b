"""`cuesta tapes`: the tapes that ship with Cuesta, and how they are named."""

from pathlib import Path

from cuesta.errors import Exit
from cuesta.shipped_tapes import list_words, read_shipped_tape
from cuesta.workflow.list_tapes import renew_document
from tests.conftest import Cuesta, Write

DOCUMENT = Path(__file__).parents[2] / "docs" / "tapes.md"


def test_the_list_has_the_word_and_the_target_of_each_in_80_columns(cuesta: Cuesta) -> None:
    rows = cuesta("tapes").ends().out.splitlines()
    assert {row.split()[0] for row in rows if row[:1].islower()} >= set(list_words())
    assert "--target pty:PROGRAM" in {row.strip() for row in rows}
    assert max(map(len, rows)) <= 80
    listed = cuesta("tapes", "--json", "-").ends().json["tapes"]
    assert [tape["word"] for tape in listed] == list_words()


def test_a_tape_is_printed_to_be_copied(cuesta: Cuesta) -> None:
    tape = read_shipped_tape("typing")
    assert cuesta("tapes", "typing").ends().out == tape.text
    printed = cuesta("tapes", "typing", "--json", "-").ends().json
    assert printed == {"word": "typing", "purpose": tape.purpose, "target": tape.target, "text": tape.text}
    cuesta("tapes", "tpying").ends(Exit.USAGE, "no tape `tpying` ships with Cuesta; did you mean `typing`?")


def test_the_document_has_the_list() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert renew_document(text) == text, "renew it: ./scripts/docs"


def test_a_tape_is_named_by_its_word_wherever_tapes_are(cuesta: Cuesta, write: Write) -> None:
    write("plan.toml", 'tape = "typing"\ntarget = "pty:cat"\n')
    write("swept.toml", 'target = "pty:cat"\n[sweep]\ntape = ["typing", "builtin:typing"]\n')
    named = [("typing", "--target", "pty:cat"), ("--tape", "typing", "--target", "pty:cat"), ("plan.toml",)]
    plans = [cuesta("run", *words, "--dry-run", "--json", "-").ends().json["plan"] for words in named]
    assert [plan["group"][0]["tape"] for plan in plans] == ["builtin:typing"] * 3
    assert [(plan["name"], plan["group"][0]["users"]) for plan in plans[:2]] == [("typing", 1)] * 2
    assert cuesta("run", "swept.toml", "--dry-run").ends().out.count("TAPE typing") == 1
    assert cuesta("check", "typing").ends().out.endswith("OK: typing\n")


def test_a_word_goes_before_a_file_without_suffix_and_a_path_before_a_word(cuesta: Cuesta, write: Write) -> None:
    write("typing", 'Type "mine" Enter\nWait\n')
    assert "mine" not in cuesta("check", "typing").ends().out
    assert "mine" in cuesta("check", "./typing").ends().out


def test_a_name_that_is_no_tape_gets_both_suggestions(cuesta: Cuesta, write: Write) -> None:
    write("mine.tape", "Enter\nWait\n")
    words = ("tapes in that folder: mine.tape", "ships with Cuesta; did you mean `typing`?")
    cuesta("check", "typin").ends(Exit.BAD_INPUT, "typin: cannot read the tape", *words)
    cuesta("run", "--tape", "typing.tape", "--target", "pty:cat").ends(Exit.BAD_INPUT, *words)
    cuesta("check", "builtin:typin").ends(Exit.BAD_INPUT, "builtin:typin: no such tape ships with Cuesta; did you")


def test_a_tape_for_a_program_says_what_target_to_give(cuesta: Cuesta, write: Write) -> None:
    cuesta("run", "typing").ends(Exit.BAD_INPUT, "not for the built-in host", "--target pty:PROGRAM")
    cuesta("run", "typing", "--host", "service=shell cat", "--dry-run").ends()
    write("mine.tape", "Enter\nWait\n")
    cuesta("run", "mine.tape", "--tape", "typing").ends(Exit.USAGE, "two tapes: mine.tape and --tape typing")
