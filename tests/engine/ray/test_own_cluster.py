"""A cluster that Cuesta starts for a run, on a machine that has never had one."""

from pathlib import Path

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.engine.paced_rows import TAPE
from tests.engine.ray.site import CUESTA, wait_until
from tests.machines import environment, machines

PLAN = (
    """
tape = "row.tape"
users = 2
load = "paced:300ms"
line_speed = 0
stagger = "0s"
settle = "500ms"
measure = "1s"
meters = "none"
engine = "ray"
"""
    + BUSY
)


def test_a_cluster_of_its_own_leaves_no_process_and_nothing_where_others_look_for_theirs(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "row.tape").write_text(TAPE)
    with machines([0], tmp_path) as (machine,):
        before = machine.run(["ls", "-A", "/tmp"]).stdout
        command = ["env", "-C", str(tmp_path), CUESTA, "run", "plan.toml", "--out", "run", "--quiet"]
        done = machine.run(command, env=environment())
        assert done.returncode == Exit.GOOD, done.stdout + done.stderr
        wait_until(lambda: not machine.processes())
        assert machine.run(["ls", "-A", "/tmp"]).stdout == before
