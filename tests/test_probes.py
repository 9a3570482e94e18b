"""Probes in real runs: a driver that receives late is told from a host that is overloaded."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from cuesta.analysis.summary import Summary, summarise
from cuesta.engine.console import Console, look_away
from cuesta.engine.engines import LOCAL
from cuesta.engine.job import Job, prepare
from cuesta.engine.ports import Engine, Observer
from cuesta.engine.run_job import run_job
from cuesta.plan import RawOptions, load
from cuesta.records.observation import Observation
from tests.busy import BUSY
from tests.conftest import Write
from tests.engine.namespaces import NamespaceEngine, Node, Nodes

TAPE = 'Set KeyRate 20cps\nTransaction "row"\n  Type "abc"\n  Enter\n  Wait+Bytes 20\nEnd\n'
PLAN = """
tape = "row.tape"
meters = "none"
line_speed = 0
stagger = "20ms"
load = "{load}"
settle = "{settle}"
measure = "{measure}"
[host]
service = "transaction 20"
{host}
[[group]]
name = "load"
users = {users}
[[group]]
name = "probe"
role = "probe"
users = 10
"""


def run(write: Write, here: Path, engine: Engine, observe: Observer = look_away, **plan: object) -> Summary:
    write("row.tape", TAPE)
    values = {"load": "paced:400ms", "settle": "1s", "measure": "3s", "users": 10, "host": "", **plan}
    job = prepare(load(RawOptions(plan=write("plan.toml", PLAN.format(**values) + BUSY)), here))
    result = run_job(job, here / "out", Console(observe), engine)
    assert not result.failures
    summary = summarise(here / "out")
    assert [{row.group for row in agent.users} for agent in summary.recorded.agents] == [{"load"}, {"probe"}]
    return summary


def driver_is_loaded(summary: Summary) -> bool:
    return "slower_than_probe" in {each.doubt.name for each in summary.doubts}


class LateEngine(NamespaceEngine):
    """The kernel of the first node puts off receiving for 80 ms."""

    @contextmanager
    def reserve(self, job: Job) -> Iterator[Nodes]:
        with super().reserve(job) as nodes:
            put_off_receiving(self.reserved.nodes[0], 80_000_000)
            yield nodes


def put_off_receiving(node: Node, wait: int) -> None:
    settings = {"threaded": 1, "napi_defer_hard_irqs": 2, "gro_flush_timeout": wait}
    writes = [f"echo {value} >/sys/class/net/wire/{name}" for name, value in settings.items()]
    script = " && ".join(["mount -t sysfs none /sys", "ethtool -K wire gro on", *writes])
    subprocess.run(["ethtool", "-K", "node-0", "tso", "off"], check=True)
    subprocess.run([*node.command_prefix("net", "mount"), "sh", "-c", script], check=True)


def test_answers_that_are_received_late_are_told_from_a_slow_host(here: Path, write: Write) -> None:
    """The driver sends on time, and cannot know that answers lie in its node's kernel."""
    summary = run(write, here, LateEngine(here))
    step = summary.last
    assert step.probe
    median = step.probe.comparisons[0]
    assert median.load_value > 10 * median.value
    assert (step.lateness.p50 or 0.0) < median.load_value / 10
    assert driver_is_loaded(summary)


@pytest.mark.nightly
def test_a_driver_without_cpu_time_is_told_from_a_slow_host(here: Path, write: Write) -> None:
    """The load's process is stopped for 150 of 200 ms, as by a quota; answers come when it is."""
    engine, ended = NamespaceEngine(here), Event()

    def hold() -> None:
        process = engine.reserved.agents[0].process
        while not ended.wait(0.05) and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            ended.wait(0.15)
            process.send_signal(signal.SIGCONT)

    holding = Thread(target=hold)

    def observe(seen: Observation) -> None:
        if seen.snapshots and not holding.ident:
            holding.start()

    try:
        assert driver_is_loaded(run(write, here, engine, observe, host='delay = "100ms"'))
    finally:
        ended.set()
        holding.join()


@pytest.mark.nightly
def test_an_overloaded_host_is_slow_for_the_probe_too(here: Path, write: Write) -> None:
    """One server of 50 ms a row for 50 users: a response takes about 2 s, all of it in the host's queue."""
    host = 'service_time = "exp 50ms"\nservers = 1'
    summary = run(write, here, LOCAL, load="closed", settle="6s", measure="20s", users=40, host=host)
    probe = summary.last.probe
    assert probe is not None
    assert probe.verdict == "alike"
    assert min(each.value for each in probe.comparisons) > 1.0
    assert not driver_is_loaded(summary)
