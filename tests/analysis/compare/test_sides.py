"""Reading the sides of a comparison: one number per figure and run, and the runs that are used."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.compare import sides
from cuesta.analysis.compare.comparability import HOST, list_differences
from cuesta.analysis.compare.sides import (
    TYPICAL,
    ComparedRun,
    compare_certification_run,
    read_compared_run,
    read_paired_sides,
    read_side,
)
from cuesta.analysis.summary import summarise
from cuesta.ledger.record import CertificationSetup
from tests.analysis import runs
from tests.certification_runs import trial
from tests.meter_reports import meter_report, plain
from tests.report.made_up import bad, good, sweep
from tests.run_folder import CLOCK, NANO, Row, RunFolder


def metered(folder: Path, seconds: float, cpu: float) -> Path:
    """Add meters that cover only the last seconds of the interval."""
    made = meter_report(0, seconds)
    made["own"]["seconds"] = plain(cpu)
    about = {"source": "here", "subject": "pid:1", "why": "it is the host", "honesty": "shared"}
    rows = [{"about": about, "at": CLOCK}, {"step": 0, "sheet": made, "at": CLOCK + 32 * NANO}]
    (folder / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def began(folder: Path, at: str) -> None:
    """Change the recorded start of a run."""
    file = folder / "run.json"
    file.write_text(file.read_text().replace("01:23:45", at))


def test_a_run_gives_one_number_to_each_figure(tmp_path: Path) -> None:
    found = read_compared_run(good(tmp_path / "run"))
    assert found.why_excluded is None
    assert found.figures["throughput"] == pytest.approx(2.0)
    assert found.figures["response.p95"] == pytest.approx(0.2, rel=0.01)
    assert found.figures["demand"] == pytest.approx(0.24 * 30 / 60 * 1000)
    assert found.figures["creation.cpu"] is None


def test_demand_covers_only_the_metered_time(tmp_path: Path) -> None:
    """Meters that began late saw less CPU time, but not less CPU time per transaction."""
    whole, late, later = (
        read_compared_run(metered(RunFolder(tmp_path / f"{seconds:g}").write(), seconds, 0.2 * seconds)).figures[
            "demand"
        ]
        for seconds in (30.0, 24.0, 15.0)
    )
    assert whole == pytest.approx(100.0)
    assert late == pytest.approx(100.0)
    assert later is None, "meters that cover half of the interval give no demand"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (bad, "INVALID: "),
        (sweep, "it was interrupted"),
        (lambda path: RunFolder(path, ended=None).write(), "it was cut off"),
        (lambda path: RunFolder(path, ended="failed").write(), "it failed"),
    ],
)
def test_an_unusable_run_has_a_reason(tmp_path: Path, make: object, why: str) -> None:
    assert callable(make)
    found = read_compared_run(make(tmp_path / "run"))
    assert found.why_excluded is not None
    assert found.why_excluded.startswith(why)


def test_a_step_of_a_sweep_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(2, 4), responses=lambda step, *_: [0.1 * (step + 1)] * 3).write()
    first, last, none = (read_compared_run(folder, step) for step in (0, None, 5))
    assert first.figures["response.p95"] == pytest.approx(0.1, rel=0.01)
    assert last.figures["response.p95"] == pytest.approx(0.2, rel=0.01)
    assert none.why_excluded == "it has no step 6"


def test_correlated_transactions_count_as_fewer_values(tmp_path: Path) -> None:
    rng = random.Random(1)
    alone = RunFolder(tmp_path / "alone", responses=lambda *_: [rng.expovariate(5.0) for _ in range(40)])
    together = RunFolder(tmp_path / "together", responses=lambda *_: [rng.expovariate(5.0)] * 40)
    short = RunFolder(tmp_path / "short", measure=10, responses=lambda *_: [0.1] * 12)
    of = [read_compared_run(folder.write()).effective_sizes["response"] for folder in (alone, together, short)]
    assert 600 < of[0] <= 1200
    assert 10 < of[1] < 90, "there are at most as many independent values as seconds"
    assert of[2] == 120 / TYPICAL


def test_a_certification_gives_its_phases_and_its_settings(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run").write())
    given = dict.fromkeys(("cuesta", "started", "system", "plan", "group", "script"), "x")
    lists: dict[str, list[str]] = {name: [] for name in ("command", "factors", "comments")}
    about = CertificationSetup.model_validate(
        {**given, **lists, "kind": "certification", "pause": 1.0, "pauses": 1.0, "runs": 5, "hardware": {}}
        | {"settings": {"vm.swappiness": "60"}}
    )
    found = compare_certification_run(replace(trial(), summary=summary), about)
    assert found.figures["creation.cpu"] == pytest.approx(0.2)
    assert found.figures["command.cpu"] == pytest.approx(1.0)
    assert found.figures["completion"] == pytest.approx(2.25)
    assert found.facts[HOST]["vm.swappiness"] == "60", "settings of the certified system may differ between sides"
    assert [
        str(each) for each in list_differences(read_compared_run(tmp_path / "run").facts, found.facts, ["method"])
    ] == [
        "method: certifier (none) against certification",
        "method: pause (none) against 1.0",
    ]
    doubtful = compare_certification_run(replace(trial(doubts=("user 3 never ended",)), summary=summary), about)
    assert doubtful.why_excluded == "user 3 never ended"


def test_a_step_is_used_even_if_another_is_invalid(tmp_path: Path) -> None:
    def busy_in_the_last(row: Row) -> Row:
        return row | {"cpu": 0.95} if row["step"] == 2 else row

    folder = RunFolder(tmp_path / "sweep", users=(2, 4, 8), measure=12, edit=busy_in_the_last).write()
    assert [read_compared_run(folder, step).why_excluded for step in (0, 1)] == [None, None]
    assert (read_compared_run(folder).why_excluded or "").startswith("INVALID: step 3: the driver was busy")


def test_a_side_is_a_run_or_a_folder_of_runs(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        began(good(tmp_path / "side" / f"run-{number}"), f"01:23:{number:02}")
    bad(tmp_path / "side" / "run-11")
    found = read_side(tmp_path / "side")
    assert [run.folder.name for run in found.runs] == ["run-1", "run-2", "run-10"]
    assert [run.folder.name for run in found.excluded] == ["run-11"]
    assert len(read_side(tmp_path / "side" / "run-1").runs) == 1


def test_a_pair_is_used_if_both_of_its_runs_are(tmp_path: Path) -> None:
    rows = []
    for pair in (1, 2):
        began(good(tmp_path / f"pair-{pair}" / "base"), f"01:2{pair}:00")
        new_one = (bad if pair == 2 else good)(tmp_path / f"pair-{pair}" / "new")
        began(new_one, f"01:3{pair}:00")
        rows.append({"pair": pair, "base": f"pair-{pair}/base", "new": f"pair-{pair}/new", "first": "base"})
    index = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "pairs.jsonl").write_text(index + '{"pair": 3, "ba')
    base, new = read_paired_sides(tmp_path)
    assert [run.folder.parent.name for run in base.runs] == ["pair-1"]
    assert [run.folder.parent.name for run in new.runs] == ["pair-1"]
    assert base.excluded[0].why == "the other run of its pair is left out"
    assert new.excluded[0].why.startswith("INVALID")


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of pairs with made-up runs; each pair has its own."""

    def read(folder: Path, _step: int | None) -> ComparedRun:
        number = int(folder.parent.name.removeprefix("pair-"))
        return runs.unmeasured_run(number, folder.name, folder=folder, figures={"throughput": 16.0 + number})

    monkeypatch.setattr(sides, "read_compared_run", read)
    return tmp_path


