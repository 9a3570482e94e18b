"""`cuesta meters profile` on a process that does one thing."""

import json
import subprocess
import sys
from pathlib import Path

CUESTA = [sys.executable, "-m", "cuesta"]


def test_a_profile_names_what_a_process_does(tmp_path: Path) -> None:
    flame, folded = tmp_path / "flame.svg", tmp_path / "stacks"
    with subprocess.Popen([sys.executable, "-c", "while True: sum(range(9999))"]) as busy:
        try:
            words = ["meters", "profile", "2s", "--pid", str(busy.pid), "--flame", str(flame), "--folded", str(folded)]
            done = subprocess.run([*CUESTA, *words, "--json", "-"], capture_output=True, text=True, check=True)
        finally:
            busy.kill()
    found = json.loads(done.stdout)
    assert found["samples"] > 20
    assert found["covered"] >= 0.9
    assert "python" in found["modules"][0]["module"]
    assert found["sheet"]["by_cause"]["value"]["causes"]["user"]["seconds"]["value"] > 0
    assert flame.read_text().startswith("<svg ")
    assert sum(int(row.rpartition(" ")[2]) for row in folded.read_text().splitlines()) == found["samples"]


def test_a_fraction_is_between_nothing_and_all() -> None:
    done = subprocess.run(
        [*CUESTA, "meters", "profile", "1s", "--fraction", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "at most 1, got 2" in done.stderr
