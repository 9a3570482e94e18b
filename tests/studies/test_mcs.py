"""Plays the study of the communication system: its short plan, and bisync lines for seconds."""

import json
import re
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write

STUDY = Path(__file__).parents[2] / "studies" / "mcs"


@pytest.mark.nightly
def test_the_mcs_study_goes_past_the_saturation_of_the_front_end(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """A transaction takes 30 ms of the one server, so that 33.3 a second are the most, however many are offered."""
    write("cuesta.toml", BUSY)
    code = main(["run", str(STUDY / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert all(limit["ok"] for limit in summary["limits"]), "no error, no line lost"
    steps = {
        (Path(step["swept"]["tape"]).stem, step["users"], step["swept"]["think"]): step for step in summary["steps"]
    }
    assert {tape for tape, *_ in steps} == {"interactive", "output"}
    for (tape, users, _), step in steps.items():
        front_end = step["host"]["builtin"]
        assert front_end["lines"] == users
        assert step["lost_users"] == step["errors"]["count"] == 0
        if tape == "interactive":
            # The ends of the interval cut some transactions; at most one for each user waits at either end.
            cut = users / step["seconds"] / 4
            assert front_end["answered_per_s"] == pytest.approx(step["transactions"]["per_s"], rel=0.02, abs=cut)
            assert front_end["typed_per_s"] == pytest.approx(13 * front_end["served_per_s"], rel=0.1)
            assert front_end["written_per_s"] == pytest.approx(150 * front_end["answered_per_s"], rel=0.1)
            assert front_end["input_conversion"] == pytest.approx(5 / 13, rel=0.1)
            assert front_end["output_conversion"] == pytest.approx(1, rel=0.1)
            assert front_end["pool_free"] > 0.9 * front_end["pool_size"] == 0.9 * 77_504
        else:
            assert step["characters"]["line_out_per_s"] == pytest.approx(480 * users, rel=0.1)
    (past,) = summary["past_saturation"]
    assert past["most_per_s"] == pytest.approx(1 / 0.030, rel=0.05)
    assert past["offered"] > 5
    assert past["kept"] > 0.95
    assert (past["errors"], past["lost_users"]) == (0, 0)
    assert steps["interactive", 96, "exp 10s"]["transactions"]["per_s"] < 0.5 * past["most_per_s"]
    assert "past saturation: the largest throughput was 33" in said
    assert re.search(r"interactive_8 +96 +4,800 .*\(5\.2\) .*\(33\) .*\(<15%\) .*\(200\)", said), "a row of 1979"
    assert re.search(r"mr8_3 +96 +3 .*\(3\.6\) .*\(50%\) .*\(330\)", said)
    assert main(["meters", "--front-end", "out"]) == Exit.GOOD
    listing = capsys.readouterr().out
    assert "  input 0.38 (ascii/raw)" in listing
    assert "ave input message 5.00 chars" in listing
    assert "ave output message 150 chars" in listing


def test_the_bisync_study_prints_the_lines_of_1979(
    here: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    """`test_bisynchronous`: what one line of a pair sends, the other receives, at no more than the line's speed."""
    write("cuesta.toml", BUSY)
    short = ["--settle", "500ms", "--measure", "4s", "--stagger", "10ms"]
    plan = str(STUDY / "bisync.toml")
    code = main(["run", plan, *short, "--out", "out", "--quiet", "--json", "summary.json"])
    said, summary = capsys.readouterr().out, json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert [step["users"] for step in summary["steps"]] == [6, 12, 18]
    assert all(limit["ok"] for limit in summary["limits"])
    for step in summary["steps"]:
        bisync, seconds = step["bisync"], step["seconds"]
        assert not any(bisync["counters"].values())
        assert len(bisync["lines"]) == step["users"]
        for line in bisync["lines"]:
            assert 0 < line["cps"] < 1200
            assert line["baud"] == pytest.approx(8 * line["cps"])
            assert line["characters_out"] % 250 == line["characters_in"] % 250 == 0
        sent, received = (sum(line[name] for line in bisync["lines"]) for name in ("characters_out", "characters_in"))
        assert bisync["characters_per_s"] == pytest.approx((sent + received) / seconds)
        # At each end of the interval a message of each line may be under way.
        assert abs(sent - received) <= 2 * 250 * step["users"]
        assert sum(line["received"] for line in bisync["lines"]) * 250 == received
        assert step["transactions"]["per_s"] == pytest.approx(bisync["messages_per_s"], rel=0.1)
    assert re.search(r"mr8_12 +12 .*\(11\.4\) .*\(<2%\)", said)
    assert re.search(r"line +SEQ +received +out +in +SECONDS +CPS +BAUD", said)
    assert main(["meters", "--front-end", "out"]) == Exit.GOOD
    listing = capsys.readouterr().out
    # Each message with CR LF; 1979 printed 252.9, with STX and ETX.
    assert "ave input message 252 chars" in listing
    assert "  input 1.00 (ascii/raw)" in listing
