"""Shapes that take the WebSocket, and then send what no client wants. To one that stays they are terminals."""

import asyncio
from functools import partial

from tests.hosts.bad_web.bombs import GIGABYTE, deflated
from tests.hosts.bad_web.caller import PROMPT, Caller, Shape
from tests.hosts.websocket import Opcode, close, frame, header, read_typed, upgrade

FRAMES = {
    "masked": header(Opcode.BINARY, 2, masked=True) + b"\0\0\0\0$ ",
    "reserved-bit": frame(Opcode.BINARY, b"$ ", reserved=4),
    "reserved-opcode": frame(3, b"$ "),
    "reserved-control-opcode": frame(11),
    "long-ping": frame(Opcode.PING, bytes(126)),
    "long-close": frame(Opcode.CLOSE, b"\x03\xe8" + b"x" * 124),
    "vast-ping": header(Opcode.PING, GIGABYTE),
    "fragmented-ping": frame(Opcode.PING, final=False),
    "fragmented-close": frame(Opcode.CLOSE, b"\x03\xe8", final=False),
    "continuation-of-nothing": frame(Opcode.CONTINUATION, b"$ "),
    "message-in-message": frame(Opcode.BINARY, b"$", final=False) + frame(Opcode.BINARY, b" "),
    "no-utf8": frame(Opcode.TEXT, b"\xff"),
    "half-utf8": frame(Opcode.TEXT, "é".encode()[:1]),
    "negative-length": b"\x82\x7f" + b"\xff" * 8,
    "announced-gigabyte": header(Opcode.BINARY, GIGABYTE),
    "announced-exabytes": header(Opcode.BINARY, (1 << 63) - 1),
    "close-of-one-byte": frame(Opcode.CLOSE, b"\x03"),
    "close-reason-no-utf8": close(1000, b"\xff\xfe"),
    "close-999": close(999),
    "close-1006": close(1006),
    "close-1008-then-data": close(1008, b"no") + PROMPT * 2,
    "close-1011-with-escapes": close(1011, b"\x1b]0;owned\x07\x1b[2J"),
}
"""Shapes that send these bytes first; RFC 6455 §5 and §7, and what ttyd 1.7.7 was seen to send."""
MEGABYTE = bytes(1 << 20)


async def send_first(caller: Caller, data: bytes) -> None:
    await caller.upgrade()
    await caller.send(data)
    await caller.echo()


async def send_first_message(caller: Caller, opcode: Opcode, payload: bytes) -> None:
    await send_first(caller, frame(opcode, payload))


async def send_gigabyte(caller: Caller) -> None:
    """A message of one frame, which does come."""
    await caller.upgrade()
    await caller.send(header(Opcode.BINARY, GIGABYTE))
    for _ in range(GIGABYTE // len(MEGABYTE)):
        await caller.send(MEGABYTE)
    await caller.echo()


async def send_fragments(caller: Caller, length: int, at_once: int) -> None:
    """A message that never ends, as fast as the client reads it."""
    await caller.upgrade()
    await caller.send(frame(Opcode.BINARY, b"$", final=False))
    await caller.repeat(frame(Opcode.CONTINUATION, bytes(length), final=False) * at_once)


async def send_empty_fragments(caller: Caller) -> None:
    """A message that never ends and never grows: 100,000 fragments a second."""
    await caller.upgrade()
    await caller.send(frame(Opcode.BINARY, b"$", final=False))
    await caller.flood(frame(Opcode.CONTINUATION, final=False) * 1000)


async def send_pings(caller: Caller) -> None:
    """Be a terminal, and send 100,000 pings a second meanwhile."""
    await caller.upgrade()
    flooding = asyncio.create_task(caller.flood(frame(Opcode.PING, b"12345678") * 1000))
    await caller.echo()
    flooding.cancel()


async def send_pings_unread(caller: Caller) -> None:
    """Send a prompt and 100,000 pings a second, and read nothing, so that the client cannot send its pongs."""
    await caller.upgrade()
    await caller.send(PROMPT)
    await caller.flood(frame(Opcode.PING, b"12345678") * 1000)


async def ignore_pings(caller: Caller) -> None:
    """Be a terminal that answers neither Ping nor Close, and never ends the connection."""
    await caller.upgrade()
    await caller.send(PROMPT)
    while typed := await read_typed(caller.reader, caller.writer, answers=False):
        await caller.send(frame(Opcode.BINARY, typed.replace(b"\r", b"\r\n$ ")))
    await caller.ignore()


async def split_character(caller: Caller) -> None:
    """A character in two fragments of a text, with a ping between them: all of it allowed."""
    start, end = "é".encode()[:1], "é".encode()[1:]
    parts = frame(Opcode.TEXT, start, final=False), frame(Opcode.PING), frame(Opcode.CONTINUATION, end)
    await send_first(caller, b"".join(parts))


async def send_deflate_bomb(caller: Caller) -> None:
    """A message of a megabyte that grows to a gigabyte; compressed whether the client offered that or not."""
    await caller.send(upgrade(caller.request, Sec_WebSocket_Extensions="permessage-deflate"))
    await caller.send(frame(Opcode.BINARY, deflated(), reserved=4))
    await caller.echo()


async def hang_up(caller: Caller) -> None:
    await caller.upgrade()
    caller.hang_up()


MESSAGES: dict[str, Shape] = {
    **{name: partial(send_first, data=data) for name, data in FRAMES.items()},
    "html-message": partial(send_first_message, opcode=Opcode.TEXT, payload=b"<html>\x1b]0;owned\x07</html>"),
    "html-status": partial(send_first_message, opcode=Opcode.BINARY, payload=b"\x03<html>\x1b]0;owned\x07</html>"),
    "deep-message": partial(send_first_message, opcode=Opcode.TEXT, payload=b"[" * 1_000_000),
    "gigabyte": send_gigabyte,
    "endless-fragments": partial(send_fragments, length=1 << 16, at_once=1),
    "endless-bytes": partial(send_fragments, length=1, at_once=1 << 14),
    "empty-fragments": send_empty_fragments,
    "ping-flood": send_pings,
    "unread-ping-flood": send_pings_unread,
    "no-pong": ignore_pings,
    "split-character": split_character,
    "deflate-bomb": send_deflate_bomb,
    "hangs-up-after-101": hang_up,
}
