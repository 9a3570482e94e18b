"""Delays of known kinds in real hosts are found at the right hop of each key, and the hops sum up to the echo."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cuesta.analysis.path.derive import join_run
from cuesta.analysis.path.followed_key import KeyPath
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger.run_folder import open_run
from tests.busy import BUSY
from tests.conftest import Write
from tests.control_groups import control_group
from tests.hosts.lines import host, over_tcp
from tests.real_paths import CLOSES, allow, assert_sums

TAPE = r"""
Set Echo timed
Set KeyRate 8cps
Set Prompt /\$ $/
Wait+Prompt
Forever
  Type "abcdefghij"
End
"""
PLAN = (
    """
path = "1/1"
tape = "keys.tape"
settle = "300ms"
measure = "4s"
meters = "machine"
"""
    + BUSY
)


@dataclass(frozen=True)
class Planted:
    """A delay in a host, and where it must be found."""

    how: str
    milliseconds: int
    kind: str
    call: str | None
    is_exact: bool = True
    """Whether each delay is at least that long; else it may be any shorter."""

    def find(self, key: KeyPath) -> int:
        """The time that a path has of it, in ns: also as a sleep whose end the machine hid from the tracer."""
        return sum(
            hop.ns
            for hop in key.hops
            if hop.call == self.call and (hop.kind == self.kind or (hop.kind == "sleeping" and hop.why == "unseen"))
        )


PLANTED = (
    Planted("sleep", 7, "timer", "clock_nanosleep"),
    Planted("batch", 5, "timer", "pselect6"),
    Planted("spin", 6, "on_cpu", None),
    Planted("child", 4, "timer", "clock_nanosleep"),
    Planted("lock", 10, "sleeping", "flock", is_exact=False),
    Planted("disk", 3, "disk", "pwrite64", is_exact=False),
)


Found = dict[Planted, list[KeyPath]]
"""The paths of the keys of each host."""


def run_at(planted: Sequence[Planted], here: Path, write: Write, before: Sequence[str] = ()) -> Found:
    """Type at a host of each delay, all at once. Each is started by a command `before` it."""
    write("keys.tape", TAPE)
    plan = [PLAN]
    with ExitStack() as hosts:
        for number, each in enumerate(planted):
            (here / str(number)).mkdir()
            command = [*before, *host("delays", here / str(number) / "log.jsonl"), each.how, str(each.milliseconds)]
            reached = hosts.enter_context(over_tcp(command, here / str(number), False))
            plan.append(f'[[group]]\nname = "{number}"\ntarget = "{reached.target}"\n')
        write("plan.toml", "\n".join(plan))
        assert main(["run", "plan.toml", "--out", "out", "--quiet"]) == Exit.GOOD
    keys = [key for joined in join_run(open_run(here / "out")) for key in joined.keys]
    followed = [key for key in keys if key.missing != "control"]
    assert sum(key.path is None for key in followed) <= allow(len(followed))
    return {
        each: [KeyPath.from_joined(key) for key in keys if key.path and key.followed.row.user_group == str(number)]
        for number, each in enumerate(planted)
    }


@pytest.mark.parametrize("size", [None, *(pytest.param(size, marks=pytest.mark.nightly) for size in (1, 20, 80))])
def test_each_delay_is_found_at_its_hop(size: int | None, here: Path, write: Write) -> None:
    every, right = 0, 0
    sized = [replace(each, milliseconds=size or each.milliseconds) for each in PLANTED]
    for number, (planted, keys) in enumerate(run_at(sized, here, write).items()):
        rows = map(json.loads, (here / str(number) / "log.jsonl").read_text().splitlines())
        longest = max(row["took"] for row in rows if row["did"] == "delayed") if planted.how != "batch" else sys.maxsize
        least = 1_000_000 * planted.milliseconds if planted.is_exact else 0
        found = list(map(planted.find, keys))
        # A timer runs while its task still waits for a CPU to go to sleep on.
        waited = [key.sum_of("run_queue") for key in keys]
        right += sum((ns > 0 or least == 0) and ns + wait >= least for ns, wait in zip(found, waited, strict=True))
        every += len(keys)
        assert len(keys) > 15
        assert statistics.median(found) >= least
        assert 0 < max(found) <= longest
        for key in keys:
            assert 0 <= key.unclosed <= CLOSES[0] + CLOSES[1] * key.ns, (planted.how, key.hops)
            assert key.outside >= 0, (planted.how, key.hops)
    assert every - right <= allow(every)


@contextmanager
def hogs(folder: Path, cpu: str) -> Iterator[None]:
    """Have two processes named `hog` want a CPU all the time."""
    (program := folder / "hog").symlink_to("/bin/sh")
    started = [subprocess.Popen(["taskset", "-c", cpu, program, "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


@pytest.mark.nightly
def test_the_neighbour_that_has_the_cpu_is_named(here: Path, write: Write) -> None:
    cpu = str(max(os.sched_getaffinity(0)))
    with hogs(here, cpu):
        (keys,) = run_at([Planted("spin", 6, "on_cpu", None)], here, write, ["taskset", "-c", cpu]).values()
    waits = [{hop.other for hop in key.hops if hop.kind == "run_queue" and hop.ns > 1_000_000} for key in keys]
    assert len(keys) > 15
    assert sum("hog" not in others for others in waits) <= allow(len(keys)), waits
    assert_sums(keys)


@pytest.mark.nightly
def test_a_used_up_quota_is_why_a_task_waits(here: Path, write: Write) -> None:
    with control_group("cpu", cpu__cfs_quota_us="8000", cpu__cfs_period_us="50000") as group:
        inside = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        (keys,) = run_at([Planted("spin", 12, "on_cpu", None)], here, write, inside).values()
    waits = [[hop.why for hop in key.hops if hop.kind == "run_queue" and hop.ns > 1_000_000] for key in keys]
    assert len(keys) > 15
    assert sum("quota" not in reasons for reasons in waits) <= allow(len(keys)), waits
    assert_sums(keys)
