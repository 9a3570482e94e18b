"""`--json-lines` at a real run: what a pipe reads."""

import json
import subprocess
import sys
from pathlib import Path

from tests.busy import BUSY

PLAN = f"""
users = 4
stagger = "1ms"
settle = "1s"
measure = "2s"
think = "exp 100ms"
meters = "none"
{BUSY}"""


def command(here: Path) -> list[str]:
    (here / "plan.toml").write_text(PLAN)
    return [sys.executable, "-m", "cuesta", "run", "plan.toml", "--json-lines", "--quiet", "--out", "run"]


def test_a_pipe_reads_what_users_do_and_last_the_summary(tmp_path: Path) -> None:
    run = subprocess.run(command(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=True)
    rows = [json.loads(row) for row in run.stdout.splitlines()]
    (step,) = [row for row in rows if row["kind"] == "step"]
    assert step["load"] == 4
    assert 4 in [sum(row["users_by_activity"].values()) for row in rows if row["kind"] == "moment"]
    assert rows[-1]["kind"] == "end"
    assert rows[-1]["summary"] == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_a_reader_that_leaves_changes_nothing_in_the_run(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(command(tmp_path), cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as run:
        assert run.stdout
        assert run.stderr
        assert json.loads(run.stdout.readline())
        run.stdout.close()
        said = run.stderr.read()
    assert run.returncode == 0, said
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
