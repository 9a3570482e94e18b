import json
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from cuesta.engine.job import prepare
from cuesta.engine.spec import Threads, host_spec, run_spec
from cuesta.plan import RawOptions, load
from cuesta.records.reading import to_row
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
    threads = Threads([0], may_spin=True)
    assert json.dumps(to_row(run_spec(job, segment, "telnet://127.0.0.1:4001", threads)), indent=1) == snapshot(
        name="run"
    )
    step = segment.steps[0]
    placed = {"seed": 7, "cpus": [1], "meters": "host"}
    hosts = host_spec(step.settings.host, job.service(step), ["telnet://127.0.0.1:0"], placed)
    assert json.dumps(hosts, indent=1) == snapshot(name="host")
