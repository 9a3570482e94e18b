import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.engine.job import prepare
from cuesta.engine.spec import host_spec, may_spin, run_spec
from cuesta.plan import RawOptions, load
from tests.conftest import Write

PLAN = """
seed = 7
settle = "1s"
measure = "2s"
think = "exp 1s"

[[group]]
name = "typists"
users = 3
load = "paced:200ms"
line_speed = 9600

[[group]]
name = "readers"
tape = "read.tape"
data = "users.csv"
target = "tcp://127.0.0.1:9"
load = "open:30/m:sessions"

[host]
service = "transaction 80"
stall = "10s for 1.4s"
delay = "5ms"

[sweep]
group.typists.users = [3, 6]
"""


def test_specifications_of_the_driver_and_the_host(here: Path, write: Write, snapshot: SnapshotAssertion) -> None:
    write("read.tape", 'Type "${user}"')
    write("users.csv", "user\nann\n")
    job = prepare(load(RawOptions(plan=write("plan.toml", PLAN)), here))
    (segment,) = job.plan.segments()
    assert json.dumps(run_spec(job, segment, "telnet://127.0.0.1:4001", [0]), indent=1) == snapshot(name="run")
    step = segment.steps[0]
    placed = {"seed": 7, "cpus": [1], "meters": "host"}
    spec = host_spec(step.settings.host, job.service(step), ["telnet://127.0.0.1:0"], placed)
    assert json.dumps(spec, indent=1) == snapshot(name="host")


@pytest.mark.parametrize(
    ("targets", "pinned", "spins"),
    [
        ({"host:"}, False, False),
        ({"host:"}, True, True),
        ({"telnet://127.0.0.1:2399"}, False, False),
        ({"telnet://127.0.0.1:2399"}, True, True),
        ({"tcp://192.0.2.1:23"}, False, True),
        ({"tcp://192.0.2.1:23", "ssh://ann@localhost:22"}, False, False),
        # The programs are the driver's own children, on its CPUs.
        ({"pty:cat"}, True, False),
        ({"tcp://192.0.2.1:23", "pipe:cat"}, True, False),
    ],
)
def test_threads_spin_where_the_host_loses_no_cpu_time_by_it(targets: set[str], pinned: bool, spins: bool) -> None:
    assert may_spin(targets, pinned) == spins
