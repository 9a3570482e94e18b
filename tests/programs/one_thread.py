"""A server that serves all its sessions in one thread: each that streams delays every echo.

It echoes what is typed. Enter makes a session stream: twenty rows a second, for each of which the thread waits 5 ms, as
for a disk. It prints its port.
"""

import select
import socket
import time
from contextlib import suppress

EVERY = 0.05
"""Seconds between two rows of a session."""
WAIT = 0.005
"""Seconds that a row takes."""


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    sessions: list[socket.socket] = []
    streaming: dict[socket.socket, float] = {}
    while True:
        wait = max(min(streaming.values(), default=time.monotonic() + 1) - time.monotonic(), 0)
        for ready in select.select([listener, *sessions], [], [], wait)[0]:
            if ready is listener:
                sessions.append(listener.accept()[0])
            elif not (keys := ready.recv(4096)):
                sessions.remove(ready)
                streaming.pop(ready, None)
            else:
                send(ready, keys)
                if b"\r" in keys:
                    streaming[ready] = time.monotonic()
        now = time.monotonic()
        for session in [each for each, due in streaming.items() if due <= now]:
            time.sleep(WAIT)
            streaming[session] = max(streaming[session] + EVERY, time.monotonic())
            send(session, b"a row of the stream\r\n")


def send(session: socket.socket, text: bytes) -> None:
    with suppress(OSError):  # it is gone: its end is read next
        session.sendall(text)


if __name__ == "__main__":
    main()
