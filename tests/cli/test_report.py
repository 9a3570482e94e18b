"""`cuesta report`: shows recorded runs."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.report.made_up import bad, cut_off, good


def test_a_run_is_shown_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "run")
    assert main(["report", "run"]) == Exit.GOOD
    said = capsys.readouterr().out
    assert said.startswith("4 users at the built-in host (host:): a key echoes")
    assert said.endswith("PAGE       run/report.html\n")
    assert "VALID" in (here / "run" / "report.html").read_text()


def test_a_truncated_run_is_shown_up_to_that_point(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut_off(here / "run")
    assert main(["report", "run"]) == Exit.GOOD
    wanted = "the record breaks off: recorded are 12.0 s of 32.0 s planned"
    assert wanted in " ".join(capsys.readouterr().out.split())
    assert wanted in (here / "run" / "report.html").read_text()


def test_several_runs_make_one_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "base")
    bad(here / "new")
    assert main(["report", "base", "new", "--out", "both.html"]) == Exit.GOOD
    assert capsys.readouterr().out == "VALID  base\nINVALID  new\nPAGE       both.html\n"
    page = (here / "both.html").read_text()
    assert "2 runs side by side" in page
    assert 'href="base/agent-0/series.jsonl"' in page


def test_a_folder_of_runs_is_refused_with_the_command_to_use(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "colleague/base")
    good(here / "colleague/new")
    assert main(["report", "colleague"]) == Exit.BAD_INPUT
    assert "it has 2 runs in it: cuesta report colleague/*" in capsys.readouterr().err


def test_other_output_formats_write_no_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "run")
    assert main(["report", "run", "--markdown", "--junit", "junit.xml", "--json", "run.json"]) == Exit.GOOD
    assert capsys.readouterr().out.startswith("### ❌ made-up: VALID, limits not kept")
    assert ElementTree.parse(here / "junit.xml").getroot().get("tests") == "4"
    assert json.loads((here / "run.json").read_text())["valid"] is True
    assert not (here / "run" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--markdown", "--json", "-"], "both want standard output"),
        (["--markdown", "--out", "run.md"], "--markdown > FILE"),
        (["--junit", "-"], "expected a file"),
    ],
)
def test_two_outputs_cannot_use_one_file(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    good(here / "run")
    assert main(["report", "run", *arguments]) == Exit.USAGE
    assert said in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["run"]


def test_json_of_several_runs_is_one_object(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "base")
    bad(here / "new")
    assert main(["report", "base", "new", "--json", "-"]) == Exit.GOOD
    assert [run["valid"] for run in json.loads(capsys.readouterr().out)["runs"]] == [True, False]


def test_other_folders_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "nowhere"]) == Exit.BAD_INPUT
    assert "nowhere: not a run folder" in capsys.readouterr().err


def test_an_unwritable_page_is_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "run")
    assert main(["report", "run", "--out", "missing/page.html"]) == Exit.FAILED
    assert "missing" in capsys.readouterr().err


def test_runs_and_certifications_do_not_mix(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good(here / "run")
    (here / "certified").mkdir()
    (here / "certified" / "certification.json").touch()
    assert main(["report", "run", "certified"]) == Exit.USAGE
    assert "cannot share a page" in capsys.readouterr().err
    assert main(["report", "certified", "--junit", "junit.xml"]) == Exit.USAGE
    assert "certified/run-*" in capsys.readouterr().err
