"""The engine's side of metering: its reports are recorded, and its failures do not end the run."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.engine.local import metering as module
from cuesta.engine.local.child_processes import in_one_line
from cuesta.engine.local.meter_source import Attribution, MeterSource
from cuesta.engine.local.metering import Metering, compact, remedy_for, run_meters
from tests.meter_reports import meter_report

MARKING = """
import json, sys
report = json.loads(sys.argv[1])
print(json.dumps({**report, "at": 5}), flush=True)
for row in sys.stdin:
    if row == "profile\\n":
        print(json.dumps({"profile": {"listing": {"samples": 7}, "folded": "", "flame": "<svg/>"}}), flush=True)
        continue
    print(json.dumps({**report, "at": 6, "mark": True}), flush=True)
"""


def expect(meter: Metering, begin: int, *steps: tuple[int, int]) -> None:
    """Expect steps, each from an instant to another after the begin, in ns."""
    for number, (settled, end) in enumerate(steps):
        meter.expect(number, begin + settled, begin + end)
    meter.expect_no_more()


def run_program(program: str, source: str = "here") -> MeterSource:
    return MeterSource(
        [sys.executable, "-c", program, json.dumps(meter_report())], source, "pid:1", "why", Attribution("honest")
    )


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in (folder / "meters.jsonl").read_text().splitlines()]


def record(folder: Path, source: MeterSource, *steps: tuple[int, int]) -> list[dict[str, Any]]:
    """What is recorded of steps, each from an instant to another, in ns from now."""
    with run_meters(source, folder) as meter:
        expect(meter, _native.now(), *steps)
        meter.threads[-1].join(30)
    return rows(folder)


def joined(meter: Metering) -> None:
    """Wait until its threads have ended; no step is expected any more."""
    meter.expect_no_more()
    for thread in meter.threads:
        thread.join(30)
        assert not thread.is_alive()


def test_rows_are_recorded_and_each_step_has_a_report(tmp_path: Path) -> None:
    about, *others = record(tmp_path, run_program(MARKING), (0, 1), (2, 3))
    assert about["about"]["subject"] == "pid:1"
    assert [row["row"]["cpu"]["idle"] for row in others if "row" in row] == [64.0]
    assert [(row["step"], row["sheet"]["at"]) for row in others if "sheet" in row] == [(0, 6), (1, 6)]


def test_an_answer_may_arrive_before_the_request_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered, take, say = threading.Event(), Metering._take, Metering._send

    def taken(meter: Metering, text: str) -> None:
        take(meter, text)
        if '"mark"' in text:
            answered.set()

    def send_and_wait(meter: Metering, order: str) -> bool:
        answered.clear()
        told = say(meter, order)
        assert order != "mark" or answered.wait(30)
        return told

    monkeypatch.setattr(Metering, "_take", taken)
    monkeypatch.setattr(Metering, "_send", send_and_wait)
    assert [row["step"] for row in record(tmp_path, run_program(MARKING), (0, 1)) if "sheet" in row] == [0]


def test_a_late_reading_is_reported(tmp_path: Path) -> None:
    with run_meters(run_program(MARKING.replace('"at": 6', '"at": 2**62')), tmp_path) as meter:
        meter.wait_until_it_reads()
        assert meter.reads.is_set()
        expect(meter, _native.now(), (0, 1))
        meter.threads[-1].join(30)
    late = [row["gap"] for row in rows(tmp_path) if "gap" in row]
    assert len(late) == 2, "only readings at both bounds of the step can be late, not the first one"
    assert "after a bound of a step: figures are not of all of it" in late[0]


def test_a_meter_that_never_reads_leaves_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STARTING", 0.0)
    with run_meters(run_program("import sys; sys.stdin.read()"), tmp_path) as meter:
        meter.wait_until_it_reads()
    assert [row["gap"] for row in rows(tmp_path) if "gap" in row] == ["no reading came within 0 s"]


def test_the_profile_of_each_measurement_interval_is_recorded_with_a_flame_graph(tmp_path: Path) -> None:
    recorded = record(tmp_path, run_program(MARKING), (0, 1), (2, 3))
    profiles = [(row["step"], row["profile"]) for row in recorded if "profile" in row]
    assert profiles == [(0, {"samples": 7}), (1, {"samples": 7})]
    assert (tmp_path / "flame.svg").read_text() == "<svg/>"


def test_a_step_that_ends_early_has_its_report(tmp_path: Path) -> None:
    with run_meters(run_program(MARKING), tmp_path) as meter:
        begun = threading.Event()
        mark = meter._mark

        def marked(step: int | None) -> None:
            mark(step)
            begun.set()

        meter._mark = marked  # type: ignore[method-assign]
        expect(meter, _native.now(), (0, 10**12))
        assert begun.wait(30)
    assert [row["step"] for row in rows(tmp_path) if "sheet" in row] == [0]


@pytest.fixture
def gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[MeterSource], list[str]]:
    """The gaps that meters leave which die again and again."""
    monkeypatch.setattr(module, "PAUSE", 0.01)

    def record_gaps(source: MeterSource) -> list[str]:
        with run_meters(source, tmp_path) as meter:
            joined(meter)
        return [row["gap"] for row in rows(tmp_path) if "gap" in row]

    return record_gaps


def test_a_meter_that_dies_leaves_a_gap_and_is_restarted(gaps: Callable[[MeterSource], list[str]]) -> None:
    found = gaps(run_program("import sys; print('strange'); sys.exit('it has no more to say')"))
    assert found == ["it said: strange", "it has no more to say"] * (module.RESTARTS + 1)


def test_the_gap_of_a_meter_that_cannot_start_says_why(gaps: Callable[[MeterSource], list[str]]) -> None:
    found = gaps(MeterSource(["/no/such/program"], "ssh", "x", "why", Attribution("")))
    assert "/no/such/program: No such file or directory" in found[0]
    found = gaps(run_program("import sys; sys.exit('bash: cuesta: command not found')", "ssh"))
    assert found[-1].startswith("bash: cuesta: command not found; install cuesta there, or say where")


def test_rows_of_another_machine_use_the_clock_of_this_one(tmp_path: Path) -> None:
    begun = _native.now()
    recorded = record(tmp_path, run_program(MARKING, "ssh"), (0, 1))
    assert all(begun <= row["at"] <= _native.now() for row in recorded)


def test_nothing_is_metered_with_meters_none(tmp_path: Path) -> None:
    with run_meters(MeterSource(None, "none", "nothing", "--meters none", Attribution("")), tmp_path) as meter:
        expect(meter, _native.now(), (0, 1))
    assert [list(row) for row in rows(tmp_path)] == [["at", "about"]]


def test_a_row_has_numbers_without_reasons() -> None:
    small = compact(meter_report())
    assert small["cpu"]["usr"] == 20.0
    assert small["counts"]["minor_faults"]["count"] == 600
    assert small["counts"]["of_machine"] == ["interrupts", "softirqs", "forks", "wakeups", "ios"]
    assert not {"wakeups", "execs"} & set(small["counts"])
    assert not {"notes", "wall", "total_time", "by_cause"} & set(small)


def test_an_error_of_two_lines_is_reported_in_one() -> None:
    assert (
        in_one_line("cuesta: no such process\n  see what runs with `ps`\n")
        == "no such process; see what runs with `ps`"
    )


@pytest.mark.parametrize(
    ("source", "why", "remedy"),
    [
        ("ssh", "Host key verification failed.", "known_hosts"),
        ("ssh", "connection refused", None),
        ("here", "Host key verification failed.", None),
    ],
)
def test_a_remedy_fits_the_error(source: str, why: str, remedy: str | None) -> None:
    found = remedy_for(source, why)
    assert found is None if remedy is None else remedy in (found or "")
