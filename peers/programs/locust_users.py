"""Users of Locust on plain TCP: a typist at an echo, and one who sends 13 characters and reads 150."""

import socket
import time
from urllib.parse import urlsplit

from locust import User, constant, constant_pacing, task


class LineUser(User):
    abstract = True

    def on_start(self) -> None:
        target = urlsplit(self.host)
        self.line = socket.create_connection((target.hostname, target.port))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, name: str, characters: bytes, length: int) -> None:
        """Send the characters, read `length` bytes, and report both as one request."""
        start = time.perf_counter()
        self.line.sendall(characters)
        self.read(length)
        milliseconds = (time.perf_counter() - start) * 1000
        self.environment.events.request.fire(
            request_type="tcp",
            name=name,
            response_time=milliseconds,
            response_length=length,
            exception=None,
            context={},
        )

    def read(self, length: int) -> None:
        while length > 0:
            received = self.line.recv(length)
            if not received:
                raise ConnectionError("the host has closed the line")
            length -= len(received)


class Typist(LineUser):
    wait_time = constant_pacing(0.2)

    @task
    def key(self) -> None:
        self.ask("key", b"a", 1)


class Inquirer(LineUser):
    wait_time = constant(0)

    def on_start(self) -> None:
        super().on_start()
        self.read(2)  # the host's first prompt

    @task
    def transaction(self) -> None:
        self.ask("transaction", b"abcdefghijkl\r", 150)
