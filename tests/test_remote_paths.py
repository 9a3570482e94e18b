"""Keys that are followed on another machine, by meters over ssh: only what passed on its clock is added up."""

import json
import sys
from html import unescape
from pathlib import Path
from statistics import fmean, median

import pytest

from cuesta.ledger.run_folder import open_run
from tests.beyond_a_wire import far_host
from tests.conftest import Write
from tests.daemons import AT_A_SHELL, sshd
from tests.own_network import own_network
from tests.path_hosts import there_and_back
from tests.real_paths import AT_PROMPT, PLAN, assert_followed, find_paths, join, select_echoed

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
SHIFT = 100_000
"""Seconds by which the other machine's clock is ahead."""
CUESTA = """\
#!/bin/sh
export PYTHONPATH={root}/python
exec unshare --time --monotonic {shift} --fork --kill-child {python} -m cuesta "$@"
"""


def write_command(write: Write) -> Path:
    """Cuesta as it is on the other machine, where the clock is another."""
    command = write("cuesta", CUESTA.format(root=ROOT, shift=SHIFT, python=sys.executable))
    command.chmod(0o755)
    return command


def test_a_machine_with_another_clock_tells_its_own_part(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    with far_host(here) as host:
        meters = f"{host.meters}&command={write_command(write)}"
        (joined,) = join(here, host.telnet, "--users", "3", meters=meters)
    paths = assert_followed(select_echoed(joined), [there_and_back("busybox", "bash")], 45)
    summary = json.loads((here / "out.json").read_text())
    assert summary["host"]["meters"]["source"] == "ssh"
    path = summary["steps"][-1]["echo"]["path"]
    times = open_run(here / "out").steps[0]
    measured = [key for key in paths if times.settled <= key.followed.shown < times.end]
    assert path["keys"] == len(measured) > 30
    for name in ("host", "outside"):
        took = [key.ns if name == "host" else key.took - key.ns for key in measured]
        assert path[name]["mean"] == pytest.approx(fmean(took) / 1e9)
    rows = [json.loads(row) for row in (here / "out/paths.jsonl").read_text().splitlines()]
    ahead = median((row["host_at"] - row["path"]["begun"]) / 1e9 for row in rows if row.get("path"))
    assert ahead == pytest.approx(SHIFT, abs=60), "the rows are written soon, by the shifted clock"


def test_two_traced_hosts_each_tell_their_part(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    with far_host(here) as host:
        far = f"far={host.meters}&command={write_command(write)}"
        joined = join(here, host.telnet, "--users", "3", meters=f"near=machine,{far}")
    # Both are one kernel here, so that each sees the whole way.
    assert [each.name for each in joined] == ["near", "far"]
    for each in joined:
        assert_followed(select_echoed(each), [there_and_back("busybox", "bash")], 45)


def test_behind_a_jump_host_nothing_is_followed_and_the_run_says_why(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    ends = here / "bastion", here / "farm"
    for each in ends:
        each.mkdir()
    with own_network(), sshd(ends[0]) as bastion, sshd(ends[1], AT_A_SHELL) as farm:
        known = write("known", "".join((each / "home/.ssh/known_hosts").read_text() for each in ends))
        config = write("config", f"Host *\n  UserKnownHostsFile {known}\n  IdentityFile {bastion.folder}/client\n")
        jump = f"config={config}&jump={bastion.place}"
        target = f"ssh://{farm.place}?identity={farm.folder}/client&known_hosts={known}&{jump}"
        assert [find_paths(each.keys) for each in join(here, target, "--users", "2")] == [[]]
    said = unescape((here / "out/report.html").read_text())
    assert "2 probe lines cannot be followed by the host's tracer: they go through a proxy or a jump host" in said
