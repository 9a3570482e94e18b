"""The server's end of WebSocket (RFC 6455), and a server that runs a command for each connection, as websocketd does.

    python -m tests.hosts.websocket --port PORT COMMAND [ARGUMENT…]

The command's standard input and output are one socket. What it writes goes out as binary messages, one for each read;
the payload of every message goes in. When it ends, the connection is closed with 1000.
"""

import argparse
import asyncio
import base64
import hashlib
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What the key of a client is hashed with; RFC 6455 §1.3."""
GOING = (ConnectionError, asyncio.IncompleteReadError)
"""How a client's end shows."""


class Opcode(IntEnum):
    """What a frame is; RFC 6455 §5.2."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


@dataclass(frozen=True)
class Request:
    """The head of an HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By name in small letters."""

    @property
    def upgrades(self) -> bool:
        """Whether it asks for a WebSocket."""
        return "sec-websocket-key" in self.headers

    @property
    def protocols(self) -> list[str]:
        """The subprotocols that it offers."""
        return self.headers.get("sec-websocket-protocol", "").replace(",", " ").split()


async def read_request(reader: StreamReader) -> Request:
    """Read the head of a request. Raises what is in GOING."""
    first, *rows = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = (row.partition(":")[::2] for row in rows if row)
    return Request(method, path, {name.lower(): value.strip() for name, value in headers})


def accept_key(key: str) -> str:
    """The value of Sec-WebSocket-Accept for that of Sec-WebSocket-Key."""
    return base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()


def upgrade(request: Request, **headers: str) -> bytes:
    """The answer 101, with the first subprotocol that was offered.

    Other headers replace its own; an empty one is left out. In their names `_` stands for `-`.
    """
    own = {"Upgrade": "websocket", "Connection": "Upgrade"}
    own["Sec-WebSocket-Accept"] = accept_key(request.headers["sec-websocket-key"])
    own["Sec-WebSocket-Protocol"] = next(iter(request.protocols), "")
    own |= {name.replace("_", "-"): value for name, value in headers.items()}
    rows = [f"{name}: {value}" for name, value in own.items() if value]
    return "\r\n".join(["HTTP/1.1 101 Switching Protocols", *rows, "", ""]).encode()


def header(opcode: int, length: int, *, final: bool = True, reserved: int = 0, masked: bool = False) -> bytes:
    """The header of a frame, which may be an impossible one: nothing is checked."""
    first, mask = final << 7 | reserved << 4 | opcode, masked << 7
    if length < 126:
        return bytes((first, mask | length))
    if length < 1 << 16:
        return bytes((first, mask | 126)) + length.to_bytes(2, "big")
    return bytes((first, mask | 127)) + length.to_bytes(8, "big")


def frame(opcode: int, payload: bytes = b"", *, final: bool = True, reserved: int = 0) -> bytes:
    """A whole frame of a server."""
    return header(opcode, len(payload), final=final, reserved=reserved) + payload


def close(code: int, reason: bytes = b"") -> bytes:
    """A Close frame."""
    return frame(Opcode.CLOSE, code.to_bytes(2, "big") + reason)


async def read_frame(reader: StreamReader) -> tuple[int, bytes]:
    """Read a client's frame: its opcode, and its payload without the mask. Raises what is in GOING."""
    first, second = await reader.readexactly(2)
    length = second & 127
    if length > 125:
        length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
    mask, masked = await reader.readexactly(4), await reader.readexactly(length)
    return first & 15, bytes(byte ^ mask[at & 3] for at, byte in enumerate(masked))


async def read_typed(reader: StreamReader, writer: StreamWriter, *, answers: bool = True) -> bytes:
    """Read until something is typed, and return it; empty when the client goes. Pings and Close are answered."""
    with suppress(*GOING):
        while True:
            opcode, payload = await read_frame(reader)
            if opcode == Opcode.PING and answers:
                writer.write(frame(Opcode.PONG, payload))
            elif opcode == Opcode.CLOSE:
                writer.write(frame(Opcode.CLOSE, payload[:2]) if answers else b"")
                break
            elif opcode not in {Opcode.PING, Opcode.PONG} and payload:
                return payload
    return b""


class Server:
    """Runs a command for each connection."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    async def attend(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Have a client type at a command of its own, until either ends."""
        with suppress(*GOING):
            writer.write(upgrade(await read_request(reader)))
            from_host, to_host = await self.start()
            copying = asyncio.create_task(pass_output(from_host, writer))
            # No drain: keys are few, and a host that reads nothing must not hide that the client has gone.
            while typed := await read_typed(reader, writer):
                to_host.write(typed)
            copying.cancel()
            to_host.close()
        writer.close()

    async def start(self) -> tuple[StreamReader, StreamWriter]:
        """Start the command, and return our end of its socket."""
        ours, its = socket.socketpair()
        with its:
            await asyncio.create_subprocess_exec(*self.command, stdin=its.fileno(), stdout=its.fileno())
        return await asyncio.open_connection(sock=ours)


async def pass_output(host: StreamReader, writer: StreamWriter) -> None:
    """Send what a host writes until it ends; then close the connection."""
    with suppress(*GOING):
        while written := await host.read(4096):
            writer.write(frame(Opcode.BINARY, written))
            await writer.drain()
    with suppress(*GOING):
        writer.write(close(1000))
        writer.close()


async def serve(port: int, command: list[str]) -> None:
    server = await asyncio.start_server(Server(command).attend, "127.0.0.1", port)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.command))


if __name__ == "__main__":
    main()
