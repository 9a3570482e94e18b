"""Web servers that break every rule: each is a failure with a name in seconds, and the driver's memory stays flat.

A run has a user at each of them, in a group of its own. `users.jsonl` says under which name each lost its line.
"""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from cuesta.ledger.rows import json_rows
from tests.busy import BUSY
from tests.conftest import Cuesta
from tests.daemons import free_port, listening
from tests.enough import counted, ended_when
from tests.hosts.lines import module
from tests.processes import command_of, descendants

SECRET = "hunter2-of-joe"
USERS = f"user,password,token\njoe,{SECRET},token-{SECRET}\n"
SECRETS = (SECRET.encode(), base64.b64encode(f"joe:{SECRET}".encode()))
"""Pages of these servers show them; no output, record or page of a run may."""
ESCAPES = (b"\x1b]0;owned", b"\\u001b]0;owned", b"\x9b2J")
MEMORY, FOR_A_MESSAGE = 80 << 20, 48 << 20
"""Bytes that an agent may have: at good servers, and for each message that ends at 16 MiB, whose buffer doubles."""
MEASURED = """
import pathlib, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
pathlib.Path("memory").write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""
"""Carries out a command, and writes to a file how much memory it took, in KiB.

It is small itself, because a process's peak includes the memory of its parent at the fork.
"""
STREAMS = {"endless-body", "endless-chunks", "endless-small-chunks", "endless-fragments", "endless-bytes"}
"""Shapes that do not say how long it will be."""
RETRY = 1_000_000_000
"""Nanoseconds after which a user without a line tries again. The result of its first request is counted before that."""
TAPE = r"""
Set WaitTimeout {patience}
Set KeyRate 50cps
Forever
  Wait+Prompt
  Transaction "ask"
    Type "ls"
    Enter
    Wait+Prompt
  End
  Think 50ms
End
"""
PLAN = f"""
data = "users.csv"
stagger = "0s"
settle = "0s"
measure = "20s"
meters = "none"
{BUSY}lost_users = 1
"""
GROUP = """
[[group]]
name = "{name}"
target = "{target}"
tape = "{tape}"
users = 1
"""
TARGETS = {
    "raw": "ws://127.0.0.1:{port}/{shape}/raw",
    "ttyd": "ttyd+ws://127.0.0.1:{port}/{shape}/ttyd",
    "gotty": "gotty+ws://127.0.0.1:{port}/{shape}/gotty",
    "jupyter": "jupyter+ws://127.0.0.1:{port}/{shape}/jupyter",
    "k8s": "k8s+ws://127.0.0.1:{port}/{shape}/k8s",
}
"""By kind, which is in the path so that requests of one shape can be told apart."""
WORKS = "works"
"""The user's transactions succeed, and nothing fails."""
GIVES_UP = "gives up"
"""The line stays, and a wait of the tape times out."""


@dataclass(frozen=True)
class Row:
    """A server's shape, the kind of line that it is played with, and its result: usually a failure's name."""

    shape: str
    kind: str
    becomes: str

    @property
    def name(self) -> str:
        return f"{self.shape}.{self.kind}"

    @property
    def tape(self) -> str:
        return "hasty.tape" if self.becomes == GIVES_UP else "patient.tape"

    def target(self, port: int) -> str:
        return TARGETS[self.kind].format(port=port, shape=self.shape)

    def is_read(self) -> bool:
        """Whether something must be read until it is too long."""
        return self.becomes == "message-too-long" and self.shape in STREAMS

    def asked(self, request: dict[str, Any]) -> bool:
        """Whether a request is its user's."""
        return {self.shape, self.kind} <= set(re.split("[/?]", request["path"]))


def rows(kind: str, becomes: str, shapes: str) -> list[Row]:
    return [Row(shape, kind, becomes) for shape in shapes.split()]


