"""What was waited for in vain, in every rendering, with the wait that the advice names."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.report import render
from cuesta.report.model import Report
from cuesta.report.render.page import html
from cuesta.report.run_report import build_report
from tests.run_folder import Row, RunFolder

ROWS = ["$ make", "reading\x1b[2J", "part | one `x`", "> "]
SAMPLES = {
    "timeout": {"users": 1, "seconds": 4.0, "condition": "Wait+Screen /ok/", "place": "row 7 of t", "row": None},
    "continued": {"users": 1, "seconds": 0.5, "condition": "Wait+Prompt /> $/", "place": "", "row": "Continue> "},
    "unfinished": {"users": 1, "seconds": 9.0, "condition": "Wait+Unlock", "place": "", "row": None},
}


@pytest.mark.parametrize("write", [render.text, render.markdown, lambda report: html(report, Path())])
def test_a_sample_of_each_kind_is_shown_with_the_last_rows_of_the_screen(
    tmp_path: Path, write: Callable[[Report], str]
) -> None:
    def trouble(row: Row) -> Row:
        samples = {kind: sample | {"screen": ROWS} for kind, sample in SAMPLES.items()}
        return row | {"samples": samples, "continued_long": row["transactions"]}

    summary = summarise(RunFolder(tmp_path / "run", edit=trouble).write())
    assert list(summary.json()["samples"]) == list(SAMPLES)
    text = " ".join(str(write(build_report(summary))).split())
    for part in ("timeout: Wait+Screen /ok/ (row 7 of t)", "reading�[2J", "met too early, by the row"):
        assert part in text.replace("&#39;", "'").replace("\\", "")
    assert "Wait+Unlock" not in text  # It has not lasted longer than answers do.
