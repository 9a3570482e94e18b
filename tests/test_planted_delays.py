"""Delays of known kinds in real hosts are found at the right hop of each key, and the hops sum up to the echo."""

import json
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from cuesta.analysis.path.derive import join_run
from cuesta.analysis.path.followed_key import KeyPath
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger.run_folder import open_run
from tests.busy import BUSY
from tests.conftest import Write
from tests.hosts.lines import host, over_tcp
from tests.real_paths import CLOSES, allow

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


def run_at(planted: Sequence[Planted], here: Path, write: Write, measure: str = "4s") -> dict[Planted, list[KeyPath]]:
    """Type at a host of each delay, all at once; the paths of each one's keys."""
    write("keys.tape", TAPE)
    plan = [PLAN.replace("4s", measure)]
    with ExitStack() as hosts:
        for number, each in enumerate(planted):
            (here / str(number)).mkdir()
            command = [*host("delays", here / str(number) / "log.jsonl"), each.how, str(each.milliseconds)]
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


def test_each_delay_is_found_at_its_hop(here: Path, write: Write) -> None:
    every, right = 0, 0
    for number, (planted, keys) in enumerate(run_at(PLANTED, here, write).items()):
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
