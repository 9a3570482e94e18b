"""What an agent sets up in the kernel, and takes back."""

import json
import signal
import socket
import threading
from typing import Any

import pytest

from cuesta import _native
from tests.tmux.network import (
    PATIENCE,
    WIRE,
    Network,
    Place,
    agent_process,
    agents,
    connect,
    echo,
    forward,
    inside,
    ip,
    server,
    start_agent,
    status,
    working_agent,
)

QUICK: dict[str, Any] = {"kernel_receive": False}
"""For tests of rules and devices: the program that receives messages takes half a second of CPU time to be loaded."""


def rp_filter(place: Place, device: str, value: str | None = None) -> str:
    """The kernel's check of source addresses; set if there is a value."""
    name = f"net.ipv4.conf.{device}.rp_filter"
    assignment = ["-w", f"{name}={value}"] if value else [name]
    return ip("netns", "exec", place.namespace, "sysctl", "-n", *assignment).strip()


@pytest.mark.parametrize("strict", ["all", WIRE])
@pytest.mark.parametrize("cleaner", ["down", "up"])
def test_checks_are_strict_again_after_a_killed_agent_is_cleaned_up(net: Network, strict: str, cleaner: str) -> None:
    rp_filter(net.b, strict, "1")
    before = rp_filter(net.b, WIRE)
    with agent_process(net.b, net.a.v4, **QUICK):
        assert rp_filter(net.b, WIRE) == "2"
    assert rp_filter(net.b, WIRE) == "2"
    if cleaner == "up":
        start_agent(net.b, net.a.v4, **QUICK).stop()
    else:
        with inside(net.b):
            _native.tmux_stop()
    assert rp_filter(net.b, WIRE) == before
    assert "1692" not in ip("-n", net.b.namespace, "rule")


@pytest.mark.parametrize("strict", ["all", WIRE])
def test_strict_checks_of_source_addresses_are_loose_while_the_agent_works(net: Network, strict: str) -> None:
    """Else plain segments of a peer would be dropped, because the way back to it is the TUN device."""
    rp_filter(net.b, strict, "1")
    before = rp_filter(net.b, WIRE)
    with working_agent(net.b, net.a.v4):
        assert rp_filter(net.b, WIRE) == "2"
        with server(net.b, net.b.v4, echo) as port, connect(net.a, net.b.v4, port) as line:
            line.sendall(b"plain")
            assert line.recv(5) == b"plain"
    assert rp_filter(net.b, WIRE) == before
    with agents(net) as (_, b), server(net.b, net.b.v4, echo) as port, connect(net.a, net.b.v4, port) as line:
        line.sendall(b"multiplexed")
        assert line.recv(11) == b"multiplexed"
        assert status(b)["wire"]["segments"]["received"] > 0


def test_only_chosen_ports_go_by_the_device_from_either_end(net: Network) -> None:
    with agents(net, ports=[23], **QUICK):
        for end in ("sport", "dport"):
            for port, device in (("23", "dev tmux0"), ("24", f"dev {WIRE}")):
                route = ("route", "get", net.b.v4, "ipproto", "tcp", end, port)
                assert device in ip("-n", net.a.namespace, *route)
        assert f"dev {WIRE}" in ip("-n", net.a.namespace, "route", "get", net.b.v4)
        marked = ("route", "get", net.b.v4, "mark", "0x1692", "ipproto", "tcp", "dport", "23")
        assert f"dev {WIRE}" in ip("-n", net.a.namespace, *marked)


def test_forwarded_and_marked_packets_go_their_way(net: Network) -> None:
    """Their source is another host's; and a mark is of somebody who knows the way."""
    forward(net)
    telnet = ("ipproto", "tcp", "dport", "23")
    forwarded = ("route", "get", net.a.v4, "from", net.third.v4, "iif", "other", *telnet)
    with working_agent(net.b, net.a.v4, ports=[23], **QUICK):
        assert f"dev {WIRE}" in ip("-n", net.b.namespace, *forwarded)
        assert f"dev {WIRE}" in ip("-n", net.b.namespace, "route", "get", net.a.v4, "mark", "7", *telnet)
        assert "dev tmux0" in ip("-n", net.b.namespace, "route", "get", net.a.v4, *telnet)


