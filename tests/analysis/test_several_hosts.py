"""Several hosts that were metered in one run: each has figures of its own, and what is said of one has its name."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.summary import Summary, summarise
from cuesta.report.run_report import text
from tests.meter_reports import cpu, meter_report, plain
from tests.run_folder import CLOCK, NANO, Row, RunFolder, edit_run, write_rows

ABOUT: Row = {"source": "ssh", "subject": "farm: machine", "why": "as asked for", "honesty": "its own", "order": 1}


def run(path: Path, **figures: Any) -> RunFolder:
    """A run whose first host, the bastion, is busy 34 % of the time."""
    return RunFolder(path, measure=30, steal=0.0, plan={"meters": "bastion=pid:4711,farm=ssh://farm"}, **figures)


def add_farm(folder: Path, *rows: Row) -> Summary:
    """Add a second host, with the rows of its meters after the first; sum up the run."""
    with edit_run(folder) as about:
        about["metered"] = ["bastion", "farm"]
    write_rows(folder / "meters-farm.jsonl", [{"at": CLOCK, **row} for row in ({"about": ABOUT}, *rows)])
    return summarise(folder)


def report_of(usr: float, steal: float = 0.0) -> Row:
    """The report of a machine whose programs used `usr` percent of its CPUs."""
    used = {"usr": plain(usr), "sys": plain(10.0), "percent": plain(usr + 10), "seconds": plain(0.6 * (usr + 10))}
    report = meter_report(part=False, cpu=cpu(usr=usr, steal=steal))
    return {"at": CLOCK + 32 * NANO, "step": 0, "sheet": {**report, "own": {**report["own"], **used}}}


def said(summary: Summary) -> str:
    return " ".join(text(summary, colour=False).split())


def test_each_host_has_its_own_figures_and_the_first_is_the_host(tmp_path: Path) -> None:
    summary = add_farm(run(tmp_path / "run").write(), report_of(usr=60.0))
    whole = summary.json()
    assert list(whole["hosts"]) == ["bastion", "farm"]
    assert whole["hosts"]["bastion"] == whole["host"]
    assert whole["hosts"]["farm"]["cpu"]["usr"] == 60.0
    assert whole["hosts"]["farm"]["per_transaction"]["cpu_ms"] == pytest.approx(
        1e3 * 42 / whole["transactions"]["count"]
    )
    assert "HOST bastion: pid:4711," in said(summary)
    assert "HOST farm: machine, as asked for: usr 60.0 %" in said(summary)


def test_a_run_that_metered_one_host_has_no_others(tmp_path: Path) -> None:
    summary = summarise(run(tmp_path / "run").write())
    assert summary.json()["hosts"] is None
    assert "HOST pid:4711," in said(summary)


def test_a_limit_is_of_the_first_host_unless_it_names_another(tmp_path: Path) -> None:
    limits = ("host.cpu.usr < 50%", "host{bastion}.cpu.usr < 50%", "host{farm}.cpu.usr < 50%", "host{none}.cpu.usr < 1")
    summary = add_farm(run(tmp_path / "run", limits=limits).write(), report_of(usr=60.0))
    assert [(each.value, each.ok) for each in summary.last.limits] == [(8, True), (8, True), (60, False), (None, False)]


def test_a_published_figure_is_of_the_host_that_it_names(tmp_path: Path) -> None:
    row = {"what": "farm", "figure": "host{farm}.cpu.usr", "value": "30", "source": "a memo"}
    summary = add_farm(run(tmp_path / "run", published=(row,)).write(), report_of(usr=60.0))
    assert [(each.figure, each.measured, each.ratio) for each in summary.published] == [("host{farm}.cpu.usr", 60, 2)]


def test_the_bottleneck_is_of_a_host_by_name(tmp_path: Path) -> None:
    summary = add_farm(run(tmp_path / "run").write(), report_of(usr=88.0))
    assert "CPU of farm is 99.0 % busy at 4 users" in summary.json()["limited_by"]
    idle = add_farm(run(tmp_path / "idle").write(), report_of(usr=20.0))
    assert "what the hosts use most at 4 users is the CPU quota of farm (40.0 %)" in idle.json()["limited_by"]


def test_a_host_whose_meter_died_is_named_and_silences_no_other(tmp_path: Path) -> None:
    summary = add_farm(run(tmp_path / "run").write(), {"gap": "connection refused"})
    host, farm = summary.last.host, (summary.last.hosts or {})["farm"]
    assert host.cpu
    assert (farm.cpu, farm.cpu_missing) == (None, "no meter data: connection refused")
    assert "HOST farm: no meter data: connection refused" in said(summary)
    assert summary.json()["limited_by"].startswith("not known: farm was not metered, and ")
    assert summary.json()["limited_by"].endswith("; HOST says why")


def test_the_hypervisor_is_doubted_by_the_host_that_it_took_from(tmp_path: Path) -> None:
    summary = add_farm(run(tmp_path / "run", validity={"steal": 0.1}).write(), report_of(usr=20.0, steal=25.0))
    assert [str(each.doubt) for each in summary.doubts] == [
        "the hypervisor took 25.0 % of farm's CPUs (allowed 10.0 %)"
    ]


def test_a_gap_of_one_host_is_noticed_by_its_name(tmp_path: Path) -> None:
    gap = {"at": CLOCK + 3 * NANO, "gap": "the meter's process ended with 1"}
    summary = add_farm(run(tmp_path / "run").write(), gap, report_of(usr=20.0))
    assert "farm: a gap in the meters: the meter's process ended with 1" in said(summary)
