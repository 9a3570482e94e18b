"""Delays of known kinds in real hosts are found at the right hop of each key, and the hops sum up to the echo."""

import json
import os
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import pytest

from cuesta.analysis.path.derive import join_run
from cuesta.analysis.path.followed_key import KeyPath
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger.run_folder import open_run
from tests.busy import BUSY
from tests.busy_loops import busy_loops
from tests.conftest import Write
from tests.control_groups import control_group
from tests.hosts.lines import host, over_tcp
from tests.real_paths import CLOSES, allow, assert_sums
from tests.run_folder import Row

TAPE = r"""
Set Echo timed
Set KeyRate {rate:g}cps
Set Prompt /\$ $/
Wait+Prompt
Forever
  Type "abcdefghij"
End
"""
KEYS = 32
"""Keys that are typed while it is measured."""
RATE = 8.0
"""Keys a second."""
PLAN = (
    """
path = "1/1"
tape = "keys.tape"
settle = "300ms"
measure = "{measure:g}s"
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

    def is_found(self, key: KeyPath, delays: Sequence[int]) -> bool:
        """Whether the time of the delay is that of its hop, but for when the tasks had a CPU or waited for one."""
        found, least = self.find(key), 1_000_000 * self.milliseconds if self.is_exact else 0
        # A timer runs while its task still waits for a CPU to go to sleep on.
        if (least and not found) or found + key.sum_of("run_queue") < least:
            return False
        if self.how == "batch":  # on the way back, where the host logs nothing
            return True
        way = list(takewhile(lambda hop: hop.kind != "worker_queue", key.hops))
        others = sum(hop.ns for hop in way if hop.kind in ("on_cpu", "run_queue", "waking"))
        return len(delays) == 1 and delays[0] - found <= others and (self.kind == "on_cpu" or found <= delays[0])


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


def run_at(
    planted: Sequence[Planted], here: Path, write: Write, before: Sequence[str] = (), rate: float = RATE
) -> Found:
    """Type at a host of each delay, all at once. Each is started by a command `before` it."""
    write("keys.tape", TAPE.format(rate=rate))
    plan = [PLAN.format(measure=KEYS / rate)]
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
    # Beside others who want the CPUs, a key is still answered before the next one is typed.
    rate = min(RATE, 240 / (size or 1))
    for number, (planted, keys) in enumerate(run_at(sized, here, write, rate=rate).items()):
        rows = list(map(json.loads, (here / str(number) / "log.jsonl").read_text().splitlines()))
        least = 1_000_000 * planted.milliseconds if planted.is_exact else 0
        right += sum(planted.is_found(key, list_delays(rows, key)) for key in keys)
        every += len(keys)
        assert len(keys) > 15
        assert statistics.median(map(planted.find, keys)) >= least
        assert max(map(planted.find, keys)) > 0
        for key in keys:
            assert 0 <= key.unclosed <= CLOSES[0] + CLOSES[1] * key.ns, (planted.how, key.hops)
            assert key.outside >= 0, (planted.how, key.hops)
    assert every - right <= allow(every)


def list_delays(rows: Sequence[Row], key: KeyPath) -> list[int]:
    """How long the host says that it delayed a key, in ns: what it logged in the time of the key's path."""
    begun = key.path.begun
    return [row["took"] for row in rows if row["did"] == "delayed" and begun <= row["at"] <= begun + key.ns]


@pytest.mark.nightly
@pytest.mark.quiet
def test_the_neighbour_that_has_the_cpu_is_named(here: Path, write: Write) -> None:
    on_one_cpu = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    (hog := here / "hog").symlink_to("/bin/sh")
    with busy_loops(2, [*on_one_cpu, hog]):
        (keys,) = run_at([Planted("spin", 6, "on_cpu", None)], here, write, on_one_cpu).values()
    waits = [{hop.other for hop in key.hops if hop.kind == "run_queue" and hop.ns > 1_000_000} for key in keys]
    assert keys
    assert sum("hog" not in others for others in waits) <= allow(len(keys)), waits
    assert_sums(keys)


@pytest.mark.nightly
def test_a_used_up_quota_is_why_a_task_waits(here: Path, write: Write) -> None:
    with control_group("cpu", cpu__cfs_quota_us="4000", cpu__cfs_period_us="40000") as group:
        inside = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        (keys,) = run_at([Planted("spin", 12, "on_cpu", None)], here, write, inside, rate=3).values()
    waits = [[hop.why for hop in key.hops if hop.kind == "run_queue" and hop.ns > 1_000_000] for key in keys]
    assert keys
    assert sum("quota" not in reasons for reasons in waits) <= allow(len(keys)), waits
    assert_sums(keys)
