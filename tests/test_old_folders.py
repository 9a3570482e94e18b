"""Folders of earlier versions can still be read, with the same figures under the same names.

`tests/old_folders/` holds a run of the main job, a sweep (open load, two groups, four segments, published figures) and
one certification, as cuesta 0.1.0 wrote them at commit 9591095, with its own `summary.json` and `record.json`.
That version wrote logs of transactions in Arrow's format, which is not read any more: those of the certification were
converted to CSV, and their names and hashes in `record.json` replaced. Its figures are still those of that version.
"""

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.summary import summarise
from cuesta.cli import main
from cuesta.errors import Exit

FOLDERS = Path(__file__).parent / "old_folders"


def unpacked(name: str, place: Path) -> Path:
    with tarfile.open(FOLDERS / f"{name}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return place / name


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, object]]:
    """The values of an object by their dotted names."""
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if named is None:
        yield place, value
    else:
        for name, each in named:
            yield from leaves(each, f"{place}.{name}" if place else str(name))


@pytest.mark.parametrize("name", ["main", "sweep"])
def test_an_old_run_has_the_same_figures_under_the_same_names(name: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    before = dict(leaves(json.loads((folder / "summary.json").read_text())))
    now = dict(leaves(json.loads(json.dumps(summarise(folder).json()))))
    numbers = {place: value for place, value in before.items() if isinstance(value, int | float)}
    assert len(numbers) > 300
    assert {place: now.get(place, "lost") for place in numbers} == pytest.approx(numbers)
    # Why a run is INVALID follows from today's rules.
    reasons = {place for place in before if place.startswith("invalid_because.")}
    texts = {place for place, value in before.items() if isinstance(value, str)}
    assert not texts - reasons - set(now)


@pytest.mark.parametrize("name", ["main", "sweep"])
def test_an_old_run_is_shown_queried_and_verified(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked(name, tmp_path)
    assert main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == Exit.GOOD
    assert "VALID" in capsys.readouterr().out
    assert (tmp_path / "page.html").stat().st_size > 10_000
    steps = {"main": 1, "sweep": 4}[name]
    assert main(["ledger", str(folder), "--sql", "select count(*) from steps", "--csv"]) == Exit.GOOD
    assert capsys.readouterr().out.split() == ["count_star()", str(steps)]
    assert main(["certify", "--verify", str(folder)]) == Exit.GOOD, capsys.readouterr()
    summary = folder / "summary.json"
    summary.write_text(re.sub(r'"count": (\d)', r'"count": 1\1', summary.read_text(), count=1))
    assert main(["certify", "--verify", str(folder)]) == Exit.FAILED
    summary.write_text("{}")
    assert main(["certify", "--verify", str(folder)]) == Exit.FAILED


def test_an_old_certification_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = unpacked("certification", tmp_path)
    assert main(["certify", "--verify", str(folder)]) == Exit.GOOD, capsys.readouterr()
    assert main(["certify", str(folder)]) == Exit.GOOD
    assert "CPU time" in capsys.readouterr().out


def test_a_log_of_transactions_in_arrows_format_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked("certification", tmp_path)
    for log in list(folder.rglob("transactions.csv")):
        log.rename(log.with_suffix(".arrow"))
    refusal = f"{folder}/run-1/agent-0/transactions.arrow: an earlier cuesta wrote this log of transactions"
    assert main(["certify", str(folder)]) == Exit.BAD_INPUT
    printed = capsys.readouterr().err
    assert refusal in printed
    assert "make the run again" in printed
    assert main(["certify", "--verify", str(folder)]) == Exit.FAILED
    assert f"the figures cannot be derived: {refusal}" in capsys.readouterr().out
    assert main(["ledger", str(folder)]) == Exit.GOOD
    assert f"left out: {folder}: {refusal}" in capsys.readouterr().out


def test_all_but_the_log_of_transactions_in_arrows_format_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = unpacked("certification", tmp_path) / "run-1"
    log = run / "agent-0" / "transactions.csv"
    log.rename(log.with_suffix(".arrow"))
    assert main(["report", str(run), "--out", str(tmp_path / "page.html")]) == Exit.GOOD
    assert main(["certify", "--verify", str(run)]) == Exit.GOOD, capsys.readouterr()
