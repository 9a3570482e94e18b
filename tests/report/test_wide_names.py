"""Tables stay in line if names have characters of two cells and of none."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from rich.cells import cell_len

from cuesta.analysis.history.identities import DocumentCheck, Finding, FindingKind
from cuesta.analysis.history.projection import MeasuredSystem, build_ledger
from cuesta.analysis.summary import summarise
from cuesta.ledger.database import SqlResult
from cuesta.ledger.goals import Improvement
from cuesta.ledger.historical import Document
from cuesta.report import identities, meters, profile, render, several, sql_result
from cuesta.report import ledger as ledgers
from cuesta.report.run_report import text
from tests.meter_reports import meter_report, typed
from tests.report.made_up import by_cause
from tests.report.test_ledger import DAY
from tests.run_folder import RunFolder

WIDE = {
    "ideographs": "検索",
    "an emoji": "🚀",
    "combining accents": "re\u0301sume\u0301",
    "words": "검색 🔍",
    "a sentence": "検索 が 遅い " * 9,
}
"""Names whose characters are not as many as their cells."""


def run(folder: Path, name: str, users: Sequence[int] = (2, 4)) -> Path:
    series = [(f"interactive/{quote(name)}/{each}", [0.1] * 99) for each in ("response", "response_from_sent")]
    return RunFolder(folder, users=users, measure=5, histograms=series).write()


def brief(folder: Path, name: str) -> str:
    return text(summarise(run(folder, name, users=[4])), colour=False)


def verbose(folder: Path, name: str) -> str:
    return text(summarise(run(folder, name)), colour=False, verbose=True)


def sweep(folder: Path, name: str) -> str:
    file = run(folder, "search") / "run.json"
    recorded = json.loads(file.read_text())
    for step, value in zip(recorded["steps"], (name, "plain"), strict=True):
        step["swept"]["host.service"] = value
    file.write_text(json.dumps(recorded))
    return text(summarise(folder), colour=False)


def runs(folder: Path, name: str) -> str:
    summary = summarise(run(folder, name))
    return render.text(several.build_joint_report({name: summary, "other": summary}), colour=False, verbose=True)


def metered(_: Path, name: str) -> str:
    report = meter_report(by_cause=by_cause())
    for table in (report["devices"], report["interfaces"], report["by_cause"]["value"]["causes"]):
        table[name] = next(iter(table.values()))
    return meters.text(typed(report))


def systems(_: Path, name: str) -> str:
    made = (MeasuredSystem(name, DAY, 3.0, grade="certified"), MeasuredSystem("b", DAY, 1.5))
    hoped = (Improvement(name=f"{name}!", saves="10%"), Improvement(name="it", saves="20%"))
    return ledgers.text(build_ledger("title", "", "s", made, hoped, None, 1.0))


def sampled(_: Path, name: str) -> str:
    rows = [{"module": module, "function": f"a::{module}", "percent": 50.0} for module in (name, "libc.so.6")]
    listing = {"samples": 100, "covered": 0.9, "more": 3, "locations": rows, "modules": rows}
    return profile.text(listing, typed(meter_report()))


def contradictions(_: Path, name: str) -> str:
    findings = tuple(Finding(each, "1", FindingKind.ERROR, computed="2") for each in (name, "b"))
    return identities.text(DocumentCheck(Document("title", {}, ()), findings, 2, 0, 0))


def queried(_: Path, name: str) -> str:
    return sql_result.text(SqlResult(["name", name, "n"], [(name, 1.5, "a"), ("b", None, name)]))


SHOWN = [brief, verbose, sweep, runs, metered, systems, sampled, contradictions, queried]


@pytest.mark.parametrize("name", WIDE.values(), ids=WIDE)
@pytest.mark.parametrize("show", SHOWN, ids=lambda show: show.__name__)
def test_all_else_is_where_a_plain_name_of_as_many_cells_leaves_it(
    tmp_path: Path, show: Callable[[Path, str], str], name: str
) -> None:
    wide = show(tmp_path / "wide", name)
    plain = show(tmp_path / "same", flat(name, name)).replace(str(tmp_path / "same"), str(tmp_path / "wide"))
    assert name[:2] in wide
    assert blank(flat(wide, name)) == blank(plain)


def flat(text: str, name: str) -> str:
    """A text, with an x for each cell of a character that only the name has."""
    return "".join("x" * cell_len(each) if each in name and not each.isascii() else each for each in text)


def blank(text: str) -> list[str]:
    """The rows of a text without its x: half of a wide character is a space where a name is cut."""
    return [row.replace("x", " ").rstrip() for row in text.splitlines()]
