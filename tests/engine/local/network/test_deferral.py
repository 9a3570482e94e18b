"""The kernel's deferral at the host's end of a wire: a real one, as root."""

import os
import subprocess
import sys

import pytest

from cuesta.engine.local.network import deferral as deferral_module
from cuesta.engine.local.network.deferral import _polling_threads, defer_receiving
from cuesta.engine.local.network.isolation import NetNsPair
from cuesta.errors import CuestaError
from tests.engine.local.network.conftest import HOST

SETTINGS = ("threaded", "napi_defer_hard_irqs", "gro_flush_timeout")


def of_host(sides: NetNsPair) -> list[str]:
    """The settings of the host's end, and whether each end collects or sends several segments as one."""
    files = " ".join(f"/sys/class/net/wire/{name}" for name in SETTINGS)
    script = f"cat {files}; ethtool -k wire | sed -n 's/^generic-receive-offload: //p'"
    found = inside(sides.host.namespace, "sh", "-c", script).split()
    return found + inside(sides.driver.namespace, "sh", "-c", "ethtool -k wire | grep ^tcp-seg").split()[1:]


def inside(namespace: str, *command: str) -> str:
    return subprocess.check_output(["ip", "netns", "exec", namespace, *command], text=True)


def test_the_settings_hold_during_the_block_and_are_taken_back(sides: NetNsPair) -> None:
    before, threads = of_host(sides), _polling_threads()
    with defer_receiving(20_000_000, sides):
        assert of_host(sides) == ["1", "2", "20000000", "on", "off"]
        (polling,) = _polling_threads() - threads
        assert os.sched_getaffinity(polling) == {HOST}
    assert of_host(sides) == before == ["0", "0", "0", "off", "on"]
    with defer_receiving(None, sides):
        assert of_host(sides) == before


def test_a_failure_half_way_takes_everything_back(sides: NetNsPair, monkeypatch: pytest.MonkeyPatch) -> None:
    before = of_host(sides)
    monkeypatch.setattr(deferral_module, "EMPTY_POLLS", -1)
    with pytest.raises(CuestaError, match="napi_defer_hard_irqs"), defer_receiving(20_000_000, sides):
        pass
    assert of_host(sides) == before == ["0", "0", "0", "off", "on"]


def test_an_error_is_kept_if_nothing_can_be_taken_back(sides: NetNsPair) -> None:
    with pytest.raises(RuntimeError, match="the first error"), defer_receiving(20_000_000, sides):
        inside(sides.host.namespace, "ip", "link", "delete", "wire")
        raise RuntimeError("the first error")


def test_packets_wait_at_the_hosts_end(sides: NetNsPair) -> None:
    """Datagrams that arrive while the thread waits to poll again are received together, up to 20 ms later."""
    with defer_receiving(20_000_000, sides):
        deferred = under_way(sides)
    assert under_way(sides) < 0.25 * deferred


RECEIVER = """
import socket, struct
SO_TIMESTAMPNS = 35
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    line.bind(("198.18.0.2", 4000))
    print("listens", flush=True)
    waits = []
    while len(waits) < 100:
        sent, ((_, _, stamp),), _, _ = line.recvmsg(8, 64)
        seconds, nanoseconds = struct.unpack("qq", stamp)
        waits.append(seconds * 10**9 + nanoseconds - struct.unpack("q", sent)[0])
print(sorted(waits)[50])
"""
SENDER = """
import select, socket, struct, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    for number in range(120):
        line.sendto(struct.pack("q", time.time_ns()), ("198.18.0.2", 4000))
        select.select([], [], [], 0.002)
"""


def under_way(sides: NetNsPair) -> int:
    """The median of how long datagrams, one every 2 ms, were under way, in ns.

    It ends with the kernel's stamp of their receipt, because a program on a busy machine reads them later.
    """
    receive = [*sides.host.command_prefix, sys.executable, "-c", RECEIVER]
    send = [*sides.driver.command_prefix, sys.executable, "-c", SENDER]
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout
        assert receiver.stdout.readline() == "listens\n"
        subprocess.run(send, check=True)
        return int(receiver.communicate(timeout=30)[0])