ANSWERED = [
    *rows("raw", "upgrade-401", "status-401"),
    *rows("raw", "upgrade-403", "status-403"),
    *rows("raw", "upgrade-404", "status-404"),
    *rows("raw", "no-upgrade", "status-500 status-503 page escapes-in-reason circle spiral elsewhere to-file"),
    *rows("raw", "no-upgrade", "hangs-up ssh long-head endless-head endless-row"),
    *rows("raw", "no-upgrade", "gzip-bomb gigabyte-body endless-chunks endless-body short-body surplus-body bad-chunk"),
    *rows("k8s", "upgrade-401", "status-401"),
    *rows("k8s", "upgrade-403", "status-403"),
    *rows("k8s", "no-upgrade", "page status-500 circle"),
]
"""The request for the WebSocket has another answer than 101."""
LOGINS = [
    *rows("ttyd", "web-login", "status-401 status-500 page circle spiral elsewhere to-file escapes-in-reason"),
    *rows("ttyd", "web-login", "hangs-up ssh long-head endless-head endless-row deep-json other-json half-json"),
    *rows("ttyd", "web-login", "gzip-bomb short-body surplus-body bad-chunk vast-chunk negative-chunk half-chunk"),
    *rows("ttyd", "message-too-long", "gigabyte-body endless-body endless-chunks endless-small-chunks"),
    *rows("jupyter", "web-login", "status-403 status-404 page circle deep-json other-json injecting-json no-utf8-json"),
    *rows("jupyter", "message-too-long", "gigabyte-body"),
    *rows("gotty", "web-login", "status-401 hangs-up"),
    *rows("gotty", "message-too-long", "endless-chunks"),
]
"""The request before that has another answer than it should have."""
UPGRADED = [
    *rows("raw", "not-websocket", "wrong-accept no-accept no-upgrade-header other-upgrade no-connection-header"),
    *rows("raw", "not-websocket", "unasked-extension"),
    *rows("raw", "other-web-terminal", "unasked-subprotocol"),
    *rows("raw", "no-upgrade", "long-101"),
    *rows("ttyd", "not-websocket", "wrong-accept"),
    *rows("ttyd", "other-web-terminal", "unasked-subprotocol"),
    *rows("ttyd", "no-upgrade", "upgrade-hangs-up"),
    *rows("ttyd", "upgrade-403", "upgrade-403"),
    *rows("jupyter", "upgrade-403", "upgrade-403"),
    *rows("raw", WORKS, "good byte-by-byte one-packet split-character no-pong"),
]
"""The answer 101 is wrong, or right and unusual."""
MESSAGES = [
    *rows("raw", "not-websocket", "masked reserved-bit reserved-opcode reserved-control-opcode deflate-bomb"),
    *rows("raw", "not-websocket", "long-ping vast-ping long-close fragmented-ping fragmented-close"),
    *rows("raw", "not-websocket", "continuation-of-nothing message-in-message no-utf8 half-utf8 negative-length"),
    *rows("raw", "not-websocket", "close-of-one-byte close-reason-no-utf8"),
    *rows("raw", "message-too-long", "announced-gigabyte announced-exabytes gigabyte"),
    *rows("raw", "message-too-long", "endless-fragments endless-bytes empty-fragments"),
    *rows("raw", "not-websocket", "close-999"),
    *rows("raw", "close-code", "close-1006 close-1008-then-data close-1011-with-escapes"),
    *rows("ttyd", "message-too-long", "announced-gigabyte deflate-bomb"),
    *rows("ttyd", "no-session", "close-1008-then-data hangs-up-after-101"),
    *rows("jupyter", "message-too-long", "endless-fragments"),
    *rows("jupyter", "other-web-terminal", "html-message deep-message"),
    *rows("jupyter", "no-session", "hangs-up-after-101"),
    *rows("k8s", "other-web-terminal", "html-status"),
    *rows("k8s", "no-session", "hangs-up-after-101"),
    *rows("raw", WORKS, "ping-flood"),
    *rows("raw", GIVES_UP, "unread-ping-flood"),
]
"""What comes over the WebSocket is no session."""
TABLE = {"answers": ANSWERED, "logins": LOGINS, "upgrades": UPGRADED, "messages": MESSAGES}
SLOW = [Row(shape, kind, "timeout") for shape in ("silence", "endless-drip") for kind in ("raw", "ttyd")]
"""No answer comes in the time that an opening may take."""


@dataclass
class Bad:
    """The server, and the folder of a run at it."""

    port: int
    here: Path
    memory: int = field(default=0, init=False)
    """The most bytes that an agent has had."""

    def requests(self) -> list[dict[str, Any]]:
        """The requests so far, of all runs."""
        text = (self.here / "log").read_text()
        return [row for row in map(json.loads, text[: text.rfind("\n") + 1].splitlines()) if row["did"] == "asked"]

    def plan(self, played: list[Row]) -> None:
        """Write the files of a run with a user at each of them."""
        (self.here / "patient.tape").write_text(TAPE.format(patience="1m"))
        (self.here / "hasty.tape").write_text(TAPE.format(patience="1s"))
        (self.here / "users.csv").write_text(USERS)
        groups = (GROUP.format(name=row.name, target=row.target(self.port), tape=row.tape) for row in played)
        (self.here / "plan.toml").write_text(PLAN + "".join(groups))

    def is_enough(self, played: list[Row], out: Path) -> bool:
        """Whether every user has its expected result."""
        self.memory = max(self.memory, *(peak(pid) for pid in descendants(os.getpid()) if is_agent(pid)), 0)
        requests = self.requests()
        hasty = [row for row in played if row.becomes == GIVES_UP]
        return counted(out, "timeout") >= 2 * len(hasty) and all(
            span([each["at"] for each in requests if row.asked(each)]) >= RETRY
            for row in played
            if row.becomes not in {WORKS, GIVES_UP}
        )


