"""Bad input gives one clear message with place and remedy and the right exit code, and leaves no partial files."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.conftest import Write
from tests.run_folder import RunFolder

TAPE = 'Type "who"\nEnter\nWait+Bytes 80\n'

MAIN_JOB = ("run", "builtin:interactive")


def refused() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


BAD = {
    "unknown command": (["run", "bogus.tape"], Exit.BAD_INPUT, ["bogus.tape", "^"]),
    "bad law in a tape": (["run", "law.tape"], Exit.BAD_INPUT, ["law.tape", "exq", "^"]),
    "bad law in a flag": (["run", "--think", "exq 5s"], Exit.USAGE, ["--think", "'exq 5s'", "distribution"]),
    "a tape that does nothing": (["run", "idle.tape"], Exit.BAD_INPUT, ["users would do nothing", "Enter"]),
    "missing tape": (["run", "none.tape"], Exit.BAD_INPUT, ["none.tape", "No such file", "good.tape"]),
    "missing plan": (["run", "none.toml"], Exit.BAD_INPUT, ["none.toml", "No such file"]),
    "a tape for a plan": (["certify", "good.tape"], Exit.BAD_INPUT, ["not TOML", 'tape = "good.tape"']),
    "a folder for a tape": (["run", "."], Exit.BAD_INPUT, ["Is a directory"]),
    "refused line": (["run", "good.tape", "--target", "tcp://REFUSED"], Exit.FAILED, ["refused", "check its address"]),
    "no such host": (
        ["run", "builtin:interactive", "--target", "telnet://no-such-host.invalid:23"],
        Exit.FAILED,
        ["cannot be reached"],
    ),
    "no such kind of line": (["run", "--target", "gopher://h:70"], Exit.USAGE, ["--target", "gopher"]),
    "no such setting of a line": (["run", "--target", "bsc://h:1?polls=3"], Exit.USAGE, ["polls=3", "no setting"]),
    "bad CSV": (["run", "good.tape", "--data", "bad.csv"], Exit.BAD_INPUT, ["bad.csv: row 2, column 2"]),
    "a column that is not there": (["run", "login.tape", "--data", "few.csv"], Exit.BAD_INPUT, ["`password`", "login"]),
    "negative users": (["run", "--users", "-3"], Exit.USAGE, ["--users", "-3", "from 0 to"]),
    "absurd users": (["run", "--users", "99999999999"], Exit.USAGE, ["--users", "1,000,000"]),
    "no users": (["run", "--users", "0"], Exit.USAGE, ["--users", "no group has any users"]),
    "negative time": (["run", "--measure", "-1s"], Exit.USAGE, ["--measure", "negative"]),
    "no time": (["run", "--measure", "0s"], Exit.USAGE, ["--measure", "at least 100ms"]),
    "absurd line speed": (["run", "--line-speed", "1e99"], Exit.USAGE, ["--line-speed"]),
    "a folder that is a file": (["run", "--out", "good.tape/x"], Exit.FAILED, ["cannot write a run folder", "--out"]),
    "a folder that is not empty": (["run", "--out", "."], Exit.FAILED, ["not empty", "--out"]),
    "JSON that cannot be written": (["run", "--json", "nowhere/x.json"], Exit.FAILED, ["nowhere/x.json", "--json"]),
    "a host setting that is none": (["run", "--host", "sevice=echo"], Exit.USAGE, ["did you mean `service`"]),
    "a host setting without a value": (["run", "--host", "service"], Exit.USAGE, ["KEY=VALUE"]),
    "bad limit": (["run", "--limit", "respons.p99 < 2s"], Exit.USAGE, ["--limit", "did you mean `response.p99`"]),
    "a search without an objective": (["search"], Exit.USAGE, ["needs an objective", "--limit"]),
    "a search without time": (
        ["search", "--limit", "echo.p95 < 1s", "--budget", "0"],
        Exit.USAGE,
        ["--budget 0", "one trial takes"],
    ),
    "a search up to a part of a user": (
        ["search", "--limit", "echo.p95 < 1s", "--most", "2000.5"],
        Exit.USAGE,
        ["--most", "a whole number", "2000.5"],
    ),
    "a search below its first load": (
        ["search", "--limit", "echo.p95 < 1s", "--most", "5"],
        Exit.USAGE,
        ["--most", "from 96, the first load", "--users"],
    ),
    "a search for a throughput": (
        ["search", "--limit", "throughput > 5/s"],
        Exit.BAD_INPUT,
        ["throughput > 5/s", "does not fall as the load grows", "upper bound"],
    ),
    "a search for a busy host": (
        ["search", "--limit", "host.cpu.idle < 20%"],
        Exit.BAD_INPUT,
        ["host.cpu.idle < 20%", "falls as the load grows", "lower bound"],
    ),
    "a search for the driver's limit": (
        ["search", "--limit", "echo.p95 < 1s", "--limit", "lateness.p99 < 2ms"],
        Exit.BAD_INPUT,
        ["lateness.p99 < 2ms", "is the driver's", "does not count anyway"],
    ),
    "a search for openings by users who stay": (
        ["search", "--limit", "connect.p95 < 1s"],
        Exit.BAD_INPUT,
        ["connect.p95 < 1s", "users keep their lines", "--load open:2/s:sessions"],
    ),
    "a search for no time": (["search", "--limit", "echo.p95 < 0s"], Exit.BAD_INPUT, ["no load can meet it"]),
    "a search that goes on otherwise": (
        ["search", "--resume", ".", "--rule", "rfc9971", "--users", "3"],
        Exit.USAGE,
        ["--resume", "as it was begun, without --users, --rule"],
    ),
    "a search that never was": (["search", "--resume", "."], Exit.BAD_INPUT, ["not a run folder"]),
    "check of a bad tape": (["check", "bogus.tape"], Exit.BAD_INPUT, ["bogus.tape", "^"]),
    "check of a named pipe": (["check", "pipe"], Exit.BAD_INPUT, ["pipe", "a named pipe"]),
    "a tape that reads a named pipe": (["check", "pipe.tape"], Exit.BAD_INPUT, ["pipe.tape", "a named pipe"]),
    "a plan nested too deep": (["check", "deep.toml"], Exit.BAD_INPUT, ["deep.toml", "nested too deep"]),
    "a plan with an endless number": (["check", "long.toml"], Exit.BAD_INPUT, ["long.toml", "it is not TOML"]),
    "a limit beside no list": (
        ["run", "limits.toml", "--limit", "response.p50<1s"],
        Exit.BAD_INPUT,
        ["limits: expected a list"],
    ),
    "check of a missing tape": (["check", "none.tape"], Exit.BAD_INPUT, ["none.tape", "No such file"]),
    "host that cannot listen": (["host", "--listen", "tcp://192.0.2.1:5"], Exit.FAILED, ["192.0.2.1"]),
    "host with a bad law": (["host", "--service-time", "exq 5s"], Exit.USAGE, ["--service-time", "exq"]),
}


@pytest.fixture
def files(here: Path, write: Write) -> list[str]:
    write("good.tape", TAPE)
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


@pytest.mark.parametrize(("arguments", "code", "words"), BAD.values(), ids=BAD.keys())
def test_bad_input(
    arguments: list[str],
    code: Exit,
    words: list[str],
    files: list[str],
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [argument.replace("REFUSED", refused()) for argument in arguments]
    assert main(given) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("cuesta: ")
    assert [word for word in words if word not in said.err] == [], said.err
    assert sorted(path.name for path in here.iterdir()) == files


def test_too_few_descriptors(here: Path) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    ran = subprocess.run(
        [sys.executable, "-m", "cuesta", "run", "--users", "400"],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=few,
    )
    assert ran.returncode == Exit.FAILED
    assert "needs 464 file descriptors in one process, and the limit (ulimit -n) is 256" in ran.stderr
    assert "ulimit -Hn 464" in ran.stderr
    assert list(here.iterdir()) == []


def test_a_run_that_was_no_search_does_not_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RunFolder(tmp_path / "run").write()
    assert main(["search", "--resume", str(folder)]) == Exit.BAD_INPUT
    assert "this run was no search" in capsys.readouterr().err
