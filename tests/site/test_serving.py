"""Serving: addresses, limits for those who connect, and a quick end."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from cuesta.errors import CuestaError, UsageError
from cuesta.site import serving
from cuesta.site.serving import listen, read_address
from tests.site.served import Served, served


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ("127.0.0.1", 8089)),
        ("0", ("127.0.0.1", 0)),
        (":0", ("127.0.0.1", 0)),
        ("9000", ("127.0.0.1", 9000)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("lab.example", ("lab.example", 8089)),
        ("lab.example:1", ("lab.example", 1)),
        ("[::1]", ("::1", 8089)),
        ("[::]:0", ("::", 0)),
    ],
)
def test_addresses_are_read(text: str, address: tuple[str, int]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["::1", "::1:80", "a:b", "a:99999", "[a]:1", "http://a:1", "[::1", "::1]"])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected an address to serve pages at"):
        read_address(text)


@given(st.text(alphabet="[]:.0129a"))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        host, port = read_address(text)
    except UsageError:
        return
    assert host
    assert 0 <= port <= 65535


def test_a_port_that_is_taken_is_named_or_another_is_chosen() -> None:
    first = listen("127.0.0.1", 0)
    with first.socket:
        with pytest.raises(CuestaError, match=rf"127\.0\.0\.1:{first.port}: Address already in use"):
            listen("127.0.0.1", first.port)
        other = listen("127.0.0.1", first.port, or_free=True)
        other.socket.close()
        assert other.port not in {0, first.port}


async def hello(_request: Request) -> Response:
    return PlainTextResponse("hello")


class Stream:
    """An endless answer, which says when it has begun and ended."""

    def __init__(self, size: int) -> None:
        self.part = b"x" * size
        self.begun, self.ended = threading.Event(), threading.Event()

    async def answer(self, _request: Request) -> Response:
        return StreamingResponse(self.parts())

    async def parts(self) -> AsyncIterator[bytes]:
        self.begun.set()
        try:
            while True:
                yield self.part
                await asyncio.sleep(0)
        finally:
            self.ended.set()


def connect(server: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.access.port), timeout=30)


def ask_for(connection: socket.socket, server: Served, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.access.port}\r\nCookie: {server.cookie}\r\n\r\n"
    connection.sendall(head.encode())


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.2)
    with served([Route("/", hello)]) as server, connect(server) as connection:
        connection.sendall(sent)
        with pytest.raises(ConnectionResetError):
            raise ConnectionResetError if not connection.recv(1) else AssertionError("it was answered")
        assert server.enter().ask("/").text == "hello"


def test_a_connection_that_stalls_after_an_answer_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.3)
    with served([Route("/", hello)]) as server, connect(server) as connection:
        ask_for(connection, server.enter(), "/")
        assert connection.recv(20).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / H")
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass


def test_an_answer_that_is_not_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.2)
    stream = Stream(1 << 16)
    with served([Route("/stream", stream.answer), Route("/", hello)]) as server, connect(server) as connection:
        ask_for(connection, server.enter(), "/stream")
        assert stream.ended.wait(30)
        assert server.ask("/").text == "hello"


def test_there_are_only_so_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)
    with served([Route("/", hello)]) as server:
        server.enter()
        waiting = [connect(server) for _ in range(3)]
        for connection in waiting:  # each is accepted
            ask_for(connection, server, "/")
            assert connection.recv(20).startswith(b"HTTP/1.1 200")
        with connect(server) as one_more:
            try:
                ask_for(one_more, server, "/")
                assert one_more.recv(1) == b""
            except (ConnectionResetError, BrokenPipeError):
                pass
        for connection in waiting:
            connection.close()


def test_the_end_waits_a_second_for_streams_and_no_longer() -> None:
    stream = Stream(0)
    with served([Route("/stream", stream.answer)]) as server, connect(server) as connection:
        ask_for(connection, server.enter(), "/stream")
        assert stream.begun.wait(30)
        server.stop()
        assert stream.ended.is_set()
        with pytest.raises(ConnectionRefusedError):
            connect(server)


def test_failures_of_clients_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with served([Route("/", hello)]) as server, connect(server) as connection:
        connection.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 400"
    assert capsys.readouterr() == ("", "")
