"""Files that `--json` may write: never over a file that another program wrote."""

import json
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write
from tests.report.made_up import good

TAPE = 'Type "a"\nEnter\n'


def test_a_tape_is_not_written_over(write: Write, cuesta: Cuesta) -> None:
    """`cuesta check --json a.tape b.tape`: the flag takes the first tape as its output file."""
    mine, other = write("a.tape", TAPE), write("b.tape", TAPE)
    exists = "--json a.tape: the file exists, and cuesta did not write it as JSON"
    cuesta("check", "--json", "a.tape", "b.tape").ends(Exit.USAGE, exists, "--json a.json, or --json - to print it")
    assert (mine.read_text(), other.read_text()) == (TAPE, TAPE)


@pytest.mark.parametrize(
    "text",
    [
        "users = 4\n",
        '{"name": "mine"}\n',
        '{\n  "name": "mine"\n}\n',
        "[\n 1,\n 2\n]\n",
        '{\n "name": "mine"\n}\n{\n "name": "yours"\n}\n',
        "\xff\xfe",
        "null\n",
    ],
)
def test_other_files_are_not_overwritten(here: Path, write: Write, cuesta: Cuesta, text: str) -> None:
    write("a.tape", TAPE)
    file = here / "out.json"
    file.write_bytes(text.encode("latin-1"))
    cuesta("check", "a.tape", "--json", "out.json").ends(Exit.USAGE)
    assert file.read_bytes() == text.encode("latin-1")


def test_files_by_cuesta_are_overwritten(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("a.tape", TAPE)
    write("b.tape", 'Type "ü"\n')
    for tape in ("b.tape", "a.tape", "a.tape"):
        cuesta("check", tape, "--json", "out.json").ends()
    assert json.loads((here / "out.json").read_text())["name"] == "a"
    (here / "empty.json").touch()
    for writable in ("empty.json", "/dev/null"):
        cuesta("check", "a.tape", "--json", writable).ends()


def test_reports_in_rows_are_overwritten(here: Path, cuesta: Cuesta) -> None:
    for _ in range(2):
        cuesta("meters", "50ms", "2", "--plain", "--json", "rows.jsonl").ends()
    assert len((here / "rows.jsonl").read_text().splitlines()) == 2


def test_a_record_is_never_overwritten(here: Path, cuesta: Cuesta) -> None:
    run = good(here / "run")
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_text()), indent=1) + "\n")
    before = (run / "run.json").read_bytes()
    cuesta("report", "run", "--json", "run/run.json").ends(Exit.USAGE, "--json run/run-2.json")
    assert (run / "run.json").read_bytes() == before
