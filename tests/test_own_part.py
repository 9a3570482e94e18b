"""The driver's own part of an echo at a real telnet daemon, judged by tcpdump, which sees the same packets."""

import json
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.daemons import busybox, telnetd

TAPE = """
Set Echo timed
Set KeyRate 10cps
Sleep 500ms
Forever
  Type "abcdefghij"
End
"""
PLAN = (
    """
tape = "keys.tape"
users = 10
stagger = "57ms"
settle = "500ms"
measure = "2s"
stamps = "all"
pin = true
meters = "none"
"""
    + BUSY
)


@pytest.mark.quiet  # a thread does not spin while others want its CPU
@pytest.mark.parametrize("spin", [pytest.param("--spin", marks=pytest.mark.nightly), "--no-spin"])
def test_what_is_left_of_an_echo_is_what_the_packets_took(
    spin: str, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("keys.tape", TAPE)
    write("plan.toml", PLAN)
    # The terminal echoes each key, and the program reads no row.
    with telnetd(busybox, here, "#!/bin/sh\nexec cat\n") as port, tcpdump(here / "keys.pcap", port) as watching:
        target = f"telnet://127.0.0.1:{port}"
        code = main(["run", "plan.toml", spin, "--target", target, "--out", "out", "--quiet", "--json", "-"])
        watching.terminate()
        watching.wait()
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    driver, (step,) = summary["driver"], summary["steps"]
    own = driver["own"]
    assert own["count"] > 0.9 * summary["keystrokes"]["count"] > 150, "a valid run sends what is due"
    assert 0 < own["p50"] < step["echo_from_sent"]["p50"]
    packets = statistics.median(packet_times(here / "keys.pcap", port))
    seen_by_the_kernel = step["echo_from_sent"]["p50"] - own["p50"]
    # tcpdump sees the echo before the driver's socket, and its own work is between the two.
    assert seen_by_the_kernel == pytest.approx(packets, rel=0.25, abs=60e-6)
    if spin == "--spin":
        assert 0 < driver["spun"] <= 0.1, "a tenth of the time at most"
        assert driver["spun"] <= driver["cpu"]
    else:
        assert driver["spun"] == 0


@contextmanager
def tcpdump(file: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """Write the packets of a port to a file."""
    command = ["tcpdump", "-i", "lo", "-n", "-U", "--time-stamp-precision=nano", "-w", str(file), f"tcp port {port}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            while "listening on" not in process.stderr.readline():
                assert process.poll() is None
            yield process
        finally:
            process.kill()


def packet_times(file: Path, port: int) -> list[float]:
    """Seconds from each key to the next single character that comes back on its line."""
    command = ["tcpdump", "-n", "-tt", "--time-stamp-precision=nano", "-r", str(file)]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    sent, took = {}, []
    for row in rows:
        at, _, source, _, to, *_ = row.split()
        if not row.endswith("length 1"):
            continue
        if to == f"127.0.0.1.{port}:":
            sent[source] = float(at)
        elif begun := sent.pop(to.rstrip(":"), None):
            took.append(float(at) - begun)
    return took
