"""A bisync station that misbehaves in turn: it refuses a good block, does not answer a block, says that it is busy.

It receives only. The log has the word "block" for each block that it takes, with its text, and "nak", "lost" and "wack"
for what it did instead of acknowledging. Connected by `tcpsvd`.
"""

import re
import struct

from tests.hosts.behaviour import Behaviour, started

BEGIN, END = b"\xaa\x32\x32", b"\xff"
ENQ, EOT, NAK = b"\x2d", b"\x37", b"\x3d"
ACKS = (b"\x10\x70", b"\x10\x61")
WACK = b"\x10\x6b"
UNIT = re.compile(
    rb"\xaa\x32\x32(?:(?P<control>[\x2d\x37])\xff|\x02(?P<text>[^\x03]*)\x03(?P<check>..)\xff)", re.DOTALL
)
TURNS = ("take", "nak", "take", "lose", "take", "wack", "take", "take")


def check_of(data: bytes) -> bytes:
    """Compute CRC-16, the low byte first."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return struct.pack("<H", crc)


class Station:
    """The receiving side of the procedure, and what it does wrong."""

    def __init__(self, host: Behaviour) -> None:
        self.host = host
        self.blocks = 0
        self.acknowledged = 0
        """Blocks since the bid; its last bit is the number of the last acknowledgement."""
        self.wacks = 0

    def say(self, control: bytes, did: str) -> None:
        self.host.write(BEGIN + control + END, did)

    def answer(self) -> None:
        self.say(ACKS[self.acknowledged % 2], "ack")

    def enq(self) -> None:
        """Answer a bid, or a question for the last answer."""
        if self.wacks:
            self.wacks -= 1
            self.say(WACK, "wack") if self.wacks else self.answer()
        else:
            self.answer()

    def block(self, text: bytes, check: bytes) -> None:
        turn = TURNS[self.blocks % len(TURNS)]
        self.blocks += 1
        if check != check_of(text + b"\x03"):
            raise SystemExit("the driver's block check is wrong")
        if turn == "nak":
            # As if noise had damaged the block.
            self.say(NAK, "nak")
            return
        self.acknowledged += 1
        self.host.note("block", text)
        if turn == "lose":
            self.host.note("lost")
        elif turn == "wack":
            self.wacks = 3
            self.say(WACK, "wack")
        else:
            self.answer()


def serve(host: Behaviour) -> None:
    station, pending = Station(host), b""
    for data in host.reads():
        pending += data
        while unit := UNIT.search(pending):
            pending = pending[unit.end() :]
            if unit["control"] == EOT:
                station.acknowledged = 0
            elif unit["control"]:
                station.enq()
            else:
                station.block(unit["text"], unit["check"])


if __name__ == "__main__":
    serve(started())
