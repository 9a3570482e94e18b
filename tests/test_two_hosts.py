"""A bastion before a farm, metered in one run: each is a host of its own, with limits of its own."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from cuesta.ledger.rows import json_rows
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.daemons import Host, free_port, listening, sshd
from tests.enough import LIMIT, ended_when
from tests.processes import descendants

BASTION = """
import socket, sys, threading

def relay(source, sink):
    try:
        while received := source.recv(4096):
            sink.sendall(received)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass

at, farm = map(int, sys.argv[1:])
listener = socket.create_server(("127.0.0.1", at))
while True:
    user, _ = listener.accept()
    behind = socket.create_connection(("127.0.0.1", farm))
    for ends in ((user, behind), (behind, user)):
        threading.Thread(target=relay, args=ends, daemon=True).start()
"""
"""Relays what users type to the farm, and its answers back."""
FARM = """
import socket, sys, threading, time

def serve(user):
    user.sendall(b"$ ")
    while received := user.recv(4096):
        if b"\\r" in received:
            end = time.thread_time() + 0.03
            while time.thread_time() < end:
                pass
        user.sendall(received.replace(b"\\r", b"\\r\\n$ "))

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
"""Echoes, and works 30 ms of CPU time for each row."""
TAPE = r"""
Set KeyRate 40cps
Set Echo timed
Set Prompt /\$ $/
Wait+Prompt
Forever
  Transaction "row"
    Type "go"
    Enter
    Wait+Prompt
  End
  Think 100ms
End
"""
LIMITS = """
limits = [
  "host{farm}.per_transaction.cpu_ms < 20ms",
  "host{bastion}.per_transaction.cpu_ms < 20ms",
  "host.per_transaction.cpu_ms < 20ms",
]
"""


@contextmanager
def bastion_and_farm(folder: Path) -> Iterator[tuple[int, int, int]]:
    """Start both; yields the bastion's port and the processes of the bastion and the farm."""
    at, behind = free_port(), free_port()
    folder.mkdir()
    with (
        listening([sys.executable, "-c", FARM, str(behind)], behind, folder, metered=True) as farm,
        listening([sys.executable, "-c", BASTION, str(at), str(behind)], at, folder, metered=True) as bastion,
    ):
        yield at, bastion, farm


def test_the_host_whose_limit_is_crossed_is_named(cuesta: Cuesta, write: Write, here: Path) -> None:
    write("users.tape", TAPE)
    with bastion_and_farm(here / "hosts") as (port, bastion, farm):
        nowhere = f"lost=http://127.0.0.1:{free_port()}/metrics"
        write(
            "plan.toml",
            f'tape = "users.tape"\ntarget = "tcp://127.0.0.1:{port}"\nusers = 2\nsettle = "1s"\nmeasure = "2s"\n'
            f'meters = ["bastion=pid:{bastion}", "farm=pid:{farm}", "{nowhere}"]\n{LIMITS}{BUSY}',
        )
        ran = cuesta("run", "plan.toml", "--out", "out", "--json", "out.json").ends(Exit.LIMIT)
    summary: dict[str, Any] = json.loads((here / "out.json").read_text())
    assert summary["valid"]
    hosts = summary["hosts"]
    assert list(hosts) == ["bastion", "farm", "lost"]
    assert [hosts[name]["meters"]["subject"] for name in ("bastion", "farm")] == [f"pid:{bastion}", f"pid:{farm}"]
    assert hosts["bastion"] == summary["host"]
    assert hosts["farm"]["per_transaction"]["cpu_ms"] > 20 > hosts["bastion"]["per_transaction"]["cpu_ms"]
    assert [(each["limit"].partition(".")[0], each["ok"]) for each in summary["limits"]] == [
        *(("host{farm}", False), ("host{bastion}", True), ("host", True))
    ]
    said = " ".join(ran.out.split())
    assert "limit crossed: host{farm}.per_transaction.cpu_ms < 20ms" in said
    assert hosts["lost"]["cpu"] is None
    assert "no meters there" in hosts["lost"]["cpu_missing"]
    assert "Host: farm" in (here / "out" / "report.html").read_text()


def meters_of(name: str, there: Host, subject: int) -> str:
    """Meters over ssh."""
    return f"{name}={there.target}&command={Path(sys.executable).parent / 'cuesta'}&subject=pid:{subject}"


@pytest.mark.nightly
def test_the_meters_of_one_host_die_and_those_of_the_other_go_on(cuesta: Cuesta, write: Write, here: Path) -> None:
    write("users.tape", TAPE)
    ends = here / "near", here / "far"
    for each in ends:
        each.mkdir()

    def rows_of(folder: Path, file: str, kind: str) -> int:
        path = folder / file
        return sum(kind in row for row in json_rows(path, dict[str, Any], [])) if path.exists() else 0

    with (
        bastion_and_farm(here / "hosts") as (port, bastion, farm),
        sshd(ends[0], metered=True) as near,
        sshd(ends[1], metered=True) as far,
    ):
        write(
            "plan.toml",
            f'tape = "users.tape"\ntarget = "tcp://127.0.0.1:{port}"\nusers = 2\nsettle = "0s"\nmeasure = "{LIMIT}"\n'
            f'meters = ["{meters_of("bastion", near, bastion)}", "{meters_of("farm", far, farm)}"]\n{BUSY}',
        )

        def enough(folder: Path) -> bool:
            """End the far sshd once it has metered; enough are the gap and two more rows of the bastion."""
            if rows_of(folder, "meters-farm.jsonl", "row") < 2:
                return False
            if not rows_of(folder, "meters-farm.jsonl", "gap"):
                seen["bastion"] = rows_of(folder, "meters.jsonl", "row")
                kill_sessions(far)
                return False
            return rows_of(folder, "meters.jsonl", "row") >= seen["bastion"] + 2

        seen = {"bastion": 0}
        with ended_when(enough):
            ran = cuesta("run", "plan.toml", "--out", "out", "--json", "out.json").ends(Exit.INTERRUPTED)
    hosts = json.loads((here / "out.json").read_text())["hosts"]
    assert [hosts[name]["meters"]["source"] for name in hosts] == ["ssh", "ssh"]
    assert hosts["bastion"]["cpu"]
    assert rows_of(here / "out", "meters.jsonl", "gap") == 0
    assert "farm: a gap in the meters: " in " ".join(ran.out.split())


def kill_sessions(there: Host) -> None:
    """Kill an sshd and its sessions, as a host that goes down does."""
    for pid in [*descendants(there.pid), there.pid]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
