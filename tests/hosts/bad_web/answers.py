"""Shapes that answer the first request wrongly, whatever it asks for: a token, a terminal or a WebSocket."""

import asyncio
import base64
import binascii
from functools import partial

from tests.hosts.bad_web.bombs import GIGABYTE, deflated
from tests.hosts.bad_web.caller import Caller, Shape

STATUSES = {
    "status-401": "401 Unauthorized",
    "status-403": "403 Forbidden",
    "status-404": "404 Not Found",
    "status-500": "500 Internal Server Error",
    "status-503": "503 Service Unavailable",
    "page": "200 OK",
    "escapes-in-reason": "418 \x1b[2J\x1b]0;owned\x07",
}
"""Shapes whose answer is a page."""
GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
"""The header of a gzip file without a name."""
BODIES = {
    "deep-json": b"[" * 1_000_000,
    "other-json": b'{"message": "\\u001b]0;owned\\u0007", "reason": null}',
    "injecting-json": b'{"name": "1 HTTP/1.1\\r\\nX-Injected: yes\\r\\n\\r\\n"}',
    "half-json": b'{"token": "',
    "no-utf8-json": b'{"token": "\xff\xfe", "name": "\xff\xfe"}',
}
"""Shapes whose answer has this body, with status 200."""
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKS = {
    "bad-chunk": b'd\r\n{"token": ""}XXzz\r\n',
    "vast-chunk": b"ffffffffffffffffffffffff\r\n",
    "negative-chunk": b'-1\r\n{"token": ""}\r\n0\r\n\r\n',
    "half-chunk": b"d\r\n{",
}
"""Shapes whose body is so chunked, and then ends."""
LONG = b"X-Filler: " + b"x" * 8180 + b"\r\n"
"""8 KiB of header."""


async def answer_with_page(caller: Caller, status: str) -> None:
    """Answer with a page that has escape sequences, and all that the client told of itself."""
    request = caller.request
    rows = (f"{name}: {value} {decoded(value)}\n" for name, value in request.headers.items())
    page = f"<html>\x1b]0;owned\x07\x1b[31m\x9b2J<pre>{request.method} {request.path}\n{''.join(rows)}</pre></html>"
    await caller.answer(page.encode("latin-1", "replace"), status, Content_Type="text/html")


def decoded(value: str) -> str:
    """The user and password in the value of a header, if it has them (Basic)."""
    try:
        return base64.b64decode(value.removeprefix("Basic "), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""


async def answer_with_body(caller: Caller, body: bytes) -> None:
    await caller.answer(body)


async def answer_with_chunks(caller: Caller, chunks: bytes) -> None:
    await caller.send(CHUNKED + chunks)
    caller.hang_up()


async def redirect_in_circle(caller: Caller) -> None:
    """Send the client to where it is."""
    await caller.answer(b"", "302 Found", Location=caller.request.path)


async def redirect_for_ever(caller: Caller) -> None:
    """Send the client to a place where it was not yet."""
    await caller.answer(b"", "302 Found", Location=f"/again{caller.request.path}")


async def redirect_elsewhere(caller: Caller) -> None:
    """Send the client to a host of another name, which logs what it is told."""
    port = caller.request.headers["host"].rpartition(":")[2]
    await caller.answer(b"", "307 Temporary Redirect", Location=f"http://localhost:{port}/stolen/token")


async def redirect_to_file(caller: Caller) -> None:
    await caller.answer(b"", "302 Found", Location="file:///etc/hostname")


async def send_gzip_bomb(caller: Caller) -> None:
    """A body of a megabyte that grows to a gigabyte."""
    await caller.answer(GZIP + deflated(), Content_Encoding="gzip")


async def send_gigabyte(caller: Caller) -> None:
    await caller.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % GIGABYTE)
    for _ in range(GIGABYTE >> 16):
        await caller.send(b" " * (1 << 16))


async def send_without_end(caller: Caller) -> None:
    """A body without a length, which ends with the connection: it does not."""
    await caller.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    await caller.repeat(b" " * (1 << 16))


async def send_chunks_without_end(caller: Caller) -> None:
    await caller.send(CHUNKED)
    await caller.repeat(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


async def send_small_chunks_without_end(caller: Caller) -> None:
    """Chunks of one byte, with extensions."""
    await caller.send(CHUNKED)
    await caller.repeat(b"1;name=value\r\n \r\n" * 4096)


async def send_less_than_promised(caller: Caller) -> None:
    await caller.answer(b'{"token": ""', Content_Length="1000")
    caller.hang_up()


async def send_more_than_promised(caller: Caller) -> None:
    """The rest looks like an answer to the next request."""
    await caller.answer(b'{"tokHTTP/1.1 101 Switching Protocols\r\n\r\n', Content_Length="5")


async def send_long_head(caller: Caller) -> None:
    """64 KiB of headers, and then a good body."""
    await caller.send(b"HTTP/1.1 200 OK\r\n" + LONG * 8 + b'Content-Length: 13\r\n\r\n{"token": ""}')


async def send_head_without_end(caller: Caller) -> None:
    await caller.send(b"HTTP/1.1 200 OK\r\n")
    await caller.repeat(LONG)


async def send_row_without_end(caller: Caller) -> None:
    """The status line never ends."""
    await caller.send(b"HTTP/1.1 200 ")
    await caller.repeat(b"x" * (1 << 16))


async def be_another_protocol(caller: Caller) -> None:
    await caller.send(b"SSH-2.0-OpenSSH_9.2p1\r\n")
    await caller.ignore()


async def hang_up(caller: Caller) -> None:
    caller.hang_up()


async def say_nothing(caller: Caller) -> None:
    await caller.ignore()


async def drip_without_end(caller: Caller) -> None:
    """A header that grows by a byte at intervals, so that no timeout between reads ends it."""
    await caller.send(b"HTTP/1.1 200 OK\r\nX-Filler: ")
    while True:
        await caller.send(b"x")
        await asyncio.sleep(0.1)


ANSWERS: dict[str, Shape] = {
    **{name: partial(answer_with_page, status=status) for name, status in STATUSES.items()},
    **{name: partial(answer_with_body, body=body) for name, body in BODIES.items()},
    **{name: partial(answer_with_chunks, chunks=chunks) for name, chunks in CHUNKS.items()},
    "circle": redirect_in_circle,
    "spiral": redirect_for_ever,
    "elsewhere": redirect_elsewhere,
    "to-file": redirect_to_file,
    "gzip-bomb": send_gzip_bomb,
    "gigabyte-body": send_gigabyte,
    "endless-body": send_without_end,
    "endless-chunks": send_chunks_without_end,
    "endless-small-chunks": send_small_chunks_without_end,
    "short-body": send_less_than_promised,
    "surplus-body": send_more_than_promised,
    "long-head": send_long_head,
    "endless-head": send_head_without_end,
    "endless-row": send_row_without_end,
    "ssh": be_another_protocol,
    "hangs-up": hang_up,
    "silence": say_nothing,
    "endless-drip": drip_without_end,
}
