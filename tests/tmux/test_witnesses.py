"""What the agents count and capture, beside what tcpdump sees on the wire and on the TUN device."""

from collections import Counter
from pathlib import Path

from tests.tmux.decoder import TCP, TMUX, packets, pcap, segments, transport
from tests.tmux.network import (
    Network,
    agents,
    connect,
    echo,
    rows,
    server,
    status,
    tcpdump,
    wait_until_closed,
)


def talk(net: Network, port: int) -> None:
    """Several short conversations at the same time."""
    lines = [connect(net.a, net.b.v4, port) for _ in range(20)]
    for number in range(15):
        for line in lines:
            line.sendall(bytes(number * 60 + 1))
        for line in lines:
            left = number * 60 + 1
            while left:
                left -= len(line.recv(left))
    for line in lines:
        line.close()


def test_tcpdump_counts_the_same_datagrams(net: Network, tmp_path: Path) -> None:
    """Also plain segments: here a third of the ports is not multiplexed."""
    with tcpdump(net.b, tmp_path / "wire.pcap") as seen:
        servers = server(net.b, net.b.v4, echo), server(net.b, net.b.v4, echo)
        with servers[0] as port, servers[1] as other, agents(net, ports=[port], delay=3_000_000) as (a, b):
            talk(net, port)
            talk(net, other)
            wait_until_closed(net.a, net.b)
            ends = [status(each) for each in (a, b)]
        seen.end()
    for place, end in zip((net.a, net.b), ends, strict=True):
        wire = end["wire"]
        assert wire["segments"]["sent"] > wire["messages"]["sent"] > 0
        assert seen.count(f"ip proto 18 and src {place.v4} and ip[2:2] > 20") == wire["messages"]["sent"]
        assert end["endpoint"]["sent"] == wire["messages"]["sent"] + sum(wire["plain"].values()) + wire["enqs"]["sent"]
    assert seen.count(f"tcp port {other}") > 20 * 15
    assert sum(end["wire"]["plain"]["port"] for end in ends) == 0  # routing has kept these ports away


def test_a_capture_has_each_datagram_of_the_wire_and_each_segment_of_the_host(net: Network, tmp_path: Path) -> None:
    """What tcpdump sees on the TUN device are the segments alone, before and after TMux."""
    ours, wire_file, host_file = tmp_path / "ours.pcapng", tmp_path / "wire.pcap", tmp_path / "host.pcap"
    with tcpdump(net.a, wire_file, expression="ip proto 18") as wire, server(net.b, net.b.v4, echo) as port:
        with agents(net, capture=ours, delay=3_000_000), tcpdump(net.a, host_file, "tmux0") as host:
            talk(net, port)
            wait_until_closed(net.a, net.b)
            host.end()
        wire.end()
    captured = list(packets(ours.read_bytes()))
    assert len(rows(ours)) == len(captured)
    messages = [packet for packet in captured if transport(packet).protocol == TMUX]
    assert Counter(messages) == Counter(pcap(wire_file.read_bytes()))
    plain = [transport(packet) for packet in captured if transport(packet).protocol == TCP]
    inner = Counter(segment for message in messages for segment in segments(message))
    assert {segment.protocol for segment in inner} == {TCP}
    assert max(len(segments(message)) for message in messages) > 1
    assert inner + Counter(plain) == Counter(map(transport, pcap(host_file.read_bytes())))
