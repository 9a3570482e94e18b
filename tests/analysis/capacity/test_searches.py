"""What limits the host by a search: its trials near the limit tell, not the heaviest load that was tried."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.capacity import find_bottleneck
from cuesta.analysis.capacity.findings import DriverLimited, Finding, GaveOut, Saturated, Undecided, Unlimited
from cuesta.analysis.capacity.measured_step import order_by_load
from cuesta.analysis.search import Method
from cuesta.analysis.summary import Summary, summarise
from tests.analysis.capacity.simulated import Load, write
from tests.run_folder import NANO, Row, change_rows

SERVICE, THINK = 0.05, 1.0
LIMIT = 0.6
"""Seconds: of the 95th percentile. One server of SERVICE meets it with up to some 25 users."""


def searched(
    path: Path, users: Sequence[int], edit: Mapping[int, Row] | None = None, limit: float = LIMIT, **method: Any
) -> Summary:
    """A search whose trials had these users at one server; `edit` changes the measured seconds of a trial."""
    changes = edit or {}

    def changed(row: Row) -> Row:
        return row | (changes.get(row["step"], {}) if row["phase"] == "measure" else {})

    objective = [f"response.p95 < {limit}s"]
    folder = write(path, [Load(each, THINK, SERVICE) for each in users], edit=changed, limits=objective)
    return as_search(folder, start=users[0], **method)


def as_search(folder: Path, **method: Any) -> Summary:
    """Call a sweep's folder that of a search."""
    settings = Method(**{"rule": "regression", "lowest": 1, "highest": 500, "whole": True, **method})
    change_rows(folder / "run.json", lambda run: run | {"search": {"method": settings.json()}})
    return summarise(folder)


def judge(summary: Summary) -> Finding:
    said = find_bottleneck(summary)
    assert summary.json()["limited_by"] == str(said)
    return said


LATE: Row = {"run_wait": 0.5}
REFUSED: Row = {"errors": {"refused": 9}}


def test_the_smallest_load_that_missed_tells_and_not_the_heaviest(tmp_path: Path) -> None:
    """With 160 users others take the CPUs. That trial counts, but it says nothing about the limit."""
    summary = searched(tmp_path / "run", (10, 20, 160, 40, 32))
    said = judge(summary)
    assert isinstance(said, Saturated)
    assert said.at == "32 users"
    assert [point.text for point in order_by_load(summary)] == ["10 users", "20 users", "32 users"]


def test_trials_that_were_repeated_do_not_tell(tmp_path: Path) -> None:
    summary = searched(tmp_path / "run", (10, 20, 40, 16, 32, 32), {4: LATE})
    assert [point.step.step for point in order_by_load(summary)] == [0, 3, 1, 5]
    said = judge(summary)
    assert isinstance(said, Saturated)
    assert said.at == "32 users"


def test_without_a_miss_the_largest_load_that_counts_tells(tmp_path: Path) -> None:
    said = judge(searched(tmp_path / "run", (2, 4, 8), {2: LATE}))
    assert isinstance(said, Unlimited)
    assert said.at == "4 users"


def test_a_host_that_gave_out_is_called_so_with_its_reason(tmp_path: Path) -> None:
    summary = searched(tmp_path / "run", (5, 10, 20, 15, 14), {2: REFUSED, 3: REFUSED})
    said = judge(summary)
    assert isinstance(said, GaveOut)
    assert said.at == "15 users"
    assert str(said).startswith("the host gave out at 15 users: ")
    assert str(said).endswith(" % of the transactions failed (allowed 1.0 %): refused")


def test_what_was_busy_when_a_host_gave_out_is_said(tmp_path: Path) -> None:
    said = judge(searched(tmp_path / "run", (5, 10, 60, 50), {2: REFUSED, 3: REFUSED}, limit=100.0))
    assert isinstance(said, GaveOut)
    assert said.at == "50 users"
    assert str(said).endswith("refused; the built-in host's servers: 100 % busy")


