"""Plays the short plan of the study of TMux."""

import json
import re
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write

STUDY = Path(__file__).parents[2] / "studies" / "tmux"
CONFIGURATIONS = [(path, hold) for path in ("user", "kernel") for hold in ("off", "20ms")]


@pytest.mark.nightly
def test_the_tmux_study_types_in_all_four_configurations(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """In each step TMux sends fewer packets and takes longer; what it saves the host, one measurement does not tell."""
    write("cuesta.toml", BUSY)
    code = main(["run", str(STUDY / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    steps = {(step["swept"]["host.path"], step["swept"]["tmux"], step["users"]): step for step in summary["steps"]}
    assert set(steps) == {(*configuration, users) for configuration in CONFIGURATIONS for users in (5, 25, 100)}
    for (path, hold, users), step in steps.items():
        assert step["errors"]["count"] == 0
        assert step["transactions"]["count"] == pytest.approx(5 * users * step["seconds"], rel=0.1)
        assert step["host"]["cpu_per_keystroke"] > 0
        assert (step["host"]["builtin"]["in_kernel"] or 0) >= (0.99 if path == "kernel" else 0)
        assert (step["tmux"] is None) == (hold == "off")
        if hold != "off":
            without = steps[path, "off", users]
            assert step["wire"]["packets_per_keystroke"] < 0.7 * without["wire"]["packets_per_keystroke"]
            assert step["response"]["p50"] > without["response"]["p50"] + 0.010
            assert step["tmux"]["segments_per_datagram"] > 1.5
            assert step["tmux"]["driver"]["plain"] == step["tmux"]["host"]["plain"] == 0
    assert said.count("in brackets: as published in P. Cameron") == 4
    assert re.search(r"25 .*\(6\) .*\(53\) .*\(40\) .*\(60\) .*\(40\)", said), "a row of 1993 beside the measured one"
    assert "measured fewer than 4 times each" in said


def test_the_tmux_study_is_played_at_9600_baud_by_a_flag(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command of the study's README."""
    command = ["run", str(STUDY / "plan.toml"), "--line-speed", "9600"]
    assert "studies/tmux/plan.toml --line-speed 9600 " in (STUDY / "README.md").read_text()
    assert main([*command, "--dry-run"]) == Exit.GOOD
    assert "load paced:200ms, line_speed 9600," in capsys.readouterr().out
