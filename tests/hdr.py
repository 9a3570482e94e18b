"""Encodes HdrHistograms independently of the code under test: V2, compressed, base64, 3 digits, nanoseconds."""

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Iterable

COOKIE, COMPRESSED_COOKIE = 0x1C849313, 0x1C849314
HALF_MAGNITUDE = 10  # 1024 counters per bucket give 3 digits


def index(value: int) -> int:
    """Number of the counter that holds `value`."""
    bucket = max(value.bit_length() - (HALF_MAGNITUDE + 1), 0)
    return (bucket << HALF_MAGNITUDE) + (value >> bucket)


def highest_equivalent(value: int) -> int:
    """Largest value that the same counter holds."""
    bucket = max(value.bit_length() - (HALF_MAGNITUDE + 1), 0)
    return (((value >> bucket) + 1) << bucket) - 1


def zigzag(number: int) -> bytes:
    """One count as ZigZag LEB128; a negative one is a run of zeros."""
    bits = (number << 1) ^ (number >> 63)
    out = bytearray()
    while bits > 0x7F and len(out) < 8:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    return bytes(out + bytes([bits]))


def encode(seconds: Iterable[float]) -> str:
    """The histogram of these durations, ready for a row of a log."""
    values = [round(value * 1e9) for value in seconds]
    counts = Counter(map(index, values))
    body, at = b"", 0
    for place in sorted(counts):
        body += (zigzag(at - place) if place > at else b"") + zigzag(counts[place])
        at = place + 1
    highest = max((1 << max(values, default=0).bit_length()) - 1, 2)
    plain = struct.pack(">iiiiqqd", COOKIE, len(body), 0, 3, 1, highest, 1.0) + body
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">ii", COMPRESSED_COOKIE, len(packed)) + packed).decode()
