"""The summary at the end of a run."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis import summarise
from cuesta.report import text
from tests.report.made_up import bad, good, sweep
from tests.run_folder import RunFolder


def shown(folder: Path) -> str:
    return text(summarise(folder), colour=False).replace(str(folder), "RUN")


@pytest.mark.parametrize("make", [good, bad, sweep])
def test_what_is_said(tmp_path: Path, make: Callable[[Path], Path], snapshot: SnapshotAssertion) -> None:
    assert shown(make(tmp_path / "run")) == snapshot


@pytest.mark.parametrize("make", [good, bad, sweep])
def test_the_order_is_fixed_and_rows_are_short(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    said = shown(make(tmp_path / "run"))
    titles = re.findall(r"^([A-Z]+(?: FOLDER)?) ", said, re.MULTILINE)
    order = ["VALIDITY", "LIMITS", "SWEEP", "RESPONSE", "FAIRNESS", "THROUGHPUT", "LAW", "PUBLISHED", "HOST", "DRIVER"]
    assert titles == [title for title in [*order, "RUN FOLDER"] if title in titles]
    assert {"VALIDITY", "RESPONSE", "THROUGHPUT", "HOST", "DRIVER", "RUN FOLDER"} <= set(titles)
    assert max(map(len, said.splitlines())) <= 80
    assert not any(row.endswith(" ") for row in said.splitlines())


def test_both_responses_stand_together(tmp_path: Path) -> None:
    stalled = RunFolder(tmp_path / "run", responses=lambda *_: [0.1] * 20).write()
    rows = shown(stalled).splitlines()
    due = next(number for number, row in enumerate(rows) if "done − due" in row)
    assert "done − sent" in rows[due + 1]
    assert re.search(r"100 ms .* 100 ms", rows[due])
    assert re.search(r"99\.0 ms .* 99\.0 ms", rows[due + 1])


def test_a_rare_percentile_of_few_values_is_marked(tmp_path: Path) -> None:
    said = shown(good(tmp_path / "run"))
    assert "200 ms*" in next(row for row in said.splitlines() if "done − due" in row)
    assert "*" not in next(row for row in said.splitlines() if "echo − due" in row)
    assert "* of fewer than 10,000" in said


def test_the_phases_of_opening_a_line_are_shown_where_there_are_any(tmp_path: Path) -> None:
    opened = [("interactive/line/connect", [0.02] * 4), ("interactive/line/login", [0.6] * 4)]
    shown_rows = shown(RunFolder(tmp_path / "run", histograms=opened).write()).splitlines()
    heading = next(number for number, row in enumerate(shown_rows) if "opening lines" in row)
    assert re.search(r"connect +4 +20\.0 ms", shown_rows[heading + 1])
    assert re.search(r"login +4 +600 ms", shown_rows[heading + 2])
    assert "negotiation" not in "".join(shown_rows)
    assert "opening lines" not in shown(RunFolder(tmp_path / "other").write())


def test_programs_that_users_started_are_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    run = json.loads((folder / "run.json").read_text())
    run["steps"][0]["group"][0]["target"] = "pty:bash \x1b --norc"
    (folder / "run.json").write_text(json.dumps(run))
    assert "pty:bash � --norc: started on this machine, for each of 4 users" in shown(folder)
    assert "started on this machine" not in shown(RunFolder(tmp_path / "other").write())


def test_colour_is_for_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summarise(good(tmp_path / "run"))
    assert "\x1b[" not in text(summary)
    assert "\x1b[1;32mVALID" in text(summary, colour=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in text(summary)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in text(summary)


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    evil = [("night%1B[31mshift/%1B]0;x%07/response", [0.1])]
    said = shown(RunFolder(tmp_path / "run", histograms=evil).write())
    assert "\x1b" not in said
    assert "night�[31mshift" in said


def test_an_empty_run_says_so(tmp_path: Path) -> None:
    said = shown(RunFolder(tmp_path / "run", agents=0).write())
    assert "nothing was measured" in said
    assert "the record is cut off: no agent has recorded anything" in said