def test_messages_stay_in_a_tunnel(net: Network) -> None:
    """Tunnels such as WireGuard's have a table for all that does not have their own mark."""
    ip("-n", net.a.namespace, "route", "add", net.b.v4, "dev", WIRE, "table", "51820")
    ip("-n", net.a.namespace, "rule", "add", "not", "fwmark", "0xca6c", "lookup", "51820")
    with working_agent(net.a, net.b.v4, **QUICK):
        assert "table 51820" in ip("-n", net.a.namespace, "route", "get", net.b.v4, "mark", "0x1692")


def test_a_rule_that_sends_messages_another_way_is_refused(net: Network) -> None:
    ip("-n", net.b.namespace, "route", "add", net.a.v4, "via", net.third.v4, "table", "77")
    ip("-n", net.b.namespace, "rule", "add", "fwmark", "0x1692/0xffff", "lookup", "77")
    with pytest.raises(_native.RunError, match="the agent's, another way"):
        start_agent(net.b, net.a.v4)
    assert "1692:" not in ip("-n", net.b.namespace, "rule")


def test_the_device_leaves_room_for_a_mini_header(net: Network) -> None:
    ip("-n", net.a.namespace, "link", "set", WIRE, "mtu", "1400")
    for settings, mtu in (({}, 1396), ({"udp_port": 1692}, 1388), ({"mtu": 1300}, 1296), ({"mtu": 9000}, 1396)):
        with working_agent(net.a, net.b.v4, **settings, **QUICK):
            assert f"mtu {mtu} " in ip("-n", net.a.namespace, "link", "show", "tmux0")


def test_rules_of_a_killed_agent_are_removed(net: Network) -> None:
    with agent_process(net.a, net.b.v4, **QUICK):
        pass  # killed
    assert "1692" in ip("-n", net.a.namespace, "rule")
    assert "tmux0" not in ip("-n", net.a.namespace, "link")
    with inside(net.a):
        assert _native.tmux_stop() == "null"
        with pytest.raises(_native.RunError, match="no agent of TMux works"):
            _native.tmux_stop()
    assert "1692" not in ip("-n", net.a.namespace, "rule")


def test_all_that_waits_in_the_device_is_sent_when_the_agent_ends(net: Network) -> None:
    count = 5000
    last: list[str] = []

    def stop() -> None:
        with inside(net.a):
            last.append(_native.tmux_stop())

    with agent_process(net.a, net.b.v4, multiplex_udp=True, **QUICK) as agent:
        agent.process.send_signal(signal.SIGSTOP)
        with inside(net.a), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            for _ in range(count):
                line.sendto(b"x", (net.b.v4, 9))
        stopping = threading.Thread(target=stop)
        stopping.start()
        agent.process.send_signal(signal.SIGCONT)
        stopping.join()
    endpoint = json.loads(last[0])["endpoint"]
    assert (endpoint["read_from_host"], endpoint["dropped"]["device_queue"]) == (count, 0)


def test_an_agent_whose_device_is_taken_away_says_so(net: Network) -> None:
    agent = start_agent(net.a, net.b.v4)
    ip("-n", net.a.namespace, "link", "delete", "tmux0")
    assert agent.wait(30)
    with pytest.raises(_native.RunError, match="TUN"):
        agent.stop()
    assert "1692" not in ip("-n", net.a.namespace, "rule")


def test_a_thread_that_waits_for_the_end_holds_no_other_up(net: Network) -> None:
    ended: list[bool] = []
    agent = start_agent(net.a, net.b.v4, **QUICK)
    waiting = threading.Thread(target=lambda: ended.append(agent.wait(PATIENCE)))
    waiting.start()
    assert status(agent)["peers"][0]["address"] == net.b.v4
    agent.stop()
    waiting.join()
    assert ended == [True]


def test_ipv6_needs_room(net: Network) -> None:
    with pytest.raises(ValueError, match="mtu: packets to IPv6 peers would have 1196 octets, and IPv6 needs 1280"):
        start_agent(net.a, net.b.v6, mtu=1200)
