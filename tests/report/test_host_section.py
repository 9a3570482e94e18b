"""The host's section: what its meters lose, and which steps show what the front end of 1979 printed."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuesta.analysis.summary import summarise
from cuesta.report.host_section import busiest_steps, describe_certainty
from cuesta.report.run_report import text
from cuesta.report.several import write_page
from tests.report import made_up
from tests.report.made_up import good
from tests.run_folder import CLOCK, NANO

LISTING = {
    "samples": 10,
    "covered": 1.0,
    "more": 0,
    "locations": [{"module": "kernel", "function": "tcp_ack", "samples": 10, "percent": 100.0}],
    "modules": [{"module": "kernel", "function": "", "samples": 10, "percent": 100.0}],
}


def test_the_page_has_tty_meters_and_ic_sample_of_the_measurement_interval(tmp_path: Path) -> None:
    folder = good(tmp_path / "run")
    with (folder / "meters.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": 0, "at": CLOCK + 32 * NANO, "profile": LISTING}) + "\n")
    write_page({"run": summarise(folder)}, folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "The front end&#39;s meters (tty_meters)" in page
    assert "Where the host&#39;s CPU time went (ic_sample)" in page
    assert "tcp_ack" in page


def step(number: int, tape: str, line_in: float, line_out: float) -> Any:
    builtin = SimpleNamespace(line_in_per_s=line_in, line_out_per_s=line_out)
    swept = {"tape": tape, "users": number}
    return SimpleNamespace(step=number, swept=swept, host=SimpleNamespace(builtin=builtin))


def test_for_each_tape_it_is_the_step_whose_lines_carried_most() -> None:
    steps = [step(0, "a", 1, 5), step(1, "a", 1, 9), step(2, "b", 1, 3), step(3, "a", 9, 2), step(4, "b", 1, 1)]
    summary: Any = SimpleNamespace(steps=steps)
    assert [each.step for each in busiest_steps(summary)] == [3, 2]


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("parents", "processes that no parent waited for, or that left their parents, are lost"),
        ("exit_records_by_parent", "those that left their parents are lost"),
        ("exit_records", ""),
    ],
)
def test_processes_that_meters_lose_are_said_beside_the_cpu_time(tmp_path: Path, source: str, lost: str) -> None:
    folder = made_up.without_limits(tmp_path / "run")
    meters = folder / "meters.jsonl"
    meters.write_text(meters.read_text("utf-8").replace('"exit_records"', f'"{source}"'), "utf-8")
    first_screen = " ".join(text(summarise(folder), colour=False).split())
    assert ("at least: its CPU time is by its processes' accounts" in first_screen) is bool(lost)
    assert lost in first_screen


def test_the_certainty_of_cpu_figures_is_stated_in_words(tmp_path: Path) -> None:
    host = summarise(made_up.good(tmp_path / "run")).last.host
    assert host.meters
    (fact, *_) = describe_certainty(replace(host, meters=replace(host.meters, order=4, honesty="all of it is shared")))
    assert fact == "CPU figures: least certain (level 4 of 4), because all of it is shared"
