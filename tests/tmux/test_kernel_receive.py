"""Messages that the kernel takes apart: the same packets as the agent makes of them, and the same counts."""

import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tmux.network import (
    WIRE,
    Network,
    agents,
    connect,
    echo,
    inside,
    ip,
    server,
    status,
    wait_for,
    working_agent,
)
from tests.tmux.test_hostile import datagram, mini, raw_socket

TCP, UDP, TMUX, UNKNOWN = 6, 17, 18, 254
SYN, FIN, RST, PSH, ACK, URG = 2, 1, 4, 8, 16, 32
ALL_PACKETS = 3
"""ETH_P_ALL."""
TAG = struct.pack(">HH", 0x8100, 5)
"""The Ethernet tag of VLAN 5."""
SENT = 300


def segment(chance: random.Random) -> bytes:
    """A segment of a connection that does not exist, now and then with a wrong length of its header."""
    flags = SYN if chance.random() < 0.02 else chance.choice((ACK, ACK | PSH, ACK | FIN, RST, ACK | URG))
    words = chance.choice((5, 5, 5, 8, 15, 3)) if chance.random() < 0.3 else 5
    options = bytes(4 * (max(words, 5) - 5))
    ports = chance.randrange(1, 65536), chance.randrange(1, 65536)
    head = struct.pack(">HHIIBBHHH", *ports, chance.getrandbits(32), 0, words << 4, flags, 8192, 0, 0)
    return head + options + chance.randbytes(chance.choice((0, 1, 2, 3, 4, 40, 200)))


def datagram_of_udp(chance: random.Random) -> bytes:
    """A datagram to a closed port, now and then with a wrong length."""
    text = chance.randbytes(chance.choice((0, 1, 5, 60)))
    length = 8 + len(text) + chance.choice((0, 0, 0, 0, 0, -1, 1, -9))
    return struct.pack(">HHHH", 7, 9, max(length, 0), 0) + text


def message(chance: random.Random) -> bytes:
    """A message that is simple, or is not, or is wrong."""
    message = b""
    for _ in range(chance.choice((1, 1, 2, 3, 20, 30))):
        protocol = TCP if chance.random() < 0.97 else chance.choice((UDP, UDP, UDP, TMUX, UNKNOWN))
        octets = datagram_of_udp(chance) if protocol == UDP else segment(chance)
        if len(message) + len(octets) > 1400:
            break
        message += mini(4 + len(octets), protocol) + octets + bytes(-len(octets) % 4)
    fault = chance.random()
    if fault < 0.05:
        message = message[: chance.randrange(1, len(message))]
    elif fault < 0.15:
        at = chance.randrange(len(message))
        message = message[:at] + bytes([message[at] ^ 1 << chance.randrange(8)]) + message[at + 1 :]
    return message + bytes(chance.choice((0, 0, 0, 1, 3, 4)))


@contextmanager
def received_at(net: Network, device: str) -> Iterator[list[bytes]]:
    """The packets that `b` receives at a device, in order; complete after the block.

    What follows a packet's own length is not part of it: the kernel's program leaves the rest of the message there.
    The socket is bound to its protocol and its device at once: with a protocol alone it would receive from all devices.
    """
    packets: list[bytes] = []
    with inside(net.b), socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        tap.bind((device, ALL_PACKETS))
        yield packets
        tap.setblocking(False)
        try:
            while True:
                packet, (_, _, kind, _, _) = tap.recvfrom(1 << 16)
                if kind != socket.PACKET_OUTGOING:
                    (length,) = struct.unpack_from(">H", packet, 2)
                    packets.append(packet[:length])
        except BlockingIOError:
            pass


def play(net: Network, *, kernel: bool) -> tuple[Counter[bytes], dict[str, object], int]:
    """Send the same messages; return the packets that arrive, the counts, and how many messages the kernel takes."""
    chance = random.Random(1692)
    with working_agent(net.b, net.a.v4, kernel_receive=kernel) as agent:
        assert status(agent)["kernel_receive"]["works"] is kernel, status(agent)["kernel_receive"]
        with received_at(net, "tmux0") as packets:
            send(net, *(message(chance) for _ in range(SENT)))
            wait_for(lambda: of_network(status(agent)["endpoint"]) == SENT)
        end = status(agent)
    counts = {name: end["wire"][name] for name in ("segments", "messages", "octets", "dropped")}
    for name in ("segments", "messages", "octets"):
        counts[name] = counts[name]["received"]
    return Counter(packets), counts, end["endpoint"]["received_in_kernel"]


def send(net: Network, *messages: bytes) -> None:
    """Send messages from `a` to `b`."""
    with inside(net.a), raw_socket(net.a.v4) as raw:
        for each in messages:
            raw.sendto(datagram(net.a.v4, net.b.v4, each), (net.b.v4, 0))


def numbered(number: int) -> bytes:
    """A header of TCP."""
    return struct.pack(">HHIIBBHHH", 7, 9, number, 0, 0x50, ACK, 8192, 0, 0)


def of_network(endpoint: dict[str, int]) -> int:
    return endpoint["received"] + endpoint["received_in_kernel"]


def test_the_kernel_makes_the_same_packets_of_messages_as_the_agent(net: Network) -> None:
    expected, counted, none = play(net, kernel=False)
    packets, counts, in_kernel = play(net, kernel=True)
    assert none == 0
    assert SENT / 3 < in_kernel < SENT
    assert packets == expected
    assert counts == counted
    assert packets.total() == counts["segments"]


