"""Bad input gives one clear message with place and remedy and the right exit code, and leaves no partial files."""

import os
import resource
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write


def refused() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


RESUMED = ["--resume", "as it was begun, without --users, --rule"]
DRIVER = ["lateness.p99 < 2ms", "is the driver's", "does not count anyway"]
OPENINGS = ["connect.p95 < 1s", "users keep their lines", "--load open:2/s:sessions"]

BAD = [
    ("run bogus.tape", Exit.BAD_INPUT, ["bogus.tape", "^"]),
    ("run law.tape", Exit.BAD_INPUT, ["law.tape", "exq", "^"]),
    ("run --think 'exq 5s'", Exit.USAGE, ["--think", "'exq 5s'", "distribution"]),
    ("run idle.tape", Exit.BAD_INPUT, ["users would do nothing", "Enter"]),
    ("run none.tape", Exit.BAD_INPUT, ["none.tape", "No such file", "good.tape"]),
    ("run none.toml", Exit.BAD_INPUT, ["none.toml", "No such file"]),
    ("certify good.tape", Exit.BAD_INPUT, ["not TOML", 'tape = "good.tape"']),
    ("run .", Exit.BAD_INPUT, ["Is a directory"]),
    ("run good.tape --target tcp://REFUSED", Exit.FAILED, ["refused", "check its address"]),
    ("run good.tape --target telnet://no-such-host.invalid:23", Exit.FAILED, ["cannot be reached"]),
    ("run --target gopher://h:70", Exit.USAGE, ["--target", "gopher"]),
    ("run --target 'bsc://h:1?polls=3'", Exit.USAGE, ["polls=3", "no setting"]),
    ("run good.tape --data bad.csv", Exit.BAD_INPUT, ["bad.csv: row 2, column 2"]),
    ("run login.tape --data few.csv", Exit.BAD_INPUT, ["`password`", "login"]),
    ("run --users -3", Exit.USAGE, ["--users", "-3", "from 0 to"]),
    ("run --users 99999999999", Exit.USAGE, ["--users", "1,000,000"]),
    ("run --users 0", Exit.USAGE, ["--users", "no group has any users"]),
    ("run --measure -1s", Exit.USAGE, ["--measure", "negative"]),
    ("run --measure 0s", Exit.USAGE, ["--measure", "at least 100ms"]),
    ("run --line-speed 1e99", Exit.USAGE, ["--line-speed"]),
    ("run --out good.tape/x", Exit.FAILED, ["cannot write a run folder", "--out"]),
    ("run --out .", Exit.FAILED, ["not empty", "--out"]),
    ("run --json nowhere/x.json", Exit.FAILED, ["nowhere/x.json", "--json"]),
    ("run --host sevice=echo", Exit.USAGE, ["did you mean `service`"]),
    ("run --host service", Exit.USAGE, ["KEY=VALUE"]),
    ("run --limit 'respons.p99 < 2s'", Exit.USAGE, ["--limit", "did you mean `response.p99`"]),
    ("run limits.toml --limit 'response.p50<1s'", Exit.BAD_INPUT, ["limits: expected a list"]),
    ("search", Exit.USAGE, ["needs an objective", "--limit"]),
    ("search --limit 'echo.p95 < 1s' --budget 0", Exit.USAGE, ["--budget 0", "one trial takes"]),
    ("search --limit 'echo.p95 < 1s' --most 2000.5", Exit.USAGE, ["--most", "a whole number", "2000.5"]),
    ("search --limit 'echo.p95 < 1s' --most 5", Exit.USAGE, ["--most", "from 96, the first load", "--users"]),
    ("search --limit 'throughput > 5/s'", Exit.BAD_INPUT, ["does not fall as the load grows", "upper bound"]),
    ("search --limit 'host.cpu.idle < 20%'", Exit.BAD_INPUT, ["falls as the load grows", "lower bound"]),
    ("search --limit 'echo.p95 < 1s' --limit 'lateness.p99 < 2ms'", Exit.BAD_INPUT, DRIVER),
    ("search --limit 'connect.p95 < 1s'", Exit.BAD_INPUT, OPENINGS),
    ("search --limit 'echo.p95 < 0s'", Exit.BAD_INPUT, ["no load can meet it"]),
    ("search --resume . --rule rfc9971 --users 3", Exit.USAGE, RESUMED),
    ("search --resume .", Exit.BAD_INPUT, ["not a run folder"]),
    ("check bogus.tape", Exit.BAD_INPUT, ["bogus.tape", "^"]),
    ("check pipe", Exit.BAD_INPUT, ["pipe", "a named pipe"]),
    ("check pipe.tape", Exit.BAD_INPUT, ["pipe.tape", "a named pipe"]),
    ("check deep.toml", Exit.BAD_INPUT, ["deep.toml", "nested too deep"]),
    ("check long.toml", Exit.BAD_INPUT, ["long.toml", "it is not TOML"]),
    ("check none.tape", Exit.BAD_INPUT, ["none.tape", "No such file"]),
    ("host --listen tcp://192.0.2.1:5", Exit.FAILED, ["192.0.2.1"]),
    ("host --service-time 'exq 5s'", Exit.USAGE, ["--service-time", "exq"]),
]


@pytest.fixture
def files(here: Path, write: Write) -> list[str]:
    write("good.tape", 'Type "who"\nEnter\nWait+Bytes 80\n')
    write("idle.tape", "Set KeyRate 2cps\nForever\n  Expect /x/\nEnd\n")
    write("bogus.tape", 'Type "a"\nBogus 3\n')
    write("law.tape", 'Type "a"\nThink exq 5s\n')
    write("login.tape", 'Type "${password}"\n')
    write("bad.csv", "user,password\nann\n")
    write("few.csv", "user\nann\n")
    write("deep.toml", f"users = {5000 * '['}")
    write("long.toml", f"users = {6000 * '9'}")
    write("limits.toml", 'tape = "good.tape"\nlimits = 3')
    write("pipe.tape", 'Think empirical pipe\nType "a"\n')
    os.mkfifo(here / "pipe")
    return sorted(path.name for path in here.iterdir())


@pytest.mark.parametrize(("command", "code", "words"), BAD, ids=[command for command, *_ in BAD])
def test_bad_input(command: str, code: Exit, words: list[str], files: list[str], here: Path, cuesta: Cuesta) -> None:
    ended = cuesta(*shlex.split(command.replace("REFUSED", refused()))).ends(code, *words)
    assert ended.out == ""
    assert ended.err.startswith("cuesta: ")
    assert sorted(path.name for path in here.iterdir()) == files


def test_too_few_descriptors(here: Path) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    command = [sys.executable, "-m", "cuesta", "run", "--users", "400"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=few)
    assert ran.returncode == Exit.FAILED
    assert "needs 464 file descriptors in one process, and the limit (ulimit -n) is 256" in ran.stderr
    assert "ulimit -Hn 464" in ran.stderr
    assert list(here.iterdir()) == []
