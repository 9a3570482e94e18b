"""A server that serves all its sessions in one thread: each that streams delays every echo.

It echoes what is typed. Enter makes a session stream: five rows a second, for each of which the thread waits 20 ms, as
for a disk. It prints its port.
"""

import select
import socket
import time
from contextlib import suppress

EVERY = 0.2
"""Seconds between two rows of a session."""
WAIT = 0.02
"""Seconds that a row takes."""


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    sessions: list[socket.socket] = []
    streaming: list[socket.socket] = []
    due = time.monotonic()
    while True:
        for ready in select.select([listener, *sessions], [], [], max(due - time.monotonic(), 0))[0]:
            if ready is listener:
                sessions.append(listener.accept()[0])
            elif not (keys := ready.recv(4096)):
                sessions.remove(ready)
                streaming = [session for session in streaming if session is not ready]
            else:
                send(ready, keys)
                streaming += [ready] if b"\r" in keys else []
        if time.monotonic() >= due:
            for session in streaming:
                time.sleep(WAIT)
                send(session, b"a row of the stream\r\n")
            due = max(due + EVERY, time.monotonic())


def send(session: socket.socket, text: bytes) -> None:
    with suppress(OSError):  # it is gone: its end is read next
        session.sendall(text)


if __name__ == "__main__":
    main()
