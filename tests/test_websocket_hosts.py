"""The servers of tests/hosts/ that speak WebSocket, met with a client that sends single frames."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.hosts.bad_web.answers import GZIP
from tests.hosts.bad_web.bombs import BLOCK, GIGABYTE, deflated
from tests.hosts.lines import host, over_ws
from tests.hosts.log import Log
from tests.hosts.websocket import Opcode
from tests.web_client import ACCEPT, WebClient, connected


@contextmanager
def at(name: str, folder: Path) -> Iterator[WebClient]:
    """Connect to a host, which logs in the folder."""
    with over_ws(host(name, folder / "host.log"), folder) as reached:
        port = urlsplit(reached.target).port
        assert port
        with connected(port) as client:
            yield client


def test_a_host_is_typed_at_in_frames_of_every_kind(tmp_path: Path) -> None:
    with at("never_echoes", tmp_path) as client:
        assert f"Sec-WebSocket-Accept: {ACCEPT}" in client.upgrade()
        client.shows(b"$ ")
        client.send(Opcode.BINARY, b"a", final=False)
        client.send(Opcode.PING, b"still there?")
        client.send(Opcode.CONTINUATION, b"bc")
        assert client.frame() == (0x80 | Opcode.PONG, b"still there?")
        client.send(Opcode.TEXT, b"d\r")
        assert client.shows(b"$ ") == b"\r\nabcd: not found\r\n$ "
        client.send(Opcode.CLOSE, b"\x03\xe8bye")
        assert client.frame() == (0x80 | Opcode.CLOSE, b"\x03\xe8")
        assert client.frame() == (0, b"")
    read = [row["bytes"] for row in Log.read(tmp_path / "host.log").rows if row["did"] == "read"]
    assert "".join(read) == "abcd\r"


def test_the_end_of_the_host_closes_the_connection(tmp_path: Path) -> None:
    with at("closes_halfway", tmp_path) as client:
        client.upgrade()
        client.shows(b"$ ")
        client.send(Opcode.BINARY, b"ls\r")
        client.shows(b"half of an ans")
        assert client.frame() == (0x80 | Opcode.CLOSE, b"\x03\xe8")
        assert client.frame() == (0, b"")


@pytest.mark.parametrize(("head", "bits"), [(b"", -15), (GZIP, 31)], ids=["message", "body"])
def test_a_bomb_grows(head: bytes, bits: int) -> None:
    """Into its second block: all blocks are alike."""
    bomb = head + deflated()
    grown = zlib.decompressobj(bits).decompress(bomb, BLOCK + 1)
    assert (len(grown), grown.count(0)) == (BLOCK + 1, BLOCK + 1)
    assert len(bomb) < GIGABYTE // 900
