"""Datagrams that no peer has sent: dropped, counted by kind, and no memory is kept for them."""

import random
import socket
import struct
from collections.abc import Iterator

import pytest

from tests.tmux.network import (
    Network,
    Process,
    agent_process,
    connect,
    echo,
    inside,
    network,
    server,
    start_agent,
    wait_for,
)

TMUX = 18
FLOOD = 20_000


@pytest.fixture
def net() -> Iterator[Network]:
    with network() as made:
        yield made


def mini(length: int, protocol: int) -> bytes:
    """A mini-header (RFC 1692 §2.1) with its right checksum."""
    return bytes([length >> 8, length & 255, protocol, (length >> 8) ^ (length & 255) ^ protocol])


def datagram(source: str, destination: str, payload: bytes) -> bytes:
    """The kernel fills in the checksum and the identification."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, TMUX, 0)
    return head + socket.inet_aton(source) + socket.inet_aton(destination) + payload


TCP = struct.pack(">HHIIBBHHH", 40001, 23, 1, 2, 0x50, 0x10, 8192, 0, 0)
MALFORMED = {
    "checksum": b"\x00\x18\x06\x00" + TCP,
    "length": b"\x00\x00\x00\x00" + TCP,
    "segment_protocol": mini(24, 254) + TCP,
    "nested": mini(24, TMUX) + TCP,
    "transport": mini(24, 6) + TCP[:12] + b"\x10" + TCP[13:],
}
"""The counter of each kind, and a message of that kind."""


def test_malformed_and_foreign_datagrams_are_dropped_and_counted(net: Network) -> None:
    with agent_process(net.b, net.a.v4, ports=[23]) as agent:
        with inside(net.third), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            for payload in MALFORMED.values():
                for _ in range(3):
                    raw.sendto(datagram(net.a.v4, "198.18.8.2", payload), ("198.18.8.2", 0))
                raw.sendto(datagram(net.third.v4, "198.18.8.2", payload), ("198.18.8.2", 0))
        sent = 4 * len(MALFORMED)
        wait_for(lambda: agent.ask("status")["endpoint"]["received"] == sent)
        end = agent.ask("status")
    dropped = {kind: count for kind, count in end["wire"]["dropped"].items() if count}
    assert dropped == {**dict.fromkeys(MALFORMED, 3), "stranger": len(MALFORMED)}
    assert end["wire"]["segments"]["received"] == 0
    assert end["endpoint"]["written_to_host"] == 0


def test_a_flood_takes_no_memory_and_a_connection_lives_through_it(net: Network) -> None:
    """Each datagram is received and counted, or dropped by the kernel and counted as that."""
    peer = start_agent(net.a, net.b.v4)
    with agent_process(net.b, net.a.v4) as agent, server(net.b, net.b.v4, echo) as port:
        try:
            with connect(net.a, net.b.v4, port) as line:
                line.sendall(b"before")
                assert line.recv(6) == b"before"
                agent.ask("reset")
                before = agent.resident()
                flood(net)
                wait_for(lambda: taken(agent) >= FLOOD)
                assert agent.resident() - before < 4_000_000
                line.sendall(b"after")
                assert line.recv(5) == b"after"
            dropped = agent.ask("status")["wire"]["dropped"]
            assert sum(dropped.values()) >= FLOOD // 2
            assert dropped["stranger"] > 0
        finally:
            peer.stop()


def taken(agent: Process) -> int:
    """Datagrams that it received, or that the kernel dropped because too many waited for it."""
    endpoint = agent.ask("status")["endpoint"]
    return int(endpoint["received"] + endpoint["dropped"]["receive_queue"])


def flood(net: Network) -> None:
    """Noise from many addresses, a peer's among them."""
    dice = random.Random(1)
    with inside(net.third), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number in range(FLOOD):
            source = net.a.v4 if number % 2 else f"198.18.8.{dice.randrange(4, 250)}"
            raw.sendto(datagram(source, "198.18.8.2", dice.randbytes(dice.randrange(4, 1200))), ("198.18.8.2", 0))


def test_datagrams_are_taken_from_the_interface_to_the_peers_only(net: Network) -> None:
    with agent_process(net.b, net.a.v4, interface="wire") as agent:
        with inside(net.third), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            raw.sendto(datagram(net.a.v4, "198.18.8.2", MALFORMED["nested"]), ("198.18.8.2", 0))
        with inside(net.a), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            raw.sendto(datagram(net.a.v4, net.b.v4, MALFORMED["length"]), (net.b.v4, 0))
        wait_for(lambda: agent.ask("status")["wire"]["dropped"]["length"] == 1)
        assert agent.ask("status")["wire"]["dropped"]["nested"] == 0
