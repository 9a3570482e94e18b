"""Real shells at real web-terminal servers, each typed at by its own kind of line."""

import json
import os
import select
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from cuesta.errors import Exit
from tests.at_a_shell import KEYS, PLAN, TAPE, USERS
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_after
from tests.processes import command_of, descendants
from tests.web_servers import NIGHTLY, SERVERS, gotty, kubernetes, ttyd
from tests.web_servers.server import WebServer

RUN = ("run", "plan.toml", "--out", "out", "--quiet", "--json", "-", "--target")
SHELL = "bash&command=--norc&command=--noprofile"
WITHOUT_INTEGRATION = "?shell=/bin/dash"
"""The page of VS Code has bash mark its prompts."""


def target_of(kind: str, server: WebServer) -> str:
    more = {"k8s": f"default/web-1?command={SHELL}", "code-server": WITHOUT_INTEGRATION, "cockpit": "?spawn=/bin/bash"}
    return f"{kind.removesuffix('hub')}+{server.place}{more.get(kind, '')}"


def list_left(kind: str, server: WebServer) -> list[str]:
    """What sessions have left that Cuesta has to end: terminals, shells.

    Other servers hang up each shell themselves. Bash misses that if it is just about to wait for a key, and stays.
    """
    if kind.startswith("jupyter"):
        request = Request(f"http://127.0.0.1:{server.port}{server.base}api/terminals")
        request.add_header("Authorization", f"token {server.account.token}")
        with urlopen(request) as answer:
            return [terminal["name"] for terminal in json.load(answer)]
    name = {"k8s": b"bash\0", "code-server": b"/bin/dash\0"}.get(kind)
    shells = [pid for pid in descendants(server.pid) if name and command_of(pid).startswith(name)]
    return [command_of(pid).decode() for pid in shells if not has_ended(pid)]


def has_ended(pid: int) -> bool:
    """Whether a process has ended, within ten seconds."""
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(ended):
        return bool(select.select([ended], [], [], 10)[0])


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] if kind in NIGHTLY else []) for kind in SERVERS]
)
def test_users_type_at_a_real_shell_in_a_browser(kind: str, here: Path, write: Write, cuesta: Cuesta) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with SERVERS[kind](here) as server, ended_after(20):
        write("users.csv", f"user,token\njoe,{server.account.token}\n")
        data = ("--data", "users.csv") if server.account.token else ()
        summary = cuesta(*RUN, target_of(kind, server), *data).ends(Exit.INTERRUPTED).json
        assert list_left(kind, server) == []
    assert summary["invalid_because"] == []
    assert summary["errors"]["count"] == 0, summary["errors"]
    # Each user's first sum may have been typed before measuring began.
    assert summary["echo"]["count"] >= KEYS * (summary["transactions"]["count"] - USERS)
    assert 0 < summary["echo"]["p50"] < summary["response"]["p99"]
    assert summary["left_behind"] == []
    opened = [summary[phase]["count"] for phase in ("connect", "upgrade", "session")]
    assert opened == [USERS, USERS, USERS]


@pytest.mark.parametrize(
    ("server", "kind", "flag"),
    [(ttyd, "ttyd", "-W"), pytest.param(gotty, "gotty", "-w", marks=[pytest.mark.nightly])],
)
def test_a_read_only_terminal_is_named_with_the_flag_that_it_lacks(
    server: Any, kind: str, flag: str, here: Path, write: Write, cuesta: Cuesta
) -> None:
    write("shell.tape", "Set WaitTimeout 2s\nWait+Ready\n" + TAPE)
    write("plan.toml", PLAN.replace(LIMIT, "1s"))
    with server.serve(here, read_only=True) as started:
        summary = cuesta(*RUN, target_of(kind, started)).ends(Exit.INVALID).json
    assert f"a terminal that was started without {flag} takes no keys" in " ".join(summary["invalid_because"])


@pytest.mark.nightly
def test_a_program_that_a_pod_lacks_is_told_before_the_run(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with kubernetes.serve(here) as server:
        target = f"k8s+{server.place}default/web-1?command=no-such-program"
        told = cuesta(*RUN, target).ends(Exit.FAILED).err
    assert "did not start a session" in told
    assert "no-such-program" in told.rpartition("did not start a session")[2]
