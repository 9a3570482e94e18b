"""A decoder of TMux by the text of RFC 1692, and a reader of pcapng (draft-ietf-opsawg-pcapng). It shares no code."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

TMUX, TCP = 18, 6
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
LITTLE = 0x1A2B3C4D
RAW, ETHERNET = 101, 1
"""LINKTYPE_RAW, LINKTYPE_ETHERNET."""


@dataclass(frozen=True)
class Segment:
    source: bytes
    destination: bytes
    protocol: int
    octets: bytes


def packets(file: bytes) -> Iterator[bytes]:
    """The packets of a pcapng file, each of one section, little-endian, LINKTYPE_RAW."""
    at = 0
    while at < len(file):
        kind, length = struct.unpack_from("<II", file, at)
        body = file[at + 8 : at + length - 4]
        assert struct.unpack_from("<I", file, at + length - 4) == (length,)
        if kind == SECTION:
            assert struct.unpack_from("<I", body)[0] == LITTLE
        elif kind == INTERFACE:
            assert struct.unpack_from("<H", body)[0] == RAW
        elif kind == PACKET:
            captured, original = struct.unpack_from("<II", body, 12)
            assert captured == original
            yield body[20 : 20 + captured]
        at += length


def pcap(file: bytes) -> Iterator[bytes]:
    """The IP packets of a file of tcpdump's: of a TUN device, or of Ethernet."""
    link = struct.unpack_from("<I", file, 20)[0]
    assert struct.unpack_from("<I", file)[0] == 0xA1B2C3D4
    assert link in (RAW, ETHERNET)
    at = 24
    while at < len(file):
        captured, original = struct.unpack_from("<II", file, at + 8)
        assert captured == original
        at += 16 + captured
        yield file[at - captured + (14 if link == ETHERNET else 0) : at]


def transport(packet: bytes) -> Segment:
    """What an IPv4 packet carries; its header's checksum must be right."""
    header = (packet[0] & 15) * 4
    words = struct.unpack(f">{header // 2}H", packet[:header])
    total = sum(words)
    assert packet[0] >> 4 == 4
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    return Segment(packet[12:16], packet[16:20], packet[9], packet[header : struct.unpack_from(">H", packet, 2)[0]])


def segments(packet: bytes) -> list[Segment]:
    """The segments of a datagram of TMux, in order; none of an ENQ."""
    outer = transport(packet)
    assert outer.protocol == TMUX
    found, at = [], 0
    while at < len(outer.octets):
        high, low, protocol, check = outer.octets[at : at + 4]
        length = high << 8 | low
        assert check == high ^ low ^ protocol
        assert 4 <= length <= len(outer.octets) - at
        found.append(Segment(outer.source, outer.destination, protocol, outer.octets[at + 4 : at + length]))
        at += (length + 3) // 4 * 4
    return found