def is_agent(pid: int) -> bool:
    return b"agent_process" in command_of(pid)


def peak(pid: int) -> int:
    """The most memory that a process has had; bytes."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has ended
        return 0
    return sum(int(size) << 10 for size in re.findall(r"VmHWM:\s+(\d+) kB", status))


def span(instants: list[int]) -> int:
    return max(instants, default=0) - min(instants, default=0)


@contextmanager
def serving(here: Path) -> Iterator[Bad]:
    port = free_port()
    with listening([*module("bad_web"), "--port", str(port), "--log", str(here / "log")], port, here):
        yield Bad(port, here)


Play = Callable[[list[Row]], Bad]


@pytest.fixture
def play(here: Path, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """A function that has a user at each server, and asserts each result within seconds."""
    monkeypatch.setattr("cuesta.engine.local.target_check.probe", lambda *_: None)  # it would refuse the run
    with serving(here) as bad:

        def go(played: list[Row]) -> Bad:
            bad.plan(played)
            with ended_when(lambda out: bad.is_enough(played, out)):
                ended = cuesta("run", "plan.toml", "--out", "out", "--quiet", "--json", "-")
            assert_nothing_leaks(bad, ended.out.encode() + ended.err.encode())
            became = {row["group"]: become(row) for row in users(here)}
            assert {row.name: (it, row.becomes) for row in played if (it := became[row.name]) != row.becomes} == {}
            failures = {"timeout" if row.becomes == GIVES_UP else row.becomes for row in played} - {WORKS}
            assert (ended.code, set(ended.json["errors"]["by_name"])) == (Exit.INTERRUPTED, failures)
            return bad

        yield go


def users(here: Path) -> list[dict[str, Any]]:
    return list(json_rows(here / "out/agent-0/users.jsonl", dict[str, Any], []))


def become(user: dict[str, Any]) -> str:
    if user["lost"]:
        return str(user["lost"])
    if user["gave_up"]:
        return GIVES_UP
    return WORKS if user["transactions"] else "nothing"


def assert_nothing_leaks(bad: Bad, printed: bytes) -> None:
    """No output or record holds a secret or an escape sequence, and no other host received a secret."""
    files = [file.read_bytes() for file in bad.here.glob("out/**/*") if file.is_file()]
    assert not [text for text in (*SECRETS, *ESCAPES) for each in (printed, *files) if text in each]
    heads = [request["head"] for request in bad.requests()]
    assert not [head for head in heads if "X-Injected" in head or "x-injected" in head]
    stolen = [head for head in heads if "/stolen" in head]
    assert not [head for head in stolen for secret in SECRETS if secret.decode() in head]


@pytest.mark.parametrize("at", TABLE)
def test_what_a_server_does_wrong_has_a_name(play: Play, at: str) -> None:
    played = TABLE[at]
    good = [Row("good", "raw", WORKS)]
    bad = play([*good, *(row for row in played if row not in good)])
    assert 0 < bad.memory < MEMORY + FOR_A_MESSAGE * sum(map(Row.is_read, played))


@pytest.mark.nightly
def test_an_opening_that_never_ends_times_out(play: Play) -> None:
    play(SLOW)


def test_a_run_at_such_a_server_is_refused(here: Path) -> None:
    """Before it begins a line is tried at each target: the message names each, and nothing else happens."""
    played = [*ANSWERED, *LOGINS]
    with serving(here) as bad, (here / "printed").open("wb") as printed:
        bad.plan(played)
        command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--out", "out", "--quiet"]
        process = subprocess.run(
            [sys.executable, "-c", MEASURED, *command], cwd=here, stdout=printed, stderr=printed, check=False
        )
    said = (here / "printed").read_bytes()
    assert_nothing_leaks(bad, said)
    assert (process.returncode, (here / "out").exists()) == (Exit.FAILED, False)
    assert [row.name for row in played if row.target(bad.port).encode() not in said] == []
    assert int((here / "memory").read_text()) << 10 < MEMORY + FOR_A_MESSAGE
