"""`cuesta live`: the address that it prints, and how it ends."""

import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.run_folder import RunFolder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_prints_an_address_serves_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    RunFolder(tmp_path / "runs" / "one").write()
    command = [sys.executable, "-m", "cuesta", "live", "--at", "127.0.0.1:0"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout
    address = urlsplit(running.stdout.readline().strip())
    assert (address.scheme, address.hostname, address.path) == ("http", "127.0.0.1", "/")
    token = address.fragment.removeprefix("token=")
    connection = HTTPConnection("127.0.0.1", address.port or 0, timeout=30)
    connection.request("POST", "/enter", token, {"Origin": f"http://127.0.0.1:{address.port}"})
    entered = connection.getresponse()
    assert (entered.status, entered.read()) == (204, b"")
    connection.request("GET", "/", headers={"Cookie": entered.headers["Set-Cookie"].partition(";")[0]})
    assert ">one</a>" in connection.getresponse().read().decode()
    connection.close()
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (Exit.GOOD, "", "open this address; Ctrl-C ends\n")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["missing"], Exit.BAD_INPUT, "missing: no such folder"),
        (["--at", "a:b"], Exit.USAGE, "a:b: expected an address to serve pages at"),
        (["--at", "192.0.2.1:0"], Exit.FAILED, "192.0.2.1:0: Cannot assign requested address"),
    ],
)
def test_what_cannot_be_served_is_named(
    arguments: list[str], code: Exit, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["live", *arguments]) == code
    assert why in capsys.readouterr().err