def test_a_host_that_is_slow_before_it_gives_out_is_limited_by_what_makes_it_slow(tmp_path: Path) -> None:
    said = judge(searched(tmp_path / "run", (10, 20, 80, 32), {2: REFUSED}))
    assert isinstance(said, Saturated)
    assert said.at == "32 users"


@pytest.mark.parametrize("trouble", [LATE, {"cpu": 0.95}])
def test_a_driver_that_ends_a_search_is_the_limit(tmp_path: Path, trouble: Row) -> None:
    """It was late at 8 users, and the 5 trials that confirm what it can do do not change that."""
    users = (4, 8, 8, 8, 6, 7, *[7] * 5)
    said = judge(searched(tmp_path / "run", users, dict.fromkeys((1, 2, 3), trouble)))
    assert isinstance(said, DriverLimited)
    assert str(said).startswith("the driver, not the host, at 8 users: the driver ")


def test_a_late_driver_far_above_the_limit_is_not_the_limit(tmp_path: Path) -> None:
    said = judge(searched(tmp_path / "run", (10, 20, 40, 40, 40, 16, 32), dict.fromkeys((2, 3, 4), LATE)))
    assert isinstance(said, Saturated)
    assert said.at == "32 users"


def test_without_a_trial_that_counts_nothing_is_known(tmp_path: Path) -> None:
    said = judge(searched(tmp_path / "run", (4,), {0: LATE}))
    assert isinstance(said, Undecided)
    assert str(said).startswith("not known: no trial counts")


LATER = 1000
"""Seconds after which a search is resumed."""


def resumed(path: Path, before: Sequence[int], after: Sequence[int], ended: str | None, then: str) -> Summary:
    """A search of two segments; `ended` says how the first one did: None if it was killed while it wrote."""
    objective = [f"response.p95 < {LIMIT}s"]
    write(path, [Load(each, THINK, SERVICE) for each in before], limits=objective)
    segment = write(path / f"segment-{len(before)}", [Load(each, THINK, SERVICE) for each in after], limits=objective)
    steps = [json.loads((folder / "run.json").read_text())["steps"] for folder in (path, segment)]
    (segment / "run.json").unlink()
    for file, name in (("host/series.jsonl", "at"), ("agent-0/timeline.json", "start_at")):
        change_rows(segment / file, lambda row, name=name: row | {name: row[name] + LATER * NANO})  # type: ignore[misc]
    end(path / "agent-0", ended)
    end(segment / "agent-0", then)
    segments = [{"folder": "."}, {"folder": segment.name}]
    change_rows(path / "run.json", lambda run: run | {"steps": [*steps[0], *steps[1]], "segments": segments})
    return as_search(path, start=before[0])


def end(agent: Path, how: str | None) -> None:
    """Write how an agent ended; None: it was killed, and its last row is not whole."""
    if how:
        (agent / "agent.json").write_text(json.dumps({"ended": how, "reason": "no memory", "rss_per_user": 2048}))
        return
    (agent / "agent.json").unlink()
    series = (agent / "series.jsonl").read_text()
    (agent / "series.jsonl").write_text(series[: -len(series.splitlines()[-1]) // 2])


@pytest.mark.parametrize("ended", [None, "interrupted", "failed"])
def test_a_search_that_went_on_is_what_it_became(tmp_path: Path, ended: str | None) -> None:
    summary = resumed(tmp_path / "run", (10, 20), (40, 32), ended, "completed")
    assert summary.recorded.damage or ended
    assert summary.valid
    assert summary.ended == "completed"
    assert summary.search
    assert [trial.load for trial in summary.search.trials] == [10, 20, 40, 32]
    said = judge(summary)
    assert isinstance(said, Saturated)
    assert said.at == "32 users"


def test_a_search_that_went_on_and_failed_then_is_invalid(tmp_path: Path) -> None:
    summary = resumed(tmp_path / "run", (10, 20), (40, 32), "completed", "failed")
    assert not summary.valid
    assert summary.ended == "failed"
    assert isinstance(judge(summary), DriverLimited)
