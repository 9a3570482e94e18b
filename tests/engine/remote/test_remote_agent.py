"""An agent that is joined with the engine over a connection: its rows, its records, and the loss of either end."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.engine.remote.arrivals import Arrivals, listen_at
from cuesta.engine.remote.node_end import join_engine
from cuesta.engine.remote.remote_agent import RemoteAgent
from cuesta.engine.remote.row_stream import SocketStream

IDLE = {
    "seed": 1,
    "drain": 0,
    "groups": [{"name": "users", "script": "idle", "target": "pipe:cat"}],
    "steps": [
        {"settle": 0, "measure": 100_000_000_000, "groups": [{"users": 1, "stagger": 0, "load": {"kind": "closed"}}]}
    ],
}
TAPE = {
    "name": "idle",
    "text": 'Set Echo off\nForever\n  Type "a" Enter\n  Wait+Bytes 2\n  Sleep 10ms\nEnd\n',
    "sources": {},
}
ORDER = {"spec": IDLE, "tapes": {"idle": TAPE}, "environment": {}, "folder": "elsewhere", "passphrases": {}}


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[tuple[RemoteAgent, threading.Thread]]:
    """The engine's end of an agent of this machine, and the thread that serves the node's end."""
    lost = list[BaseException]()

    def serve(arrivals: Arrivals) -> None:
        with join_engine(arrivals.address, arrivals.token, 0) as end:
            try:
                end.serve()
            except ConnectionError as error:
                lost.append(error)

    with listen_at("127.0.0.1") as arrivals, ExitStack() as stack:
        serving = threading.Thread(target=serve, args=(arrivals,))
        serving.start()
        stack.callback(serving.join)
        stream = arrivals.collect(1)[0]
        stack.callback(stream.close)
        folder = tmp_path / "agent-0"
        yield RemoteAgent(0, "node", stream, folder, stream.send, lambda: f"is lost: {lost}"), serving


def start(agent: RemoteAgent) -> Iterator[Any]:
    """Have the agent play; its rows from its first snapshot on."""
    rows = agent.listen()
    agent.tell({"order": ORDER})
    assert "ready" in next(rows)
    agent.tell({"read_clock": 7})
    clock = next(rows)["clock"]
    assert clock["asked"] == 7
    assert clock["at"] <= _native.now()
    agent.tell({"start": {"start_at": _native.now(), "started_wall": 0}})
    assert "snapshot" in next(rows)
    yield from rows


def transactions(agent: RemoteAgent) -> int:
    rows = (agent.folder / "series.jsonl").read_text().splitlines()
    return sum(json.loads(row).get("transactions", 0) for row in rows)


def test_an_agent_that_is_stopped_leaves_all_its_records_with_the_engine(
    joined: tuple[RemoteAgent, threading.Thread],
) -> None:
    agent, serving = joined
    rows = start(agent)
    while next(rows)["snapshot"]["seconds"] < 1:
        pass
    agent.stop()
    assert [*rows][-1] == {"ended": "interrupted"}
    serving.join()
    assert agent.how_it_ended() == "ended with code 0"
    assert {path.name for path in agent.folder.iterdir()} >= {"agent.json", "timeline.json", "histograms.hlog"}
    assert transactions(agent)


def test_an_engine_that_is_lost_ends_the_agent(joined: tuple[RemoteAgent, threading.Thread]) -> None:
    agent, serving = joined
    rows = start(agent)
    next(rows)
    agent.kill()
    serving.join(10)
    assert not serving.is_alive()
    assert [row for row in rows if "snapshot" not in row] == []
    assert agent.how_it_ended().startswith("is lost: ")


@pytest.mark.parametrize(
    "greeting",
    [
        b"",
        b"\x16\x03\x01 not a row\n",
        b'{"agent": 0, "token": "guessed"}\n',
        '{"agent": 0, "token": "\u00e9"}\n'.encode(),
        b'{"agent": 0}\n',
        b'{"agent": "0", "token": 1}\n',
        b"[]\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_who_does_not_know_the_token_is_turned_away(greeting: bytes) -> None:
    with listen_at("127.0.0.1") as arrivals, socket.create_connection(arrivals.address) as stranger:
        stranger.sendall(greeting)
        stranger.shutdown(socket.SHUT_WR)
        known = SocketStream(socket.create_connection(arrivals.address))
        known.send({"agent": 0, "token": arrivals.token})
        (number, stream), *others = arrivals.collect(1).items()
        assert (number, others) == (0, [])
        known.send({"ended": "completed"})
        assert next(stream.receive()) == {"ended": "completed"}
        stranger.settimeout(10)
        with suppress(ConnectionResetError):  # it was not read to its end
            assert stranger.recv(1) == b""
        known.close()
        stream.close()


def test_records_that_cannot_be_written_give_the_agent_up(joined: tuple[RemoteAgent, threading.Thread]) -> None:
    agent, serving = joined
    agent.folder.parent.mkdir(exist_ok=True)
    agent.folder.write_text("in the way")
    rows = start(agent)
    assert [row for row in rows if "snapshot" not in row] == []
    assert agent.how_it_ended() == "was given up: its records cannot be written here: File exists"
    serving.join(10)
    assert not serving.is_alive(), "nobody has use for the agent"


def test_records_are_there_once_they_were_fetched(joined: tuple[RemoteAgent, threading.Thread]) -> None:
    agent, _ = joined
    rows = start(agent)
    next(rows)
    listening = threading.Thread(target=lambda: [*rows])
    listening.start()
    agent.fetch(agent.folder)
    assert (agent.folder / "timeline.json").exists()
    agent.stop()
    listening.join()
    agent.fetch(agent.folder)  # of an agent that has ended nothing is waited for
