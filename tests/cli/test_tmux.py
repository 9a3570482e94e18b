"""`cuesta tmux up`, `status` and `down`, in network namespaces."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from cuesta.errors import Exit
from tests.tmux.network import Network, Place, connect, echo, inside, ip, network, server, wait_for


@pytest.fixture
def net() -> Iterator[Network]:
    with network() as made:
        try:
            yield made
        finally:
            for place in (made.a, made.b):
                tmux(place, "down")


def tmux(place: Place, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    with inside(place):
        command = [*prefix, sys.executable, "-m", "cuesta", "tmux", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_up_works_in_the_background_until_down(net: Network) -> None:
    a, b = net.a, net.b
    for place, peer in ((a, b), (b, a)):
        up = tmux(place, "up", "--peer", peer.v4, "--ports", "all", "--delay", "1ms")
        assert (up.returncode, up.stderr) == (Exit.GOOD, "")
        assert peer.v4 in up.stdout
    with server(b, b.v4, echo) as port, connect(a, b.v4, port) as line:
        line.sendall(b"x")
        assert line.recv(1) == b"x"
        shown = tmux(a, "status").stdout
        assert shown.startswith(f"TMux multiplexes all TCP to and from {b.v4}.\n")
        assert f"{b.v4}  speaks TMux" in shown
        status = json.loads(tmux(b, "status", "--json").stdout)
        assert status["wire"]["segments"]["received"] > 0
        assert status["settings"]["delay"] == 1_000_000
    for place in (a, b):
        assert tmux(place, "down").returncode == Exit.GOOD
        assert "1692" not in ip("-n", place.namespace, "rule")
        assert "tmux0" not in ip("-n", place.namespace, "link")
        assert tmux(place, "down").returncode == Exit.FAILED


def test_one_agent_a_host(net: Network) -> None:
    up = ("up", "--peer", net.b.v4)
    assert tmux(net.a, *up).returncode == Exit.GOOD
    second = tmux(net.a, *up)
    assert (second.returncode, second.stdout) == (Exit.FAILED, "")
    assert "another agent of TMux works in this network namespace" in second.stderr
    assert tmux(net.a, "down").returncode == Exit.GOOD
    assert tmux(net.a, *up).returncode == Exit.GOOD


NOBODY = ("setpriv", "--reuid=65534", "--clear-groups")
UNPRIVILEGED = ("setpriv", "--bounding-set=-net_admin,-net_raw")
"""Root without the capabilities that an agent needs."""


def test_only_root_and_its_user_may_ask_an_agent(net: Network) -> None:
    assert tmux(net.a, "up", "--peer", net.b.v4).returncode == Exit.GOOD
    for word in ("status", "down"):
        refused = tmux(net.a, word, prefix=NOBODY)
        assert (refused.returncode, refused.stdout) == (Exit.FAILED, "")
        assert "ask as the user who started it" in refused.stderr
    assert tmux(net.a, "status").returncode == Exit.GOOD


def test_an_agent_of_another_user_is_not_believed(net: Network) -> None:
    """The name of its socket is for any user to take."""
    with inside(net.a):
        fake = subprocess.Popen([*NOBODY, sys.executable, "-c", FAKE], stdout=subprocess.PIPE, text=True)
    with fake:
        assert fake.stdout
        try:
            assert fake.stdout.readline() == "bound\n"
            refused = tmux(net.a, "status")
            assert (refused.returncode, refused.stdout) == (Exit.FAILED, "")
            assert "ask as the user who started it" in refused.stderr
        finally:
            fake.kill()


FAKE = """
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0cuesta-tmux")
listener.listen()
print("bound", flush=True)
while True:
    listener.accept()[0].sendall(b'{"peers": []}\\n')
"""


def test_status_tells_by_what_error_the_last_agent_ended(net: Network) -> None:
    assert tmux(net.a, "up", "--peer", net.b.v4).returncode == Exit.GOOD
    ip("-n", net.a.namespace, "link", "delete", "tmux0")
    wait_for(lambda: "no agent of TMux works" in tmux(net.a, "status").stderr)
    assert "the last one ended by itself: reading from the TUN device" in tmux(net.a, "status").stderr
    assert tmux(net.a, "up", "--peer", net.b.v4).returncode == Exit.GOOD
    assert tmux(net.a, "down").returncode == Exit.GOOD
    assert "ended by itself" not in tmux(net.a, "status").stderr


@pytest.mark.parametrize(
    ("words", "prefix", "code", "why"),
    [
        (["status"], (), Exit.FAILED, "no agent of TMux works in this network namespace"),
        (["upp"], (), Exit.USAGE, "invalid choice: 'upp' (choose from"),
        (["up"], (), Exit.USAGE, "are required: --peer"),
        (["up", "--peer", "203.0.113.1"], (), Exit.FAILED, "no route to 203.0.113.1"),
        (["up", "--peer", "198.18.7.1"], (), Exit.FAILED, "this host's own address"),
        (["up", "--peer", "198.18.7.2"], UNPRIVILEGED, Exit.FAILED, "CAP_NET_ADMIN"),
        (["up", "--peer", "198.18.7.2", "--delay", "1s"], (), Exit.USAGE, "at most 100ms"),
        (["up", "--peer", "198.18.7.2", "--delay", "fast"], (), Exit.USAGE, "--delay"),
        (["up", "--peer", "198.18.7.2", "--ports", "0"], (), Exit.USAGE, "from 1 to 65535"),
        (["up", "--peer", "there"], (), Exit.USAGE, "IP address"),
        (["up", "--peer", "198.18.7.2", "--device", "lo"], (), Exit.USAGE, "device"),
        (["up", "--peer", "198.18.7.2", "--mtu", "60"], (), Exit.USAGE, "between 68 and 65535"),
        (["up", "--peer", "198.18.7.2", "--udp-port", "70000"], (), Exit.USAGE, "u16"),
        (["up", "--peer", "198.18.7.2", "--json"], (), Exit.USAGE, "cuesta tmux up: no such flag: --json"),
        (["status", "--peer", "198.18.7.2"], (), Exit.USAGE, "cuesta tmux status: no such flag: --peer"),
        (["down", "--foreground"], (), Exit.USAGE, "cuesta tmux down: no such flag: --foreground"),
        (["up", "--peer", "198.18.7.2", "--capture", "/nowhere/x"], (), Exit.FAILED, "cannot write the capture"),
    ],
)
def test_what_fails_says_why(net: Network, words: list[str], prefix: tuple[str, ...], code: int, why: str) -> None:
    failed = tmux(net.a, *words, prefix=prefix)
    assert (failed.returncode, failed.stdout) == (code, "")
    assert why in failed.stderr
    assert "1692" not in ip("-n", net.a.namespace, "rule")