def index(folder: Path, *numbers: int, new: str = "new") -> None:
    rows = [{"pair": n, "base": f"pair-{n}/base", "new": f"pair-{n}/{new}", "first": "base"} for n in numbers]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_pairs_are_read_in_their_order(pairs: Path) -> None:
    index(pairs, 1, 2, 3)
    base, new = read_paired_sides(pairs)
    assert [str(run.folder.relative_to(pairs)) for run in base.runs] == ["pair-1/base", "pair-2/base", "pair-3/base"]
    assert (len(new.runs), base.excluded, new.excluded) == (3, [], [])


def test_a_pair_that_is_listed_twice_is_used_once(pairs: Path) -> None:
    index(pairs, *[1] * 8)
    base, new = read_paired_sides(pairs)
    assert (len(base.runs), len(new.runs)) == (1, 1)
    assert {each.why for each in base.excluded} == {"it is a copy of pair-1/base"}
    assert {each.why for each in new.excluded} == {"it is a copy of pair-1/new"}


def test_a_run_cannot_be_paired_with_itself(pairs: Path) -> None:
    index(pairs, 1, new="base")
    base, new = read_paired_sides(pairs)
    assert (base.runs, new.runs) == ([], [])
    assert base.excluded[0].why == "the other run of its pair is left out"
    assert new.excluded[0].why == "it is a copy of pair-1/base"