@pytest.mark.parametrize("texts", [40 * (1,), (5000, 1, 40_001, 0, 9000, 7)], ids=["short", "longer than 4,095 octets"])
def test_segments_of_a_message_arrive_in_its_order(net: Network, texts: tuple[int, ...]) -> None:
    for place in (net.a, net.b):
        ip("-n", place.namespace, "link", "set", WIRE, "mtu", "65535")
    chance = random.Random(1692)
    octets = [numbered(number) + chance.randbytes(text) for number, text in enumerate(texts)]
    whole = b"".join(mini(4 + len(each), TCP) + each + bytes(-len(each) % 4) for each in octets)
    with working_agent(net.b, net.a.v4) as agent, received_at(net, "tmux0") as packets:
        send(net, whole)
        wait_for(lambda: status(agent)["endpoint"]["received_in_kernel"] == 1)
    assert [packet[20:] for packet in packets] == octets
    for packet in packets:
        words = struct.unpack(">10H", packet[:20])
        total = sum(words)
        assert (total & 0xFFFF) + (total >> 16) == 0xFFFF, "the header's checksum"
        assert (packet[0], packet[9], words[1], packet[12:20]) == (
            0x45,
            TCP,
            len(packet),
            socket.inet_aton(net.a.v4) + socket.inet_aton(net.b.v4),
        )


def frame(net: Network, packet: bytes, tag: bytes = b"") -> bytes:
    """An Ethernet frame from `a` to `b` with a packet of IPv4, whose checksum is filled in."""
    links = [json.loads(ip("-n", place.namespace, "-j", "link", "show", WIRE))[0] for place in (net.b, net.a)]
    ends = b"".join(bytes.fromhex(link["address"].replace(":", "")) for link in links)
    total = sum(struct.unpack(">10H", packet[:20]))
    checksum = struct.pack(">H", 0xFFFF - (total & 0xFFFF) - (total >> 16))
    return ends + tag + b"\x08\x00" + packet[:10] + checksum + packet[12:]


@pytest.mark.parametrize(("tag", "missing"), [(TAG, 0), (b"", 1)], ids=["of a VLAN", "truncated"])
def test_a_frame_that_the_interface_would_not_receive_is_left_to_the_stack(
    net: Network, tag: bytes, missing: int
) -> None:
    packet = datagram(net.a.v4, net.b.v4, mini(64, TCP) + numbered(1) + bytes(40))
    wrong = frame(net, packet, tag)
    with working_agent(net.b, net.a.v4) as agent:
        with received_at(net, "tmux0") as packets, inside(net.a):
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
                raw.bind((WIRE, 0))
                raw.send(wrong[: len(wrong) - missing])
                raw.send(frame(net, packet))
            wait_for(lambda: status(agent)["endpoint"]["received_in_kernel"] > 0)
        endpoint = status(agent)["endpoint"]
    assert (endpoint["received_in_kernel"], endpoint["received"]) == (1, 0)
    assert len(packets) == 1


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "agent"])
def test_segments_that_the_device_does_not_take_are_counted(net: Network, kernel: bool) -> None:
    with working_agent(net.b, net.a.v4, kernel_receive=kernel) as agent:
        ip("-n", net.b.namespace, "link", "set", "tmux0", "down")
        send(net, b"".join(mini(24, TCP) + numbered(number) for number in range(3)))
        wait_for(lambda: of_network(status(agent)["endpoint"]) == 1)
        end = status(agent)["endpoint"]
        agent.reset()
        assert not any(status(agent)["endpoint"]["dropped"].values())
    assert end["received_in_kernel"] == kernel
    assert {name: count for name, count in end["dropped"].items() if count} == {"to_host": 3}


@pytest.mark.parametrize(("syns", "in_kernel"), [(4, 1), (5, 0)])
def test_a_message_with_too_many_syns_is_left_to_the_agent(net: Network, syns: int, in_kernel: int) -> None:
    octets = struct.pack(">HHIIBBHHH", 7, 9, 1, 0, 0x50, SYN, 8192, 0, 0)
    with working_agent(net.b, net.a.v4) as agent:
        send(net, syns * (mini(24, TCP) + octets))
        wait_for(lambda: of_network(status(agent)["endpoint"]) == 1)
        end = status(agent)
    assert end["endpoint"]["received_in_kernel"] == in_kernel
    assert end["wire"]["segments"]["received"] == 4
    assert end["wire"]["dropped"]["syns"] == syns - 4


def test_what_the_kernel_receives_keeps_a_peer_able(net: Network) -> None:
    with agents(net, delay=0) as both:
        with server(net.b, net.b.v4, echo) as port, connect(net.a, net.b.v4, port) as line:
            for _ in range(10):
                line.sendall(b"key")
                assert line.recv(3) == b"key"
        for agent in both:
            end = status(agent)
            assert end["endpoint"]["received_in_kernel"] >= 10
            assert end["peers"][0]["state"] == "able"
            assert end["wire"]["changes"]["silent"] == 0


def test_a_capture_and_udp_leave_everything_to_the_agent(net: Network, tmp_path: Path) -> None:
    for settings, why in (
        ({"capture": str(tmp_path / "capture.pcapng")}, "capture"),
        ({"udp_port": 1692}, "UDP"),
        ({"kernel_receive": False}, "off"),
    ):
        with working_agent(net.b, net.a.v4, **settings) as agent:
            said = status(agent)["kernel_receive"]
        assert said["works"] is False
        assert why in said["why_not"]
