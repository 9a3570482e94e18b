"""A node_exporter that is slow, endless, cut or behind a password."""

import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat

import pytest

from cuesta.engine.local import node_exporter
from cuesta.engine.local.node_exporter import NodeExporter, fetch
from cuesta.errors import CuestaError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
Answer = Callable[[bytes], Iterator[bytes]]


@contextmanager
def serving(answer: Answer, pause: float = 0.0) -> Iterator[str]:
    """Serve connections: `answer` makes the parts of an answer from the request; yields `host:port`."""
    ending = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    for part in answer(connection.recv(65536)):
                        connection.sendall(part)
                        if ending.wait(pause):
                            return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        ending.set()
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", HEAD], ids=["status", "headers", "content"])
def test_an_answer_that_never_ends_is_given_up(head: bytes) -> None:
    """Each part comes in time, so that no timeout of a read ends it."""

    def answer(_: bytes) -> Iterator[bytes]:
        yield head
        yield from repeat(b"x")

    with serving(answer, pause=0.02) as place, pytest.raises(TimeoutError, match=r"not complete after 0\.3 s"):
        fetch(f"http://{place}/metrics", deadline=0.3)


def test_an_answer_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_exporter, "LONGEST", 1 << 20)

    def answer(_: bytes) -> Iterator[bytes]:
        yield HEAD
        yield from repeat(b"x" * 65536)

    with serving(answer) as place, pytest.raises(CuestaError, match="over 1 MiB"):
        NodeExporter(f"http://{place}/metrics")


def test_an_answer_that_is_cut_is_no_answer() -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
    with serving(lambda _: iter([cut])) as place, pytest.raises(CuestaError, match="no meters there"):
        NodeExporter(f"http://{place}/metrics")


def test_a_password_is_sent_and_never_shown() -> None:
    login = b64encode(b"joe:hunter2/x")

    def answer(request: bytes) -> Iterator[bytes]:
        allowed = b"Authorization: Basic " + login in request
        yield HEAD + b"x 1\n" if allowed else b"HTTP/1.1 401 No\x1b[2J entry\r\n\r\n"

    with serving(answer) as place:
        assert fetch(f"http://joe:hunter2%2Fx@{place}/metrics") == b"x 1\n"
        with pytest.raises(CuestaError, match="401 No") as raised:
            NodeExporter(f"http://joe:wrong@{place}/metrics")
    assert "wrong" not in f"{raised.value}{raised.value.remedy}"
    assert "joe:***@" in str(raised.value)
