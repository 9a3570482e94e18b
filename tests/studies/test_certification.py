"""Plays the short plans of the studies of certification and of the benchmark."""

import json
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.engine import certifier
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import measured

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.nightly
def test_the_certification_study_is_played(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run; whether it would be certified depends on the machine."""
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    write("cuesta.toml", BUSY.replace("settled = false\n", ""))
    plan = STUDIES / "certification" / "short.toml"
    code = main(["certify", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    record = json.loads((here / "out" / "record.json").read_text())
    assert (code, record["method"]["excluded"], record["grade"]) == (Exit.GOOD, {}, "observation")
    assert (record["workload"]["attached"], record["workload"]["users"]) == ("typewriter", 4)
    # How many there are depends on the machine. They are those that the run recorded, and at most those of the tape.
    assert 0 < record["runs"][0]["transactions"] == measured(here / "out" / "run-1") <= 12 * 4
    assert main(["certify", "--verify", "out"]) == Exit.GOOD


@pytest.mark.nightly
def test_the_benchmark_study_is_played(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    write("cuesta.toml", BUSY.replace("settled = false\n", ""))
    plan = STUDIES / "benchmark" / "short.toml"
    code = main(["certify", "--absentee", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    record = json.loads((here / "out" / "record.json").read_text())
    assert (code, record["method"]["excluded"]) == (Exit.GOOD, {})
    assert (record["given"]["kind"], record["workload"]["users"]) == ("benchmark", 20)
    assert record["runs"][0]["transactions"] == 20
    assert record["measurements"]["d"][0]["figure"]["value"] > 0
