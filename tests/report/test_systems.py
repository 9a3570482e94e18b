"""Certified systems side by side."""

from pathlib import Path

import pytest

from cuesta.ledger.record import CertificationSetup, Driver, FormRow, Measurements, Record, RecordFigure
from cuesta.report.systems import cpu_by_cause, write_systems
from tests.certification_runs import METHOD
from tests.ledger.test_certification import GIVEN
from tests.report.test_form import WORK

CAUSES = {"Missing page fault time": 0.4, "Linkage fault time": 0.0, "Non-fault time": 1.6}


def known(value: float) -> RecordFigure:
    return RecordFigure(value=value)


def form_row(name: str, value: float) -> FormRow:
    missing, spent = RecordFigure(why="no such phase"), known(value)
    return FormRow(key=name.lower(), name=name, unit="s", creation=missing, command=spent, total=spent, formula="")


def record(system: str, users: int = 4) -> Record:
    """The record of a system whose `users` processes used 2 s of CPU time together."""
    rows = [*(form_row(name, value) for name, value in CAUSES.items()), form_row("Total", sum(CAUSES.values()))]
    return Record(
        id="00",
        given=CertificationSetup.model_validate({**GIVEN, "system": system}),
        driver=Driver(lateness_p50=known(0.0), lateness_p99=known(0.0), cpu=0.1, run_wait=0.0),
        workload=WORK.model_copy(update={"sha256": "00", "users": users}),
        method=METHOD,
        runs=[],
        measurements=Measurements(a=[], b=rows, c=[], d=[]),
        published=[],
        checks=[],
        grade="observation" if "<" in system else "certified",
        because=["it had not settled"] if "<" in system else [],
        warnings=[],
        raw={},
    )


def page(folder: Path, **systems: Record) -> str:
    write_systems({name: (folder / name, system) for name, system in systems.items()}, folder / "systems.html")
    return (folder / "systems.html").read_text()


def test_causes_are_per_process_and_zero_is_not_absent() -> None:
    cost = cpu_by_cause(record("MR8", users=4), "command")
    assert cost == pytest.approx({"Missing page fault": 0.1, "Linkage fault": 0.0, "Non-fault": 0.4})
    assert cpu_by_cause(record("MR8"), "creation") == {}


def test_each_system_has_a_bar_and_a_column(tmp_path: Path) -> None:
    text = page(tmp_path, MR7=record("MR7"), MR8=record("MR8"))
    assert "2 systems side by side" in text
    assert "CERTIFIED" in text
    assert "Command sequence, by cause" in text
    assert "Process creation" not in text, "this system was not metered"
    assert "<tr><td>Total</td><td>500 ms</td><td>500 ms</td></tr>" in text
    assert text.count(">MR7<") >= 2


def test_systems_with_different_scripts_do_not_share_a_plot(tmp_path: Path) -> None:
    other = record("batch")
    other = other.model_copy(update={"workload": other.workload.model_copy(update={"sha256": "ff" * 32})})
    text = page(tmp_path, MR7=record("MR7"), MR8=record("MR8"), batch=other)
    assert "played different scripts" in text
    assert "Command sequence, certification, script 00" in text
    assert "Command sequence, certification, script ffffffffffff" in text
    assert text.count("part IV b of the form") == 2


def test_an_uncertified_system_has_its_reason_and_names_are_escaped(tmp_path: Path) -> None:
    text = page(tmp_path, MR7=record("MR7"), new=record("<MR8>"))
    assert "NOT ALL CERTIFIED" in text
    assert "new: it had not settled" in text
    assert "&lt;MR8&gt;" in text
    assert "<MR8>" not in text


def test_a_single_certification_is_shown_as_its_form(tmp_path: Path) -> None:
    assert "System Performance Certification Record: MR8" in page(tmp_path, MR8=record("MR8"))
