"""The common part of hosts of 3270s: telnet's negotiation (RFC 1576), records in, screens out. Connected by `tcpsvd`.

The log of such a host has the word "asked" when a record of a key has arrived, and "text" and "unlock" for what it
wrote, with the instant just before the write as `since`.
"""

from collections.abc import Iterator
from itertools import count

from tests.hosts.behaviour import Behaviour

IAC, END_OF_RECORD = b"\xff", b"\xff\xef"
NEGOTIATION = (
    *(b"\xff\xfd\x18", b"\xff\xfa\x18\x01\xff\xf0"),  # DO TERMINAL-TYPE, SEND
    *(b"\xff\xfd\x19\xff\xfb\x19", b"\xff\xfd\x00\xff\xfb\x00"),  # DO and WILL END-OF-RECORD, BINARY
)
ANSWERS = (b"\xff\xfb\x18", b"\xff\xf0", b"\xff\xfb\x19\xff\xfd\x19", b"\xff\xfb\x00\xff\xfd\x00")
"""How each of them is answered, at its end."""

ERASE_WRITE, WRITE = b"\xf5", b"\xf1"
KEEP, UNLOCK = b"\xc0", b"\xc3"
"""Write control characters: none of it, or unlock the keyboard and forget what was modified."""
FIELD = b"\x11\x5b\x60\x1d\x40\x13\x11\x5c\xf0\x1d\xf0"
"""A field to type into, in the 23rd row, with the cursor in it."""


def screen(text: str, *, unlock: bool) -> bytes:
    """The record that writes a screen with a row of text."""
    row = b"\x11\x40\x40\x1d\xf0" + text.encode("cp037")
    return ERASE_WRITE + (UNLOCK if unlock else KEEP) + row + FIELD + END_OF_RECORD


def unlock() -> bytes:
    """The record that unlocks the keyboard and writes nothing."""
    return WRITE + UNLOCK + END_OF_RECORD


def asked(host: Behaviour) -> Iterator[int]:
    """Negotiate, show the first screen, and yield the number of each record that arrives, from 1."""
    reads = host.reads()
    for said, answer in zip(NEGOTIATION, ANSWERS, strict=True):
        host.write(said, "negotiated")
        answered = b""
        while not answered.endswith(answer):
            answered += next(reads)
    host.write(screen("READY", unlock=True), "first")
    pending, number = b"", count(1)
    for data in reads:
        pending += data
        while END_OF_RECORD in pending:
            record, pending = pending.split(END_OF_RECORD, 1)
            host.note("asked", record)
            yield next(number)
