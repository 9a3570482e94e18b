"""The engine's end of an agent on another machine."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cuesta.engine.ports import Row
from cuesta.engine.remote.row_stream import SocketStream
from cuesta.engine.remote.shipping import keep_piece

PATIENCE = 5.0
"""Seconds within which a node must send what was recorded since it last did."""


@dataclass(slots=True)
class RemoteAgent:
    """An agent whose records arrive here while it makes them."""

    number: int
    node: str
    stream: SocketStream
    folder: Path
    """Where its records arrive."""
    send_order: Callable[[Row], None]
    """Takes its order there. An order has what users type, passwords too: it goes no way that can be read."""
    describe_loss: Callable[[], str]
    """Why the connection to its node ended before it said how the agent ended."""
    records: str = ""
    """The node's end chooses a folder."""
    exited: str | None = None
    fetched: threading.Event = field(default_factory=threading.Event)

    def tell(self, row: Row) -> None:
        if "order" in row:
            self.send_order(row)
        else:
            self.stream.send(row)

    def listen(self) -> Iterator[Row]:
        for row in self.stream.receive():
            match row:
                case {"piece": piece}:
                    with suppress(OSError):  # a full disk is told by what is missing
                        keep_piece(piece, self.folder)
                case {"fetched": True}:
                    self.fetched.set()
                case {"exited": str(how)}:
                    self.exited = how
                    break
                case _:
                    yield row
        self.fetched.set()
        self.stream.close()

    def how_it_ended(self) -> str:
        return self.exited or self.describe_loss()

    def stop(self) -> None:
        self.stream.send({"stop": True})

    def kill(self) -> None:
        self.stream.close()

    def fetch(self, _: Path, /) -> None:
        """Have all records that there are by now; they arrive by themselves, a second later."""
        if self.exited is None:
            self.fetched.clear()
            self.stream.send({"fetch": True})
            self.fetched.wait(PATIENCE)
