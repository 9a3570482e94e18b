"""The node's end of an agent: the agent's process, and the connection to the engine."""

import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.engine.local.agent import ProcessAgent, start_agents
from cuesta.engine.remote.row_stream import RowStream, SocketStream
from cuesta.engine.remote.shipping import Shipping

CONNECT_TIMEOUT = 10.0
"""Seconds within which the engine must accept a connection."""
SHIP_EVERY = 1.0
"""Seconds between pieces of what was recorded."""


class NodeEnd:
    """An agent of this machine, and the engine at the other end of a connection."""

    def __init__(self, agent: ProcessAgent, stream: RowStream) -> None:
        self._agent, self._stream = agent, stream
        self._shipping = Shipping(Path(agent.records))
        self._shipping_lock = threading.Lock()
        self._ended = threading.Event()
        self._is_lost = False

    def tell(self, row: Mapping[str, Any]) -> None:
        """Pass a row on to the agent; it records where this machine has room."""
        if order := row.get("order"):
            row = {"order": {**order, "folder": self._agent.records}}
        self._agent.tell(row)

    def serve(self) -> None:
        """Pass rows on until the agent has ended, and the engine has all that it recorded.

        Raises ConnectionError if the engine was lost before that; the agent has ended then, too.
        """
        obeying = threading.Thread(target=self._obey, daemon=True)
        obeying.start()
        threading.Thread(target=self._keep_shipping, daemon=True).start()
        for row in self._agent.listen():
            self._stream.send(row)
        how = self._agent.how_it_ended()
        self._agent.stop()
        self._ended.set()
        self._ship(is_complete=True)
        self._stream.send({"exited": how})
        obeying.join()  # until the engine, which has read all this, closes the connection
        if self._is_lost:
            raise ConnectionError("the connection to the engine was lost")

    def _obey(self) -> None:
        for row in self._stream.receive():
            match row:
                case {"read_clock": asked}:
                    self._stream.send({"clock": {"asked": asked, "at": _native.now()}})
                case {"stop": True}:
                    self._agent.stop()
                case {"fetch": number}:
                    self._ship()
                    self._stream.send({"fetched": number})
                case _:
                    self.tell(row)
        if not self._ended.is_set():
            self._is_lost = True
            self._agent.kill()  # the engine can receive no more of its records

    def _keep_shipping(self) -> None:
        while not self._ended.wait(SHIP_EVERY):
            with suppress(OSError):  # tried again a second later, and once more at the end
                self._ship()

    def _ship(self, *, is_complete: bool = False) -> None:
        with self._shipping_lock:
            for piece in self._shipping.new_pieces(is_complete=is_complete):
                self._stream.send({"piece": piece})


@contextmanager
def start_agent(number: int) -> Iterator[ProcessAgent]:
    """Start an agent of this machine; it and what it recorded here are gone after the block."""
    with (
        tempfile.TemporaryDirectory(prefix="cuesta-agent-", ignore_cleanup_errors=True) as folder,
        start_agents([number], Path(folder), Path.home()) as (agent,),
    ):
        yield agent


@contextmanager
def join_engine(address: tuple[str, int], token: str, number: int) -> Iterator[NodeEnd]:
    """Start an agent of this machine, and connect to its engine, which knows the token. Raises OSError."""
    with (
        start_agent(number) as agent,
        closing(SocketStream(socket.create_connection(address, CONNECT_TIMEOUT))) as stream,
    ):
        stream.send({"agent": number, "token": token})
        yield NodeEnd(agent, stream)
