"""If the kernel cannot be traced as requested, Cuesta says so before, during and after the run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta import _native
from cuesta.errors import Exit
from cuesta.plan.meter_places import tracing_tier
from tests.busy import BUSY
from tests.conftest import Cuesta, Write

WHY = "only root, or a process with CAP_BPF and CAP_PERFMON, may trace"
WITHOUT = ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin", "--"]
"""Runs a command as root that may not trace."""


@pytest.mark.parametrize(
    ("meters", "tier"),
    [
        ("exact", "exact"),
        ("calls:pid:7", "calls"),
        ("ssh://h?tier=exact", "exact"),
        ("ssh://h", None),
        ("auto", None),
        ("machine", None),
        ("http://h:9100/metrics?tier=exact", None),
    ],
)
def test_meters_that_trace(meters: str, tier: str | None) -> None:
    assert tracing_tier(meters) == tier


@pytest.mark.parametrize("meters", ["exact", "calls", "exact:machine"])
def test_a_dry_run_says_that_tracing_is_unavailable(
    meters: str, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "why_untraced", lambda **_: WHY)
    dry = ("run", "--dry-run", "--meters", meters)
    assert f"METERS  {meters}: not traced: {WHY}" in cuesta(*dry).ends().out
    assert cuesta(*dry, "--json", "-").ends().json["untraced"] == WHY


@pytest.mark.parametrize("meters", ["auto", "plain", "exact:machine"])
def test_a_dry_run_is_silent_if_tracing_is_available_or_not_requested(meters: str, cuesta: Cuesta) -> None:
    assert "not traced" not in cuesta("run", "--dry-run", "--meters", meters).ends().out


def test_progress_summary_and_json_say_that_tracing_was_unavailable(write: Write, here: Path) -> None:
    write("cuesta.toml", BUSY)
    write("p.toml", f'tape = "builtin:interactive"\nmeters = "exact"\nusers = 2\nsettle = "0s"\nmeasure = "3s"\n{BUSY}')
    cuesta = [sys.executable, "-m", "cuesta", "run", "p.toml", "--out", "out", "--json", "out.json"]
    ran = subprocess.run([*WITHOUT, *cuesta], capture_output=True, text=True, check=False, cwd=here)
    assert ran.returncode in (Exit.GOOD, Exit.INVALID), ran.stderr
    assert f"cuesta: --meters exact: not traced: {WHY}" in ran.stderr
    text = " ".join(ran.stdout.split())
    assert f"not traced, though that was asked for: {WHY}" in text
    assert json.loads((here / "out.json").read_text())["host"]["meters"]["untraced"] == WHY
    page = (here / "out" / "report.html").read_text()
    assert "not traced, though that was asked for" in page


@pytest.mark.nightly
def test_a_certification_says_it_before_the_runs_and_on_its_form(write: Write, here: Path) -> None:
    write("t.tape", "Set KeyRate 0\nSet Prompt /[$] $/\nTransaction \"process creation\"\n  Enter\n  Wait+Prompt\nEnd\n"
          "Barrier \"created\"\nSleep 800ms\nType \"date\"\nEnter\nWait+Prompt\nSleep 60m\n")  # fmt: skip
    write("p.toml", 'tape = "t.tape"\ntarget = "pipe:env PS1=\'$ \' sh -i"\nsettle = "0s"\nmeasure = "3s"\n' + BUSY)
    cuesta = [sys.executable, "-m", "cuesta", "certify", "p.toml", "--runs", "1", "--out", "out"]
    ran = subprocess.run([*WITHOUT, *cuesta], capture_output=True, text=True, check=False, cwd=here)
    assert ran.returncode == Exit.GOOD, ran.stderr
    assert f"group users: not traced: {WHY}; the form will lack the figures that need tracing" in ran.stderr
    record = json.loads((here / "out" / "record.json").read_text())
    assert record["method"]["untraced"] == WHY
    assert list(record["method"]["apart"]) == ["linkage", "control"]
    c = {row["key"]: row for row in record["measurements"]["c"]}
    assert c["wall_crossing.number"]["command"]["why"] == f"no meter data (not traced: {WHY})"
    assert c["linkage.number"]["command"]["value"] > 0, "linkers report without privileges"
    assert record["grade"] != "certified"
