"""The host's meters in the summary: figures, and reasons for missing ones."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.host_figures import PARTS, derive_host_figures
from cuesta.ledger import open_run
from tests.meter_reports import meter_report, missing, plain
from tests.run_folder import CLOCK, NANO, Row, RunFolder, edit_run, write_rows

ABOUT = {"about": {"source": "here", "subject": "pid:4711", "why": "the built-in host's process", "honesty": "shared"}}


def derive(path: Path, *rows: Row, about: Row = ABOUT) -> Any:
    """Derive the figures of a run of 30 seconds from these rows of its meters."""
    folder = RunFolder(path / "run").write()
    end = CLOCK + 32 * NANO
    write_rows(folder / "meters.jsonl", [{"at": end if "sheet" in row else CLOCK, **row} for row in (about, *rows)])
    run = open_run(folder)
    return derive_host_figures(run, 0, run.steps[0], [row for row in run.agents[0].intervals if row.measured])


def of_report(path: Path, report: Row | None = None, **about: object) -> Any:
    """Derive the figures of a run from the report of its step."""
    return derive(path, {"step": 0, "sheet": report or meter_report()}, about={"about": {**ABOUT["about"], **about}})


def row(second: int, **figures: float) -> Row:
    cpu = {"usr": 1.0, "sys": 1.0, "irq": 1.0, "iowait": 1.0, "steal": 1.0, "idle": 95.0, "load": 5.0}
    return {
        "at": CLOCK + (second + 1) * NANO,
        "seconds": 1.0,
        "row": {"cpu": {**cpu, **figures}, "own": {"usr": 0.5, "sys": 0.25, "others": 1.25}},
    }


def test_a_host_that_is_part_of_a_machine_has_its_own_cpu_use(tmp_path: Path) -> None:
    found = of_report(tmp_path)
    assert (found.cpu.usr, found.cpu.sys, found.cpu.others) == (8.0, 4.0, 18.0)
    assert sum(getattr(found.cpu, name) for name in (*PARTS, "others")) == pytest.approx(100.0)
    assert found.cpu.load == 36.0
    assert found.cpu_missing is None
    assert found.meters.subject == "pid:4711"
    assert found.meters.closes
    whole = of_report(tmp_path / "whole", meter_report(part=False))
    assert (whole.cpu.usr, whole.cpu.sys, whole.cpu.others) == (20.0, 10.0, None)


def test_interrupts_without_separate_time_are_counted_with_others(tmp_path: Path) -> None:
    mingled = meter_report()
    mingled["own"]["irq"], mingled["own"]["others"] = missing("in whose time they came"), plain(19.0)
    found = of_report(tmp_path, mingled)
    assert (found.cpu.usr, found.cpu.irq, found.cpu.others) == (8.0, None, 19.0)
    found = derive(tmp_path / "rows", *map(row, range(5)))
    assert (found.cpu.usr, found.cpu.irq, found.cpu.others) == (0.5, None, 1.25)


def test_figures_per_transaction_cover_the_same_interval(tmp_path: Path) -> None:
    found = of_report(tmp_path)
    each = found.per_transaction
    assert (each.transactions, each.cpu_ms) == (pytest.approx(60.0), pytest.approx(120.0))
    assert (each.minor_faults, each.major_faults) == (pytest.approx(10.0), pytest.approx(1.0))
    assert (each.switches, each.ios) == (pytest.approx(5.5), pytest.approx(1.5))
    assert each.system_calls is None
    assert each.of_machine == ["ios"]
    assert found.meters.gaps == []


def test_figures_of_a_subject_that_ended_use_the_transactions_until_then(tmp_path: Path) -> None:
    # Measured from 2 to 32, last seen at 8.5: two transactions a second until then.
    row = {"step": 0, "sheet": meter_report(0, 6.5), "at": CLOCK + int(8.5 * NANO)}
    found = derive(tmp_path, row)
    assert (found.per_transaction.transactions, found.per_transaction.cpu_ms) == (13.0, pytest.approx(120.0))
    assert found.meters.gaps == ["the figures are of 6.5 s out of 30.0 s"]


def test_a_step_without_a_meter_report_is_computed_from_its_seconds(tmp_path: Path) -> None:
    # Measured from 2 to 32: the second that ends at 2.5 counts half.
    half = row(1, idle=35.0)
    half["at"] += NANO // 2
    rows = [row(0, idle=0.0), half, row(5, idle=65.0)]
    found = derive(tmp_path, *rows)
    assert found.cpu.idle == pytest.approx((0.5 * 35.0 + 65.0) / 1.5)
    assert (found.cpu.usr, found.cpu.others) == (0.5, 1.25)
    assert found.meters.seconds == pytest.approx(1.5)


def test_missing_figures_have_a_reason(tmp_path: Path) -> None:
    run = open_run(RunFolder(tmp_path / "none").write())
    assert derive_host_figures(run, 0, run.steps[0], []).cpu_missing == "no meter data: this run recorded no meters"
    elsewhere = {**ABOUT["about"], "source": "none", "why": "the target is not on this machine"}
    found = derive(tmp_path / "elsewhere", about={"about": elsewhere})
    assert (found.cpu, found.cpu_missing) == (None, "no meter data: the target is not on this machine")
    gap = {"gap": "ssh: connection refused", "at": CLOCK + 3 * NANO}
    found = derive(tmp_path / "gap", gap)
    assert found.cpu_missing == "no meter data: ssh: connection refused"
    assert found.meters.gaps == ["ssh: connection refused"]


def test_a_meter_that_was_given_up_before_the_step_is_missing_in_it(tmp_path: Path) -> None:
    gaps = [{"gap": why, "at": CLOCK - ago * NANO} for why, ago in (("not found", 9), ("still not found", 7))]
    assert derive(tmp_path, *gaps).meters.gaps == ["still not found"]
    assert derive(tmp_path / "rows", *gaps, *map(row, range(2, 32))).meters.gaps == []


def test_meters_that_fall_silent_without_an_end_are_told(tmp_path: Path) -> None:
    """As those of a machine whose link is cut: there is no report of the step, and no gap."""
    found = derive(tmp_path, *map(row, range(2, 7)))
    assert found.meters.gaps == ["the figures are of 5.0 s out of 30.0 s"]


def test_a_report_of_meters_that_began_again_near_the_end_is_no_figure_of_the_step(tmp_path: Path) -> None:
    gap = {"gap": "Killed", "at": CLOCK + 28 * NANO}
    found = derive(tmp_path, *map(row, range(2, 28)), gap, {"step": 0, "sheet": meter_report(0, 0.01)})
    assert (found.cpu.usr, found.cpu.idle, found.per_transaction) == (0.5, 95.0, None)
    assert found.meters.seconds == pytest.approx(26.0)
    assert found.meters.gaps == ["Killed", "the figures are of 26.0 s out of 30.0 s"]


def test_a_meter_report_without_cpu_time_is_not_zero(tmp_path: Path) -> None:
    empty = meter_report()
    empty["cpu"] = {name: missing() for name in empty["cpu"]}
    empty["own"]["seconds"] = missing()
    found = of_report(tmp_path, empty)
    assert found.cpu is None
    assert found.per_transaction.cpu_ms is None


def test_a_subject_that_has_ended_is_not_given_the_machines_figures(tmp_path: Path) -> None:
    report = meter_report()
    found = of_report(tmp_path, {**report, "own": {name: missing("process 4711 has ended") for name in report["own"]}})
    assert found.cpu is None
    assert found.cpu_missing == "no meter data: process 4711 has ended"
    assert found.per_transaction.cpu_ms is None


def test_rows_after_the_end_of_the_subject_are_not_used(tmp_path: Path) -> None:
    last = row(6, idle=5.0)
    last["row"]["own"] = {}
    found = derive(tmp_path / "part", row(5), last)
    assert (found.cpu.usr, found.cpu.idle) == (0.5, 95.0)
    assert derive(tmp_path / "all", last).cpu is None


def test_causes_are_percent_of_the_cpus(tmp_path: Path) -> None:
    cause = {"percent": plain(3.5), "seconds": plain(1.0), "count": missing(), "average": missing()}
    by_cause = plain(
        {"causes": {"user": cause, "linking": {**cause, "percent": missing()}}, "unclassified": 0.1, "about": {}}
    )
    assert of_report(tmp_path, meter_report(by_cause=by_cause)).cpu_by_cause == {"user": 3.5}


@pytest.mark.parametrize(("estimate", "each"), [(plain(120.0), 2.0), (missing("only 20 samples tell of it"), None)])
def test_system_calls_are_estimated_from_samples(tmp_path: Path, estimate: dict[str, Any], each: float | None) -> None:
    about = {"calls_estimated": estimate, "calls_estimated_from": plain(20.0)}
    by_cause = plain({"causes": {}, "unclassified": 0.1, "about": about})
    found = of_report(tmp_path, meter_report(by_cause=by_cause))
    assert (found.per_transaction.system_calls, found.per_transaction.system_calls_estimated) == (None, each)


def test_the_attribution_level_is_reported_and_older_records_have_none(tmp_path: Path) -> None:
    assert of_report(tmp_path / "new", order=2).meters.order == 2
    assert of_report(tmp_path / "old").meters.order is None


def test_machine_time_is_not_divided_by_transactions_if_the_driver_used_more(tmp_path: Path) -> None:
    found = of_report(tmp_path, meter_report(part=False), subject="machine")
    assert found.per_transaction is not None
    assert found.per_transaction_missing is None
    little = meter_report(part=False)
    little["own"]["seconds"] = plain(1.5 * 30 * 0.01)  # the driver used a hundredth of a CPU
    found = of_report(tmp_path / "little", little, subject="machine")
    assert found.per_transaction is None
    assert "the driver used" in found.per_transaction_missing
    with edit_run(tmp_path / "little" / "run") as about:
        about["machine"]["id"], about["nodes"] = "engine", [{"name": "driver", "machine": {"id": "driver"}}]
    run = open_run(tmp_path / "little" / "run")
    elsewhere = derive_host_figures(run, 0, run.steps[0], [row for row in run.agents[0].intervals if row.measured])
    assert elsewhere.per_transaction is not None, "the driver was on another machine"
    # CPU time of the process is divided by transactions, even if others used the machine too.
    assert of_report(tmp_path / "own", little).per_transaction is not None


def test_the_source_and_its_doubts_are_in_the_summary(tmp_path: Path) -> None:
    doubtful = meter_report()
    doubtful["own"]["doubt"] = "its clocks have 0.08 s"
    found = of_report(tmp_path, doubtful)
    assert (found.meters.accounting, found.meters.doubt) == ("exit_records", "its clocks have 0.08 s")
    doubtful["closure"]["accounted"] = missing("it has ended")
    found = of_report(tmp_path / "ended", doubtful)
    assert found.meters.closes is None
