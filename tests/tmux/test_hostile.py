"""Datagrams that no peer has sent: dropped, counted by kind, and no memory is kept for them."""

import ipaddress
import random
import socket
import struct

import pytest

from tests.tmux.network import (
    Network,
    Process,
    agent_process,
    connect,
    echo,
    inside,
    server,
    status,
    wait_for,
    working_agent,
)

TMUX, UDP = 18, 17
PORT = 1692
FLOOD = 20_000


def mini(length: int, protocol: int) -> bytes:
    """A mini-header (RFC 1692 §2.1) with its right checksum."""
    return bytes([length >> 8, length & 255, protocol, (length >> 8) ^ (length & 255) ^ protocol])


def datagram(source: str, destination: str, payload: bytes, protocol: int = TMUX) -> bytes:
    """The kernel fills in the checksum of IPv4 and the identification."""
    if ":" in source:
        head = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64)
        return head + addresses(source, destination) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return head + addresses(source, destination) + payload


def addresses(*texts: str) -> bytes:
    return b"".join(ipaddress.ip_address(text).packed for text in texts)


def udp_datagram(source: str, destination: str, payload: bytes, port: int = PORT) -> bytes:
    """A message in UDP, from `port`."""
    length = 8 + len(payload)
    head = struct.pack(">HHH", port, PORT, length)
    covered = addresses(source, destination) + struct.pack(">HH", UDP, length) + head + bytes(2) + payload
    words = struct.unpack(f">{len(covered) // 2}H", covered)
    total = sum(words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return datagram(source, destination, head + struct.pack(">H", 0xFFFF - total or 0xFFFF) + payload, UDP)


def raw_socket(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)


TCP = struct.pack(">HHIIBBHHH", 40001, 23, 1, 2, 0x50, 0x10, 8192, 0, 0)
MALFORMED = {
    "checksum": b"\x00\x18\x06\x00" + TCP,
    "length": b"\x00\x00\x00\x00" + TCP,
    "segment_protocol": mini(24, 254) + TCP,
    "nested": mini(24, TMUX) + TCP,
    "transport": mini(24, 6) + TCP[:12] + b"\x10" + TCP[13:],
}
"""The counter of each kind, and a message of that kind."""


@pytest.mark.parametrize("v6", [False, True], ids=["v4", "v6"])
@pytest.mark.parametrize("udp_port", [None, PORT], ids=["ip", "udp"])
def test_malformed_and_foreign_datagrams_are_dropped_and_counted(net: Network, v6: bool, udp_port: int | None) -> None:
    peer, stranger = (net.a.v6, net.third.v6) if v6 else (net.a.v4, net.third.v4)
    here = "2001:db8:8::2" if v6 else "198.18.8.2"
    make = udp_datagram if udp_port else datagram
    sent = [make(peer, here, payload) for payload in MALFORMED.values() for _ in range(3)]
    sent += [make(stranger, here, payload) for payload in MALFORMED.values()]
    expected = {**dict.fromkeys(MALFORMED, 3), "stranger": len(MALFORMED)}
    if udp_port:
        sent.append(udp_datagram(peer, here, MALFORMED["nested"], port=40_000))
        expected["protocol"] = 1
    with agent_process(net.b, peer, ports=[23], udp_port=udp_port) as agent:
        with inside(net.third), raw_socket(peer) as raw:
            for each in sent:
                raw.sendto(each, (here, 0))
        wait_for(lambda: agent.ask("status")["endpoint"]["received"] == len(sent))
        end = agent.ask("status")
    assert {kind: count for kind, count in end["wire"]["dropped"].items() if count} == expected
    assert end["wire"]["segments"]["received"] == 0
    assert end["endpoint"]["written_to_host"] == 0


def test_a_flood_takes_no_memory_and_a_connection_lives_through_it(net: Network) -> None:
    """Each datagram is received and counted, or dropped by the kernel and counted as that."""
    with (
        working_agent(net.a, net.b.v4) as peer,
        agent_process(net.b, net.a.v4) as agent,
        server(net.b, net.b.v4, echo) as port,
    ):
        wait_for(lambda: status(peer)["peers"][0]["state"] == "able")
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
        assert agent.ask("status")["wire"]["segments"]["received"] > 0
        dropped = agent.ask("status")["wire"]["dropped"]
        assert sum(dropped.values()) >= FLOOD // 2
        assert dropped["stranger"] > 0


def taken(agent: Process) -> int:
    """Datagrams that it received, or that the kernel dropped because too many waited for it."""
    endpoint = agent.ask("status")["endpoint"]
    return int(endpoint["received"] + endpoint["dropped"]["receive_queue"])


def flood(net: Network) -> None:
    """Noise from many addresses, a peer's among them."""
    dice = random.Random(1)
    with inside(net.third), raw_socket(net.a.v4) as raw:
        for number in range(FLOOD):
            source = net.a.v4 if number % 2 else f"198.18.8.{dice.randrange(4, 250)}"
            raw.sendto(datagram(source, "198.18.8.2", dice.randbytes(dice.randrange(4, 1200))), ("198.18.8.2", 0))


def test_datagrams_are_taken_from_the_interface_to_the_peers_only(net: Network) -> None:
    with agent_process(net.b, net.a.v4, interface="wire") as agent:
        with inside(net.third), raw_socket(net.a.v4) as raw:
            raw.sendto(datagram(net.a.v4, "198.18.8.2", MALFORMED["nested"]), ("198.18.8.2", 0))
        with inside(net.a), raw_socket(net.a.v4) as raw:
            raw.sendto(datagram(net.a.v4, net.b.v4, MALFORMED["length"]), (net.b.v4, 0))
        wait_for(lambda: agent.ask("status")["wire"]["dropped"]["length"] == 1)
        assert agent.ask("status")["wire"]["dropped"]["nested"] == 0
