"""`cuesta report`: shows recorded runs."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta
from tests.report.made_up import bad, cut_off, good


def test_a_run_is_shown_again(here: Path, cuesta: Cuesta) -> None:
    good(here / "run")
    text = cuesta("report", "run").ends().out
    assert text.startswith("PAGE       run/report.html\n")
    assert "\n4 users at the built-in host (host:): a key echoes" in text
    assert "VALID" in (here / "run" / "report.html").read_text()


def test_a_truncated_run_is_shown_up_to_that_point(here: Path, cuesta: Cuesta) -> None:
    cut_off(here / "run")
    wanted = "the record breaks off: recorded are 12.0 s of 32.0 s planned"
    assert wanted in cuesta("report", "run").ends().row
    assert wanted in (here / "run" / "report.html").read_text()


def test_several_runs_make_one_page_or_one_object(here: Path, cuesta: Cuesta) -> None:
    good(here / "base")
    bad(here / "new")
    ended = cuesta("report", "base", "new", "--out", "both.html").ends()
    assert ended.out == "PAGE       both.html\nVALID  base\nINVALID  new\n"
    page = (here / "both.html").read_text()
    assert "2 runs side by side" in page
    assert 'href="base/agent-0/series.jsonl"' in page
    summaries = cuesta("report", "base", "new", "--json", "-").ends().json["runs"]
    assert [run["valid"] for run in summaries] == [True, False]


def test_other_output_formats_write_no_page(here: Path, cuesta: Cuesta) -> None:
    good(here / "run")
    ended = cuesta("report", "run", "--markdown", "--junit", "junit.xml", "--json", "run.json").ends()
    assert ended.out.startswith("### ❌ made-up: VALID, limits not kept")
    assert ElementTree.parse(here / "junit.xml").getroot().get("tests") == "4"
    assert json.loads((here / "run.json").read_text())["valid"] is True
    assert not (here / "run" / "report.html").exists()


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("run --markdown --json -", Exit.USAGE, "both want standard output"),
        ("run --markdown --out run.md", Exit.USAGE, "--markdown > FILE"),
        ("run --junit -", Exit.USAGE, "expected a file"),
        ("run --out missing/page.html", Exit.FAILED, "missing"),
        ("nowhere", Exit.BAD_INPUT, "nowhere: not a run folder"),
        (".", Exit.BAD_INPUT, "it has 1 run in it: cuesta report ./*"),
        ("run certified", Exit.USAGE, "cannot share a page"),
        ("certified --junit junit.xml", Exit.USAGE, "certified/run-*"),
    ],
)
def test_what_cannot_be_shown_is_refused(here: Path, cuesta: Cuesta, command: str, code: Exit, text: str) -> None:
    good(here / "run")
    (here / "certified").mkdir()
    (here / "certified" / "certification.json").touch()
    cuesta("report", *command.split()).ends(code, text)
    assert sorted(path.name for path in here.iterdir()) == ["certified", "run"]
