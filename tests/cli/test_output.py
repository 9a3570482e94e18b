"""Files that `--json` may write: never over a file that another program wrote."""

import json
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.conftest import Write
from tests.report.made_up import good

TAPE = 'Type "a"\nEnter\n'


def test_a_tape_is_not_written_over(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """`cuesta check --json a.tape b.tape`: the flag takes the first tape as its output file."""
    mine, other = write("a.tape", TAPE), write("b.tape", TAPE)
    assert main(["check", "--json", "a.tape", "b.tape"]) == Exit.USAGE
    assert (mine.read_text(), other.read_text()) == (TAPE, TAPE)
    said = capsys.readouterr().err
    assert "--json a.tape: the file exists, and cuesta did not write it as JSON" in said
    assert "--json a.json, or --json - to print it" in said


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
def test_other_files_are_not_overwritten(here: Path, write: Write, text: str) -> None:
    write("a.tape", TAPE)
    file = here / "out.json"
    file.write_bytes(text.encode("latin-1"))
    assert main(["check", "a.tape", "--json", "out.json"]) == Exit.USAGE
    assert file.read_bytes() == text.encode("latin-1")


def test_files_by_cuesta_are_overwritten(here: Path, write: Write) -> None:
    write("a.tape", TAPE)
    write("b.tape", 'Type "ü"\n')
    for tape in ("b.tape", "a.tape", "a.tape"):
        assert main(["check", tape, "--json", "out.json"]) == Exit.GOOD
    assert json.loads((here / "out.json").read_text())["name"] == "a"
    (here / "empty.json").touch()
    assert main(["check", "a.tape", "--json", "empty.json"]) == Exit.GOOD


def test_reports_in_rows_are_overwritten(here: Path) -> None:
    for _ in range(2):
        assert main(["meters", "50ms", "2", "--plain", "--json", "rows.jsonl"]) == Exit.GOOD
    assert len((here / "rows.jsonl").read_text().splitlines()) == 2


def test_devices_and_pipes_are_written_to(write: Write) -> None:
    write("a.tape", TAPE)
    assert main(["check", "a.tape", "--json", "/dev/null"]) == Exit.GOOD


def test_a_record_is_never_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = good(here / "run")
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_text()), indent=1) + "\n")
    before = (run / "run.json").read_bytes()
    assert main(["report", "run", "--json", "run/run.json"]) == Exit.USAGE
    assert (run / "run.json").read_bytes() == before
    assert "--json run/run-2.json" in capsys.readouterr().err
